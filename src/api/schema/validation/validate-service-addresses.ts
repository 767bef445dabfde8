import type { FieldError } from '../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotSupported } from '../../field-error.ts';
import { addressFamily, validateAddress } from '../../validation/ip-address.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { listOfTextsAt, numberAt, objectAt, textAt } from '../fields/defaults-fields.ts';
import { repeatedIndexes } from '../../../base/collections/repeated.ts';

const FAMILIES = ['IPv4', 'IPv6'];

/** The addresses of a service inside the cluster, and their families. */
export function validateClusterAddresses(spec: Fields): FieldError[] {
  if (spec['type'] === 'ExternalName') return [];
  const addresses = listOfTextsAt(spec, 'clusterIPs');
  const families = listOfTextsAt(spec, 'ipFamilies');
  const errors = [...validateFirst(textAt(spec, 'clusterIP'), addresses), ...validateFamilies(families)];
  const malformed = validateEachAddress(addresses);
  if (addresses.length > 2) malformed.push(fieldInvalid('spec.clusterIPs', addresses, 'may only hold up to 2 values'));
  if (malformed.length > 0) return [...errors, ...malformed];
  return [...errors, ...validateDualStack(addresses), ...validateMatch(addresses, families)];
}

/** The first element of the list must equal the single address. */
export function validateFirst(address: string, addresses: readonly string[]): FieldError[] {
  const [first] = addresses;
  if (first === undefined || first === address) return [];
  const detail =
    address === '' ? 'must be empty when `clusterIP` is not specified' : 'first value must match `clusterIP`';
  return [fieldInvalid('spec.clusterIPs', addresses, detail)];
}

function validateFamilies(families: readonly string[]): FieldError[] {
  const repeated = repeatedIndexes(families);
  return families.flatMap((family, index) => {
    const path = `spec.ipFamilies[${index}]`;
    return [
      ...(FAMILIES.includes(family) ? [] : [fieldNotSupported(path, family, FAMILIES)]),
      ...(repeated.has(index) ? [fieldDuplicate(path, family)] : []),
    ];
  });
}

function validateEachAddress(addresses: readonly string[]): FieldError[] {
  return addresses.flatMap((address, index) => {
    if (index > 0 || address !== 'None') return validateAddress(address, `spec.clusterIPs[${index}]`);
    if (addresses.length === 1) return [];
    return [fieldInvalid('spec.clusterIPs', addresses, "'None' must be the first and only value")];
  });
}

function validateDualStack(addresses: readonly string[]): FieldError[] {
  if (addresses.length < 2 || new Set(addresses.map(addressFamily)).size === addresses.length) return [];
  return [fieldInvalid('spec.clusterIPs', addresses, 'may specify no more than one IP for each IP family')];
}

function validateMatch(addresses: readonly string[], families: readonly string[]): FieldError[] {
  return addresses.flatMap((address, index) => {
    const family = families[index];
    const actual = addressFamily(address);
    if (family === undefined || actual === undefined || !FAMILIES.includes(family) || family === `IPv${actual}`)
      return [];
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    return [fieldInvalid(`spec.clusterIPs[${index}]`, address, detail)];
  });
}

/**
 * The first address is immutable, unless the service becomes or was an ExternalName service. The health check port is immutable as long as
 * the service needs one (`validateServiceExternalTrafficFieldsUpdate`).
 */
export function validateServiceUpdate(next: Fields, previous: Fields): FieldError[] {
  const spec = objectAt(next, 'spec');
  const old = objectAt(previous, 'spec');
  const errors: FieldError[] = [];
  const balancer = spec?.['loadBalancerClass'];
  const balanced = spec?.['type'] === 'LoadBalancer' && old?.['type'] === 'LoadBalancer';
  if (balanced && (balancer ?? null) !== (old['loadBalancerClass'] ?? null)) {
    errors.push(fieldInvalid('spec.loadBalancerClass', balancer ?? null, 'may not change once set'));
  }
  if (isCheckedOnNodes(spec) && isCheckedOnNodes(old) && healthCheckPort(spec) !== healthCheckPort(old)) {
    errors.push(fieldForbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  if (spec?.['type'] === 'ExternalName' || old?.['type'] === 'ExternalName') return errors;
  const [address] = listOfTextsAt(spec, 'clusterIPs');
  const [before] = listOfTextsAt(old, 'clusterIPs');
  if (address === undefined || before === undefined || address === before) return errors;
  const shown = listOfTextsAt(spec, 'clusterIPs');
  return [fieldInvalid('spec.clusterIPs[0]', shown, 'may not change once set'), ...errors];
}

function isCheckedOnNodes(spec: Fields | undefined): boolean {
  return spec?.['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';
}

function healthCheckPort(spec: Fields | undefined): number {
  return numberAt(spec, 'healthCheckNodePort') ?? 0;
}
