import {
  formatIpAddress,
  formatIpPrefix,
  maskPrefix,
  parseIpAddress,
  parseIpPrefix,
} from '../../../../api/formats/ip-address.ts';

/** Where cluster addresses of services come from. IPv4 addresses as unsigned numbers of 32 bits. */
export interface ServiceRange {
  /** As `10.96.0.0/12`, its first address without the bits behind the mask. */
  readonly cidr: string;
  /** The first after that of the network: of Service `default/kubernetes` (API-511). */
  readonly first: number;
  /** The last before that of broadcasts. */
  readonly last: number;
}

/** As kube-apiserver, which refuses a smaller one. */
const FEWEST_ADDRESSES = 8;

/**
 * Reads an IPv4 range in CIDR notation. Throws a RangeError that says what is wrong with it, in the words of kube-apiserver where
 * it has any.
 */
export function parseServiceRange(text: string): ServiceRange {
  const prefix = parseIpPrefix(text);
  if (prefix?.address.family !== 4) throw new RangeError(`${text} is no range of IPv4 addresses like 10.96.0.0/12`);
  const size = 2 ** (32 - prefix.length);
  if (size < FEWEST_ADDRESSES) {
    throw new RangeError(`the service cluster IP range must be at least ${FEWEST_ADDRESSES} IP addresses`);
  }
  const range = maskPrefix(prefix);
  const network = Number(range.address.bits);
  return { cidr: formatIpPrefix(range), first: network + 1, last: network + size - 2 };
}

/** kubeadm's. */
export const defaultServiceRange = parseServiceRange('10.96.0.0/12');

/** Undefined for what is no IPv4 address. */
export function parseAddress(text: string): number | undefined {
  const address = parseIpAddress(text);
  return address?.family === 4 ? Number(address.bits) : undefined;
}

export function formatAddress(address: number): string {
  return formatIpAddress({ family: 4, bits: BigInt(address), zone: '' });
}
