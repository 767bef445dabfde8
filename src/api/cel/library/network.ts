import type { CallCost } from '../call-cost.ts';
import { sizeOf, traversalCost, TRAVERSAL } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, opaqueType } from '../cel-type.ts';
import { asText, CelHostValue, type CelValue, costSize } from '../cel-value.ts';
import { type CelFunctions, type CelOverload, member, overload } from '../function-declaration.ts';
import { add, fixed, scale } from '../size-estimate.ts';
import {
  containsAddress,
  formatIpAddress,
  formatIpPrefix,
  type IpAddress,
  type IpPrefix,
  isMapped,
  isWithin,
  maskPrefix,
  parseIpAddress,
  parseIpPrefix,
  widthOf,
} from '../../formats/ip-address.ts';

const { bool, int, string } = celTypes;

export const ipType: CelType = opaqueType('net.IP');
export const cidrType: CelType = opaqueType('net.CIDR');

class IpValue extends CelHostValue {
  readonly type = ipType;
  readonly address: IpAddress;
  override readonly costSize: number;

  constructor(address: IpAddress) {
    super();
    this.address = address;
    this.costSize = widthOf(address) / 8;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof IpValue && formatIpAddress(this.address) === formatIpAddress(other.address);
  }
}

class CidrValue extends CelHostValue {
  readonly type = cidrType;
  readonly prefix: IpPrefix;
  override readonly costSize: number;

  constructor(prefix: IpPrefix) {
    super();
    this.prefix = prefix;
    this.costSize = widthOf(prefix.address) / 8;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof CidrValue && formatIpPrefix(this.prefix) === formatIpPrefix(other.prefix);
  }
}

function parseIp(text: string): IpAddress {
  const address = parseIpAddress(text);
  const shown = JSON.stringify(text);
  if (address === undefined) {
    const cause = `ParseAddr(${shown}): unable to parse IP`;
    throw new CelEvaluationError(`IP Address ${shown} parse error during conversion from string: ${cause}`);
  }
  if (address.zone !== '') throw new CelEvaluationError(`IP address ${shown} with zone value is not allowed`);
  if (isMapped(address)) throw new CelEvaluationError(`IPv4-mapped IPv6 address ${shown} is not allowed`);
  return address;
}

