import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../../../field-error.ts';
import { parseQuantity } from '../../../quantity.ts';
import { isDns1123Subdomain, validateName } from '../../../validation/names.ts';
import { isConfigKey, isEnvironmentName } from '../../../validation/value-forms.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, objectAt, textAt } from '../../fields/defaults-fields.ts';
import { validateFieldReference } from './validate-field-reference.ts';
import { invalidFor, validateEach } from '../../fields/validate-fields.ts';

const FIELD_PATHS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = ['limits.hugepages-', 'requests.hugepages-'];
const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];
const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** `env` and `envFrom` of one container. Required fields are checked elsewhere. */
export function validateEnvironment(container: Fields, path: string): FieldError[] {
  const errors = validateEach(container, 'env', { path, check: validateVariable });
  if (isGiven(container, 'envFrom')) {
    const check = (source: Fields, at: string): FieldError[] => validateEnvFrom(source, at, `${path}.envFrom`);
    append(errors, validateEach(container, 'envFrom', { path, check }));
  }
  return errors;
}

function validateVariable(variable: Fields, path: string): FieldError[] {
  const name = textAt(variable, 'name');
  const errors = name === '' ? [] : invalidFor(isEnvironmentName(name), `${path}.name`, name);
  const source = objectAt(variable, 'valueFrom');
  if (source !== undefined) append(errors, validateSource(source, variable, `${path}.valueFrom`));
  return errors;
}

function validateSource(source: Fields, variable: Fields, path: string): FieldError[] {
  const errors = [
    ...validateFieldReference(objectAt(source, 'fieldRef'), `${path}.fieldRef`, FIELD_PATHS),
    ...validateResourceReference(objectAt(source, 'resourceFieldRef'), `${path}.resourceFieldRef`, 'container'),
    ...validateKeyReference(objectAt(source, 'configMapKeyRef'), `${path}.configMapKeyRef`),
    ...validateKeyReference(objectAt(source, 'secretKeyRef'), `${path}.secretKeyRef`),
  ];
  const sources = SOURCES.filter((field) => isGiven(source, field)).length;
  if (sources === 0) {
    const one = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    errors.push(fieldInvalid(path, '', one));
  } else if (textAt(variable, 'value') !== '') {
    errors.push(fieldInvalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (sources > 1) {
    errors.push(fieldInvalid(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function validateKeyReference(reference: Fields | undefined, path: string): FieldError[] {
  if (reference === undefined) return [];
  const name = textAt(reference, 'name');
  const key = textAt(reference, 'key');
  return [
    ...invalidFor(isDns1123Subdomain(name), `${path}.name`, name),
    ...(key === '' ? [] : invalidFor(isConfigKey(key), `${path}.key`, key)),
  ];
}

/** In a volume (`of: 'volume'`), the reference must name its container. */
export function validateResourceReference(
  reference: Fields | undefined,
  path: string,
  of: 'container' | 'volume',
): FieldError[] {
  if (reference === undefined) return [];
  const resource = textAt(reference, 'resource');
  const known = RESOURCES.includes(resource) || HUGE_PAGES.some((prefix) => resource.startsWith(prefix));
  const errors: FieldError[] = [];
  if (of === 'volume' && textAt(reference, 'containerName') === '') errors.push(fieldRequired(`${path}.containerName`));
  else if (resource !== '' && !known) errors.push(fieldNotSupported(`${path}.resource`, resource, RESOURCES));
  return [...errors, ...validateDivisor(resource, reference['divisor'], `${path}.divisor`)];
}

function validateDivisor(resource: string, divisor: unknown, path: string): FieldError[] {
  if (typeof divisor !== 'string' || parseQuantity(divisor).unscaled === 0n) return [];
  const [, unit = ''] = resource.split('.');
  if (unit === 'cpu') {
    if (CPU_DIVISORS.includes(divisor)) return [];
    return [fieldInvalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")];
  }
  const words: Record<string, string> = { memory: 'memory', 'ephemeral-storage': 'local ephemeral storage' };
  const kind = unit.startsWith('hugepages-') ? 'hugepages' : words[unit];
  if (kind === undefined || BYTE_DIVISORS.includes(divisor)) return [];
  const values = BYTE_DIVISORS.join(', ');
  return [fieldInvalid(path, resource, `only divisor's values ${values} are supported with the ${kind} resource`)];
}

/** A wrong number of sources is a finding about the list. */
function validateEnvFrom(source: Fields, path: string, list: string): FieldError[] {
  const prefix = textAt(source, 'prefix');
  const errors = prefix === '' ? [] : invalidFor(isEnvironmentName(prefix), `${path}.prefix`, prefix);
  const given = ['configMapRef', 'secretRef'].filter((field) => isGiven(source, field));
  for (const field of given) {
    const name = textAt(objectAt(source, field), 'name');
    const problems = validateName('dnsSubdomain', name, { prefix: true });
    append(
      errors,
      name === '' ? [fieldRequired(`${path}.${field}.name`)] : invalidFor(problems, `${path}.${field}.name`, name),
    );
  }
  if (given.length === 0) errors.push(fieldInvalid(list, '', 'must specify one of: `configMapRef` or `secretRef`'));
  if (given.length > 1) {
    errors.push(fieldInvalid(list, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}
