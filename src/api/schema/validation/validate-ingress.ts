import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from '../../field-error.ts';
import { addressFamily } from '../../validation/ip-address.ts';
import { isDns1123Label, isDns1123Subdomain, isPathSegmentName } from '../../validation/names.ts';
import { domainPrefixProblems, isPortName, isWildcardSubdomain } from '../../validation/value-forms.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, listOfTextsAt, numberAt, objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { validatePort } from './pods/validate-container-ports.ts';
import { invalidFor, validateEach, validateImmutable, validateOptionalText } from '../fields/validate-fields.ts';

const FORBIDDEN_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];
const MAX_CONTROLLER = 250;
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

export function validateIngress(ingress: Fields): FieldError[] {
  const spec = objectAt(ingress, 'spec');
  const backend = objectAt(spec, 'defaultBackend');
  const errors: FieldError[] = [];
  if (objectsAt(spec, 'rules').length === 0 && backend === undefined) {
    const detail = 'either `defaultBackend` or `rules` must be specified';
    errors.push(fieldInvalid('spec', spec?.['rules'] ?? null, detail));
  }
  if (backend !== undefined) append(errors, validateBackend(backend, 'spec.defaultBackend'));
  return [
    ...errors,
    ...validateEach(spec, 'rules', { path: 'spec', check: validateRule }),
    ...validateEach(spec, 'tls', { path: 'spec', check: validateTls }),
    ...validateOptionalText(spec, 'ingressClassName', { path: 'spec', check: isDns1123Subdomain }),
  ];
}

/** The annotation is the older form of the class. */
export function validateIngressOnCreate(ingress: Fields): FieldError[] {
  const value = textAt(objectAt(objectAt(ingress, 'metadata'), 'annotations'), CLASS_ANNOTATION);
  if (value === '' || !isGiven(objectAt(ingress, 'spec'), 'ingressClassName')) return [];
  return [fieldInvalid(`annotations.${CLASS_ANNOTATION}`, value, 'can not be set when the class field is also set')];
}

function validateHost(host: string, path: string): FieldError[] {
  return invalidFor(host.includes('*') ? isWildcardSubdomain(host) : isDns1123Subdomain(host), path, host);
}

function validateRule(rule: Fields, path: string): FieldError[] {
  const host = textAt(rule, 'host');
  const errors: FieldError[] = [];
  if (addressFamily(host) !== undefined) {
    errors.push(fieldInvalid(`${path}.host`, host, 'must be a DNS name, not an IP address'));
  }
  if (host !== '') append(errors, validateHost(host, `${path}.host`));
  const http = objectAt(rule, 'http');
  if (http === undefined) return errors;
  if (objectsAt(http, 'paths').length === 0) errors.push(fieldRequired(`${path}.http.paths`));
  return [...errors, ...validateEach(http, 'paths', { path: `${path}.http`, check: validatePath })];
}

function validatePath(entry: Fields, path: string): FieldError[] {
  const type = entry['pathType'];
  const text = textAt(entry, 'path');
  if (type === undefined || type === null) return [fieldRequired(`${path}.pathType`, 'pathType must be specified')];
  const at = `${path}.path`;
  const literal = type === 'Exact' || type === 'Prefix';
  const errors: FieldError[] = [];
  if (!text.startsWith('/') && (literal || text !== '')) {
    errors.push(fieldInvalid(at, text, 'must be an absolute path'));
  }
  if (literal) {
    for (const part of FORBIDDEN_PARTS) {
      if (text.includes(part)) errors.push(fieldInvalid(at, text, `must not contain '${part}'`));
    }
    for (const end of FORBIDDEN_ENDS) {
      if (text.endsWith(end)) errors.push(fieldInvalid(at, text, `cannot end with '${end}'`));
    }
  }
  return [...errors, ...validateBackend(objectAt(entry, 'backend') ?? {}, `${path}.backend`)];
}

function validateBackend(backend: Fields, path: string): FieldError[] {
  const resource = objectAt(backend, 'resource');
  const service = objectAt(backend, 'service');
  if (resource !== undefined && service !== undefined) {
    return [fieldInvalid(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return validateObjectReference(resource, `${path}.resource`);
  if (service === undefined) return [fieldInvalid(path, '', 'resource or service backend is required')];
  const name = textAt(service, 'name');
  return [
    ...(name === ''
      ? [fieldRequired(`${path}.service.name`)]
      : invalidFor(isDns1123Label(name), `${path}.service.name`, name)),
    ...validateServicePort(objectAt(service, 'port'), path),
  ];
}

function validateServicePort(port: Fields | undefined, path: string): FieldError[] {
  const name = textAt(port, 'name');
  const number = numberAt(port, 'number') ?? 0;
  if (name !== '' && number !== 0) return [fieldInvalid(path, '', 'cannot set both port name & port number')];
  if (name !== '') return invalidFor(isPortName(name), `${path}.service.port.name`, name);
  if (number !== 0) return validatePort(number, `${path}.service.port.number`);
  return [fieldRequired(path, 'port name or number is required')];
}

function validateTls(tls: Fields, path: string): FieldError[] {
  return [
    ...listOfTextsAt(tls, 'hosts').flatMap((host, index) => validateHost(host, `${path}.hosts[${index}]`)),
    ...validateOptionalText(tls, 'secretName', { path, check: isDns1123Subdomain }),
  ];
}

function validateObjectReference(reference: Fields, path: string): FieldError[] {
  const group = reference['apiGroup'];
  const errors = typeof group === 'string' ? invalidFor(isDns1123Subdomain(group), `${path}.apiGroup`, group) : [];
  for (const field of ['kind', 'name']) {
    const value = textAt(reference, field);
    const at = `${path}.${field}`;
    if (value === '') errors.push(fieldRequired(at, `${field} is required`));
    else append(errors, invalidFor(isPathSegmentName(value), at, value));
  }
  return errors;
}

export function validateIngressClass(ingressClass: Fields): FieldError[] {
  const spec = objectAt(ingressClass, 'spec');
  const controller = textAt(spec, 'controller');
  const path = 'spec.controller';
  const errors = controller.length > MAX_CONTROLLER ? [fieldTooLong(path, MAX_CONTROLLER)] : [];
  if (controller === '') errors.push(fieldRequired(path));
  else
    append(
      errors,
      domainPrefixProblems(controller).map(({ value, message }) => fieldInvalid(path, value, message)),
    );
  const parameters = objectAt(spec, 'parameters');
  return parameters === undefined ? errors : [...errors, ...validateParameters(parameters, 'spec.parameters')];
}

function validateParameters(parameters: Fields, path: string): FieldError[] {
  const errors = validateObjectReference(parameters, path);
  const namespace = parameters['namespace'];
  const scope = textAt(parameters, 'scope');
  const at = `${path}.namespace`;
  if (scope === 'Namespace') {
    if (typeof namespace !== 'string')
      return [...errors, fieldRequired(at, "`parameters.scope` is set to 'Namespace'")];
    return [...errors, ...invalidFor(isDns1123Label(namespace), at, namespace)];
  }
  if (scope !== 'Cluster' || !isGiven(parameters, 'namespace')) return errors;
  return [...errors, fieldForbidden(at, "`parameters.scope` is set to 'Cluster'")];
}

export function validateIngressClassUpdate(next: Fields, previous: Fields): FieldError[] {
  const controller = (object: Fields): unknown => objectAt(object, 'spec')?.['controller'];
  return validateImmutable(controller(next), controller(previous), 'spec.controller');
}