function parseCidr(text: string): IpPrefix {
  const prefix = parseIpPrefix(text);
  const context = 'network address parse error during conversion from string';
  if (prefix === undefined) {
    const cause = `netip.ParsePrefix(${JSON.stringify(text)}): ${text.includes('/') ? 'unable to parse' : "no '/'"}`;
    throw new CelEvaluationError(`${context}: ${context}: ${cause}`);
  }
  if (isMapped(prefix.address)) {
    throw new CelEvaluationError(`${context}: IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  }
  return prefix;
}

function succeeds(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof CelEvaluationError) return false;
    throw error;
  }
}

function ipOf(value: CelValue): IpAddress {
  if (value instanceof IpValue) return value.address;
  throw noSuchOverload();
}

function cidrOf(value: CelValue): IpPrefix {
  if (value instanceof CidrValue) return value.prefix;
  throw noSuchOverload();
}

function property(id: string, result: CelType, read: (address: IpAddress) => CelValue): CelOverload {
  return member(id, { args: [ipType], result }, (value = null) => read(ipOf(value)));
}

const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10'] as const;
const LINK_LOCAL_MULTICAST = ['224.0.0.0/24', 'ff02::/16'] as const;
const MULTICAST = ['224.0.0.0/4', 'ff00::/8'] as const;
const LOOPBACK = ['127.0.0.0/8', '::1/128'] as const;

const within = (address: IpAddress, networks: readonly string[]): boolean =>
  networks.some((network) => isWithin(address, network));

function isGlobalUnicast(address: IpAddress): boolean {
  if (address.bits === 0n || (address.family === 4 && address.bits === 0xffff_ffffn)) return false;
  return !within(address, LOOPBACK) && !within(address, MULTICAST) && !within(address, LINK_LOCAL);
}

/** `kubernetes.net.ip`. */
const ip: CelFunctions = {
  ip: [
    overload(
      'string_to_ip',
      { args: [string], result: ipType, cost: traversalCost() },
      (text = null) => new IpValue(parseIp(asText(text))),
    ),
    member('cidr_ip', { args: [cidrType], result: ipType }, (value = null) => new IpValue(cidrOf(value).address)),
  ],
  family: [property('ip_family', int, ({ family }) => BigInt(family))],
  'ip.isCanonical': [
    overload(
      'ip_is_canonical',
      { args: [string], result: bool, cost: traversalCost({ times: 2 }) },
      (text = null) => formatIpAddress(parseIp(asText(text))) === text,
    ),
  ],
  isUnspecified: [property('ip_is_unspecified', bool, ({ bits }) => bits === 0n)],
  isLoopback: [property('ip_is_loopback', bool, (address) => within(address, LOOPBACK))],
  isLinkLocalMulticast: [
    property('ip_is_link_local_multicast', bool, (address) => within(address, LINK_LOCAL_MULTICAST)),
  ],
  isLinkLocalUnicast: [property('ip_is_link_local_unicast', bool, (address) => within(address, LINK_LOCAL))],
  isGlobalUnicast: [property('ip_is_global_unicast', bool, isGlobalUnicast)],
  isIP: [
    overload('is_ip', { args: [string], result: bool, cost: traversalCost() }, (text = null) =>
      succeeds(() => parseIp(asText(text))),
    ),
  ],
  string: [
    overload('ip_to_string', { args: [ipType], result: string }, (value = null) => formatIpAddress(ipOf(value))),
    overload('cidr_to_string', { args: [cidrType], result: string }, (value = null) => formatIpPrefix(cidrOf(value))),
  ],
};

/** Compares addresses byte by byte, after parsing texts. `times` is the number of passes over the network. */
function containsCost(times: 2 | 3, other: 'text' | 'value'): CallCost {
  const extra = times === 3 ? 1 : 0;
  return {
    when: 'before',
    actual: ([network = null, inner = null]) => {
      const size = costSize(network);
      const compared = Math.ceil(2 * size * TRAVERSAL) + (times === 3 ? Math.ceil(size * TRAVERSAL) + extra : 0);
      return compared + (other === 'text' ? Math.ceil(costSize(inner) * TRAVERSAL) : 0);
    },
    estimate: ([, inner]) => {
      const bytes = { min: 4, max: 16 };
      const compared = scale(add(bytes, bytes), TRAVERSAL);
      const masked = times === 3 ? add(scale(bytes, TRAVERSAL), fixed(extra)) : fixed(0);
      return add(add(compared, masked), other === 'text' ? scale(sizeOf(inner), TRAVERSAL) : fixed(0));
    },
  };
}

function containsCidr(outer: IpPrefix, inner: IpPrefix): boolean {
  return outer.length <= inner.length && containsAddress(outer, inner.address);
}

/** `kubernetes.net.cidr`. */
const cidr: CelFunctions = {
  cidr: [
    overload(
      'string_to_cidr',
      { args: [string], result: cidrType, cost: traversalCost() },
      (text = null) => new CidrValue(parseCidr(asText(text))),
    ),
  ],
  containsIP: [
    member(
      'cidr_contains_ip_string',
      { args: [cidrType, string], result: bool, cost: containsCost(2, 'text') },
      (value = null, text = null) => containsAddress(cidrOf(value), parseIp(asText(text))),
    ),
    member(
      'cidr_contains_ip_ip',
      { args: [cidrType, ipType], result: bool, cost: containsCost(2, 'value') },
      (value = null, other = null) => containsAddress(cidrOf(value), ipOf(other)),
    ),
  ],
  containsCIDR: [
    member(
      'cidr_contains_cidr_string',
      { args: [cidrType, string], result: bool, cost: containsCost(3, 'text') },
      (value = null, text = null) => containsCidr(cidrOf(value), parseCidr(asText(text))),
    ),
    member(
      'cidr_contains_cidr',
      { args: [cidrType, cidrType], result: bool, cost: containsCost(3, 'value') },
      (value = null, other = null) => containsCidr(cidrOf(value), cidrOf(other)),
    ),
  ],
  prefixLength: [
    member('cidr_prefix_length', { args: [cidrType], result: int }, (value = null) => BigInt(cidrOf(value).length)),
  ],
  masked: [
    member(
      'cidr_masked',
      { args: [cidrType], result: cidrType },
      (value = null) => new CidrValue(maskPrefix(cidrOf(value))),
    ),
  ],
  isCIDR: [
    overload('is_cidr', { args: [string], result: bool, cost: traversalCost() }, (text = null) =>
      succeeds(() => parseCidr(asText(text))),
    ),
  ],
};

export const network: readonly CelFunctions[] = [ip, cidr];
