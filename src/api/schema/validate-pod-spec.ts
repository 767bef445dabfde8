import type { FieldError } from '../field-error.ts';
import { fieldDuplicate, fieldInvalid, fieldNotFound, fieldRequired } from '../field-error.ts';
import { validateAnnotations, validateLabels } from '../validation/labels.ts';
import { isDns1123Label, isDns1123Subdomain } from '../validation/names.ts';
import type { Fields } from './defaults-fields.ts';
import { objectAt, objectsAt } from './defaults-fields.ts';
import { invalidFor, outsideRange } from './validate-fields.ts';

const MAX_PORT = 65_535;
const MAX_SECONDS = 2_147_483_647;

/** Metadata and spec of a template of pods. Upstream's paths of its metadata lack the word `metadata`. */
export function validatePodTemplate(template: Fields | undefined, path: string): FieldError[] {
  const metadata = objectAt(template, 'metadata');
  return [
    ...validateLabels(textsAt(metadata, 'labels'), `${path}.labels`),
    ...validateAnnotations(textsAt(metadata, 'annotations'), `${path}.annotations`),
    ...validatePodSpec(objectAt(template, 'spec'), `${path}.spec`),
  ];
}

export function textsAt(owner: Fields | undefined, field: string): Record<string, string> | undefined {
  return objectAt(owner, field) as Record<string, string> | undefined;
}

/** The part of upstream's checks that controllers and tools meet (API-502); required fields and closed sets are elsewhere. */
export function validatePodSpec(spec: Fields | undefined, path: string): FieldError[] {
  if (spec === undefined) return [fieldRequired(path)];
  const errors: FieldError[] = [];
  const volumes = validateVolumes(objectsAt(spec, 'volumes'), `${path}.volumes`, errors);
  const names = new Set<string>();
  const groups: readonly [string, Fields[]][] = ['containers', 'initContainers', 'ephemeralContainers'].map((field) => [
    field,
    objectsAt(spec, field),
  ]);
  if (groups[0]?.[1].length === 0) errors.push(fieldRequired(`${path}.containers`));
  for (const [field, containers] of groups) {
    for (const [index, container] of containers.entries()) {
      const at = `${path}.${field}[${index}]`;
      validateContainer(container, at, errors);
      const name = String(container['name'] ?? '');
      if (name !== '' && names.has(name)) errors.push(fieldDuplicate(`${at}.name`, name));
      names.add(name);
      validateMounts(container, volumes, { path: at, errors });
    }
  }
  errors.push(...validateLabels(textsAt(spec, 'nodeSelector'), `${path}.nodeSelector`));
  validateName(spec, 'hostname', { path, errors, check: isDns1123Label });
  validateName(spec, 'subdomain', { path, errors, check: isDns1123Label });
  validateName(spec, 'serviceAccountName', { path, errors, check: isDns1123Subdomain });
  validateName(spec, 'nodeName', { path, errors, check: isDns1123Subdomain });
  validateName(spec, 'priorityClassName', { path, errors, check: isDns1123Subdomain });
  const deadline = spec['activeDeadlineSeconds'];
  if (typeof deadline === 'number' && (deadline < 1 || deadline > MAX_SECONDS)) {
    errors.push(fieldInvalid(`${path}.activeDeadlineSeconds`, deadline, outsideRange(1, MAX_SECONDS)));
  }
  return errors;
}

function validateContainer(container: Fields, path: string, errors: FieldError[]): void {
  const name = String(container['name'] ?? '');
  if (name === '') errors.push(fieldRequired(`${path}.name`));
  else errors.push(...invalidFor(isDns1123Label(name), `${path}.name`, name));
  if ((container['image'] ?? '') === '') errors.push(fieldRequired(`${path}.image`));
  for (const [index, port] of objectsAt(container, 'ports').entries()) {
    const at = `${path}.ports[${index}]`;
    const number = port['containerPort'];
    if (number === 0 || number === undefined) errors.push(fieldRequired(`${at}.containerPort`));
    else validatePort(number, `${at}.containerPort`, errors);
    if (port['hostPort'] !== undefined) validatePort(port['hostPort'], `${at}.hostPort`, errors);
  }
}

/** Between 1 and 65535. */
export function validatePort(port: unknown, path: string, errors: FieldError[]): void {
  if (typeof port === 'number' && port >= 1 && port <= MAX_PORT) return;
  errors.push(fieldInvalid(path, port, outsideRange(1, MAX_PORT)));
}

/** @returns the names of the volumes */
function validateVolumes(volumes: readonly Fields[], path: string, errors: FieldError[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}].name`;
    const name = String(volume['name'] ?? '');
    if (name === '') {
      errors.push(fieldRequired(at));
      continue;
    }
    errors.push(...invalidFor(isDns1123Label(name), at, name));
    if (names.has(name)) errors.push(fieldDuplicate(at, name));
    names.add(name);
  }
  return names;
}

function validateMounts(
  container: Fields,
  volumes: ReadonlySet<string>,
  at: { readonly path: string; readonly errors: FieldError[] },
): void {
  const paths = new Set<unknown>();
  for (const [index, mount] of objectsAt(container, 'volumeMounts').entries()) {
    const path = `${at.path}.volumeMounts[${index}]`;
    const name = String(mount['name'] ?? '');
    const mountPath = mount['mountPath'];
    if (name !== '' && !volumes.has(name)) at.errors.push(fieldNotFound(`${path}.name`, name));
    if (mountPath !== '' && paths.has(mountPath)) {
      at.errors.push(fieldInvalid(`${path}.mountPath`, mountPath, 'must be unique'));
    }
    paths.add(mountPath);
  }
}

function validateName(
  spec: Fields,
  field: string,
  by: { readonly path: string; readonly errors: FieldError[]; readonly check: (text: string) => string[] },
): void {
  const value = spec[field];
  if (typeof value !== 'string' || value === '') return;
  by.errors.push(...invalidFor(by.check(value), `${by.path}.${field}`, value));
}
