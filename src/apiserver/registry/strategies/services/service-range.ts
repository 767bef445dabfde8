import {
  formatIpAddress,
  formatIpPrefix,
  maskPrefix,
  parseIpAddress,
  parseIpPrefix,
} from '../../../../api/formats/ip-address.ts';

/** The range of cluster addresses of services, as unsigned 32-bit numbers of IPv4 addresses. */
export interface ServiceRange {
  /** The range in the form `10.96.0.0/12`, without bits behind the mask. */
  readonly cidr: string;
  /** The first address after that of the network, for Service `default/kubernetes` (API-511). */
  readonly first: number;
  /** The last address before that of broadcasts. */
  readonly last: number;
}

/** The minimum of kube-apiserver. */
const FEWEST_ADDRESSES = 8;

/** Parses an IPv4 range in CIDR notation. Throws a RangeError with kube-apiserver's message where it has one. */
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

/** Undefined if the text is not an IPv4 address. */
export function parseAddress(text: string): number | undefined {
  const address = parseIpAddress(text);
  return address?.family === 4 ? Number(address.bits) : undefined;
}

export function formatAddress(address: number): string {
  return formatIpAddress({ family: 4, bits: BigInt(address), zone: '' });
}
