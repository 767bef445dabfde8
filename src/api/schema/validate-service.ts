import type { FieldError } from '../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldRequired } from '../field-error.ts';
import { validateLabels } from '../validation/labels.ts';
import { isDns1123Label, isDns1123Subdomain } from '../validation/names.ts';
import type { Fields } from './defaults-fields.ts';
import { objectAt, objectsAt } from './defaults-fields.ts';
import { invalidFor } from './validate-fields.ts';
import { textsAt, validatePort } from './validate-pod-spec.ts';

export function validateService(service: Fields): FieldError[] {
  const spec = objectAt(service, 'spec');
  const ports = objectsAt(spec, 'ports');
  const errors: FieldError[] = [];
  if (ports.length === 0 && spec?.['clusterIP'] !== 'None' && spec?.['type'] !== 'ExternalName') {
    errors.push(fieldRequired('spec.ports'));
  }
  if (spec?.['type'] === 'ExternalName') errors.push(...validateExternalName(spec));
  const names = new Set<unknown>();
  const numbers = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    errors.push(...validateServicePort(port, { path, several: ports.length > 1, names }));
    if (spec?.['type'] === 'ClusterIP' && Number(port['nodePort'] ?? 0) !== 0) {
      errors.push(fieldForbidden(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
    const key = `${String(port['protocol'])}/${String(port['port'])}`;
    if (numbers.has(key)) {
      errors.push(fieldDuplicate(path, { protocol: port['protocol'], port: port['port'] }));
    }
    numbers.add(key);
  }
  return [...errors, ...validateLabels(textsAt(spec, 'selector'), 'spec.selector')];
}

function validateServicePort(
  port: Fields,
  among: { readonly path: string; readonly several: boolean; readonly names: Set<unknown> },
): FieldError[] {
  const errors: FieldError[] = [];
  const name = String(port['name'] ?? '');
  if (among.several && name === '') errors.push(fieldRequired(`${among.path}.name`));
  if (name !== '') {
    errors.push(...invalidFor(isDns1123Label(name), `${among.path}.name`, name));
    if (among.names.has(name)) errors.push(fieldDuplicate(`${among.path}.name`, name));
    among.names.add(name);
  }
  validatePort(port['port'], `${among.path}.port`, errors);
  if (typeof port['targetPort'] === 'number') validatePort(port['targetPort'], `${among.path}.targetPort`, errors);
  return errors;
}

function validateExternalName(spec: Fields): FieldError[] {
  const errors: FieldError[] = [];
  const name = String(spec['externalName'] ?? '').replace(/\.$/, '');
  if (name === '') errors.push(fieldRequired('spec.externalName'));
  else errors.push(...invalidFor(isDns1123Subdomain(name), 'spec.externalName', name));
  if (Array.isArray(spec['clusterIPs']) && spec['clusterIPs'].length > 0) {
    errors.push(fieldForbidden('spec.clusterIPs', 'may not be set for ExternalName services'));
  }
  return errors;
}

/** The first address stays, unless the service becomes, or was, only a name. */
export function validateServiceUpdate(next: Fields, previous: Fields): FieldError[] {
  const spec = objectAt(next, 'spec');
  const old = objectAt(previous, 'spec');
  if (spec?.['type'] === 'ExternalName' || old?.['type'] === 'ExternalName') return [];
  const [address] = addressesOf(spec);
  const [before] = addressesOf(old);
  if (address === undefined || before === undefined || address === before) return [];
  return [fieldInvalid('spec.clusterIPs[0]', addressesOf(spec), 'may not change once set')];
}

function addressesOf(spec: Fields | undefined): readonly unknown[] {
  const addresses = spec?.['clusterIPs'];
  return Array.isArray(addresses) ? (addresses as unknown[]) : [];
}
