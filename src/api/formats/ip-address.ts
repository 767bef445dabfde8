/** An IPv4 or IPv6 address as a number (Go `net/netip`). */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
  /** The zone of an IPv6 address, after `%`; empty if there is none. */
  readonly zone: string;
}

export interface IpPrefix {
  readonly address: IpAddress;
  readonly length: number;
}

/** Undefined if the text is not an address. Leading zeros are not allowed. */
export function parseIpAddress(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): IpAddress | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  let bits = 0n;
  for (const octet of match.slice(1)) {
    if (Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))) return undefined;
    bits = (bits << 8n) | BigInt(octet);
  }
  return { family: 4, bits, zone: '' };
}

function parseIpv6(text: string): IpAddress | undefined {
  const percent = text.indexOf('%');
  const zone = percent === -1 ? '' : text.slice(percent + 1);
  if (percent !== -1 && zone === '') return undefined;
  const groups = groupsOf(percent === -1 ? text : text.slice(0, percent));
  if (groups === undefined) return undefined;
  return { family: 6, bits: groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n), zone };
}

/** The eight groups of 16 bits. */
function groupsOf(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const parsed = halves.map((half, index) => parseGroups(half, index === halves.length - 1));
  const [head, tail = []] = parsed;
  if (head === undefined || parsed.includes(undefined)) return undefined;
  const known = head.length + tail.length;
  if (halves.length === 1) return known === 8 ? head : undefined;
  return known > 7 ? undefined : [...head, ...Array.from({ length: 8 - known }, () => 0), ...tail];
}

/** The last group may be an IPv4 address. */
function parseGroups(text: string, last: boolean): readonly number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (/^[\da-fA-F]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16));
    else {
      const v4 = last && index === parts.length - 1 ? parseIpv4(part) : undefined;
      if (v4 === undefined) return undefined;
      groups.push(Number(v4.bits >> 16n), Number(v4.bits & 0xffffn));
    }
  }
  return groups;
}

/** An IPv4 address written as an IPv6 one: `::ffff:1.2.3.4`. */
export function isMapped({ family, bits }: IpAddress): boolean {
  return family === 6 && bits >> 32n === 0xffffn;
}

/** The canonical form (RFC 5952). */
export function formatIpAddress({ family, bits, zone }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => Number((bits >> BigInt(112 - 16 * index)) & 0xffffn));
  const { start, length } = longestZeros(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  const text = length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
  return zone === '' ? text : `${text}%${zone}`;
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

export function parseIpPrefix(text: string): IpPrefix | undefined {
  const slash = text.lastIndexOf('/');
  if (slash === -1) return undefined;
  const address = parseIpAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || address.zone !== '' || !/^(?:0|[1-9]\d{0,2})$/.test(digits)) return undefined;
  const length = Number(digits);
  return length > widthOf(address) ? undefined : { address, length };
}

export function widthOf({ family }: IpAddress): number {
  return family === 4 ? 32 : 128;
}

export function formatIpPrefix({ address, length }: IpPrefix): string {
  return `${formatIpAddress(address)}/${length}`;
}

/** Sets the bits after the prefix to zero. */
export function maskPrefix({ address, length }: IpPrefix): IpPrefix {
  const rest = BigInt(widthOf(address) - length);
  return { address: { ...address, bits: (address.bits >> rest) << rest }, length };
}

export function containsAddress(prefix: IpPrefix, address: IpAddress): boolean {
  if (prefix.address.family !== address.family || address.zone !== '') return false;
  const rest = BigInt(widthOf(address) - prefix.length);
  return prefix.address.bits >> rest === address.bits >> rest;
}

/** True if an address lies within a network in text form. */
export function isWithin(address: IpAddress, network: string): boolean {
  const prefix = parseIpPrefix(network);
  return prefix !== undefined && containsAddress(prefix, address);
}
