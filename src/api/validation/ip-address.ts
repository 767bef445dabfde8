import {
  containsAddress,
  type IpAddress,
  isMapped,
  isWithin,
  maskPrefix,
  parseIpAddress,
  parseIpPrefix,
} from '../formats/ip-address.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid } from '../field-error.ts';

/**
 * Addresses and networks in fields that are older than the rule for canonical forms (feature StrictIPCIDRValidation, on since 1.36): any
 * spelling of IPv6, but no text that another program could parse as another address.
 */

/** The address without leading zeros in the parts of an IPv4 address. */
function plain(text: string): string {
  return /^[\d.]{7,64}(?:\/\d+)?$/.test(text) ? text.replaceAll(/(?<=^|\.)0+(?=\d)/g, '') : text;
}

function addressOf(text: string): IpAddress | undefined {
  const address = parseIpAddress(plain(text));
  return address?.zone === '' ? address : undefined;
}

/** 4 or 6; undefined for an invalid address. */
export function addressFamily(text: string): 4 | 6 | undefined {
  return addressOf(text)?.family;
}

/** True if a network is a proper part of another one. */
export function isPartOf(inner: string, outer: string): boolean {
  const [part, whole] = [parseIpPrefix(plain(inner)), parseIpPrefix(plain(outer))];
  if (part === undefined || whole === undefined) return false;
  return part.length > whole.length && containsAddress(whole, part.address);
}

export function validateAddress(text: string, path: string): FieldError[] {
  const why = troubleWithAddress(text);
  return why === undefined ? [] : [fieldInvalid(path, text, why)];
}

function troubleWithAddress(text: string): string | undefined {
  if (addressOf(text) === undefined) return 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  const address = parseIpAddress(text);
  if (address === undefined) return 'must not have leading 0s';
  return isMapped(address) ? 'must not be an IPv4-mapped IPv6 address' : undefined;
}

export function validateNetwork(text: string, path: string): FieldError[] {
  const why = troubleWithNetwork(text);
  return why === undefined ? [] : [fieldInvalid(path, text, why)];
}

function troubleWithNetwork(text: string): string | undefined {
  if (parseIpPrefix(plain(text)) === undefined)
    return 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
  const network = parseIpPrefix(text);
  if (network === undefined) return 'must not have leading 0s in IP or prefix length';
  if (isMapped(network.address)) return 'must not have an IPv4-mapped IPv6 address';
  const isMasked = maskPrefix(network).address.bits === network.address.bits;
  return isMasked ? undefined : 'must not have bits set beyond the prefix length';
}

const SPECIAL: readonly (readonly [networks: readonly string[], words: string])[] = [
  [['127.0.0.0/8', '::1/128'], 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'], 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [['224.0.0.0/24', 'ff02::/16'], 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Refuses special addresses that cannot receive traffic from others. */
export function validateOrdinaryAddress(text: string, path: string): FieldError[] {
  const address = addressOf(text);
  if (address === undefined) return [];
  if (address.bits === 0n) return [fieldInvalid(path, text, `may not be unspecified (${text})`)];
  return SPECIAL.filter(([networks]) => networks.some((network) => isWithin(address, network))).map(([, words]) =>
    fieldInvalid(path, text, words),
  );
}
