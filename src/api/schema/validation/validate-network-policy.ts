import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../../field-error.ts';
import { isPartOf, validateNetwork } from '../../validation/ip-address.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, numberAt, objectAt, textAt } from '../fields/defaults-fields.ts';
import { validatePort, validatePortOrName } from './pods/validate-container-ports.ts';
import { validateEach } from '../fields/validate-fields.ts';

/** Label selectors and closed sets are checked elsewhere. */
export function validateNetworkPolicy(policy: Fields): FieldError[] {
  const spec = objectAt(policy, 'spec');
  const types = listOfTextsAt(spec, 'policyTypes');
  const errors = [
    ...validateEach(spec, 'ingress', { path: 'spec', check: (rule, path) => validateRule(rule, path, 'from') }),
    ...validateEach(spec, 'egress', { path: 'spec', check: (rule, path) => validateRule(rule, path, 'to') }),
  ];
  if (types.length > 2) {
    errors.push(fieldInvalid('spec.policyTypes', types, 'may not specify more than two policyTypes'));
  }
  return errors;
}

function validateRule(rule: Fields, path: string, peers: 'from' | 'to'): FieldError[] {
  return [
    ...validateEach(rule, 'ports', { path, check: validatePolicyPort }),
    ...validateEach(rule, peers, { path, check: validatePeer }),
  ];
}

function validatePolicyPort(entry: Fields, path: string): FieldError[] {
  const port = entry['port'];
  const end = numberAt(entry, 'endPort');
  const at = `${path}.endPort`;
  if (port === undefined || port === null) {
    return end === undefined ? [] : [fieldInvalid(at, end, 'may not be specified when `port` is not specified')];
  }
  if (typeof port === 'string') {
    const errors = end === undefined ? [] : [fieldInvalid(at, end, 'may not be specified when `port` is non-numeric')];
    return [...errors, ...validatePortOrName(port, `${path}.port`)];
  }
  const errors = validatePort(port, `${path}.port`);
  if (end === undefined) return errors;
  if (end < Number(port)) errors.push(fieldInvalid(at, port, 'must be greater than or equal to `port`'));
  return [...errors, ...validatePort(end, at)];
}

function validatePeer(peer: Fields, path: string): FieldError[] {
  const block = objectAt(peer, 'ipBlock');
  const selected = isGiven(peer, 'podSelector') || isGiven(peer, 'namespaceSelector');
  if (block === undefined) return selected ? [] : [fieldRequired(path, 'must specify a peer')];
  const errors = validateBlock(block, `${path}.ipBlock`);
  return selected ? [...errors, fieldForbidden(path, 'may not specify both ipBlock and another peer')] : errors;
}

function validateBlock(block: Fields, path: string): FieldError[] {
  const network = textAt(block, 'cidr');
  if (network === '') return [fieldRequired(`${path}.cidr`)];
  const errors = validateNetwork(network, `${path}.cidr`);
  if (errors.length > 0) return errors;
  for (const [index, exception] of listOfTextsAt(block, 'except').entries()) {
    const at = `${path}.except[${index}]`;
    const malformed = validateNetwork(exception, at);
    if (malformed.length > 0) return [...errors, ...malformed];
    if (!isPartOf(exception, network)) {
      errors.push(fieldInvalid(at, exception, 'must be a strict subset of `cidr`'));
    }
  }
  return errors;
}
