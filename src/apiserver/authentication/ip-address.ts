import { isIPv4 } from 'node:net';

/** An address as a certificate has it: 4 bytes, or 16 in network order. For text that `isIP` accepts. */
export function addressBytes(address: string): Buffer {
  return isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
}

function ipv6Bytes(address: string): Buffer {
  // A zone names an interface of one machine; no certificate has it.
  const [text = ''] = address.split('%');
  const [left = '', right] = text.split('::');
  const before = groupBytes(left);
  const after = groupBytes(right ?? '');
  const bytes = Buffer.alloc(16);
  bytes.set(before);
  bytes.set(after, 16 - after.length);
  return bytes;
}

function groupBytes(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    // The last four bytes may be written as an IPv4 address.
    if (isIPv4(group)) return [...addressBytes(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
