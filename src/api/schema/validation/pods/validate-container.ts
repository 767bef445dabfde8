import type { Int64 } from '../../../../base/json/exact-json.ts';
import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotFound, fieldRequired } from '../../../field-error.ts';
import { isDns1123Label } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isEmptyMap, isGiven, int64At, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateContainerPorts, validateHostPorts } from './validate-container-ports.ts';
import { validateEnvironment } from './validate-env.ts';
import { invalidFor } from '../../fields/validate-fields.ts';
import { PROBES, validateHandlers } from './validate-handlers.ts';
import type { PodVolumes } from './validate-mounts.ts';
import { validateMounts } from './validate-mounts.ts';
import type { PodClaims } from './validate-resources.ts';
import { validateResourceRequirements } from './validate-resources.ts';
import { validateContainerSecurity } from './validate-security-context.ts';

/** The facts about a pod that its containers depend on. */
export interface ContainerSurroundings {
  readonly spec: Fields;
  /** The volumes of the pod's spec. */
  readonly path: string;
  readonly volumes: PodVolumes;
  readonly claims: PodClaims;
}

const HANDLERS = ['lifecycle', ...PROBES] as const;

/** The containers of the pod's three lists, in upstream's order. Names are unique among all of them. */
export function validateContainers(pod: ContainerSurroundings): FieldError[] {
  const { spec, path } = pod;
  const containers = objectsAt(spec, 'containers');
  const names = new Set<string>();
  const errors = containers.length === 0 ? [fieldRequired(`${path}.containers`)] : [];
  for (const [index, container] of containers.entries()) {
    const at = `${path}.containers[${index}]`;
    append(errors, validateContainer(container, at, pod), validateUnique(container, names, at));
    append(errors, validateHandlers(container, at, graceOf(spec)));
  }
  append(errors, validateHostPorts(containers, `${path}.containers`));
  for (const [index, container] of objectsAt(spec, 'initContainers').entries()) {
    const at = `${path}.initContainers[${index}]`;
    append(errors, validateContainer(container, at, pod), validateUnique(container, names, at));
    append(errors, validateInitHandlers(container, at, graceOf(spec)));
  }
  const others = new Set(names);
  for (const [index, container] of objectsAt(spec, 'ephemeralContainers').entries()) {
    const at = `${path}.ephemeralContainers[${index}]`;
    append(errors, validateContainer(container, at, pod), validateImageSpaces(container, at));
    append(errors, validateUnique(container, names, at), validateEphemeral(container, others, at));
  }
  return errors;
}

function graceOf(spec: Fields): Int64 | undefined {
  return int64At(spec, 'terminationGracePeriodSeconds');
}

/** Checks common to all types of containers. */
function validateContainer(container: Fields, path: string, pod: ContainerSurroundings): FieldError[] {
  const name = textAt(container, 'name');
  const errors = name === '' ? [fieldRequired(`${path}.name`)] : invalidFor(isDns1123Label(name), `${path}.name`, name);
  if (textAt(container, 'image') === '') errors.push(fieldRequired(`${path}.image`));
  append(errors, validateContainerPorts(container, path));
  append(errors, validateEnvironment(container, path));
  append(errors, validateMounts(container, pod.volumes, path));
  const resources = objectAt(container, 'resources');
  if (resources !== undefined) {
    append(errors, validateResourceRequirements(resources, { path: `${path}.resources`, claims: pod.claims }));
  }
  append(errors, validateContainerSecurity(container, path, pod.spec['hostUsers'] !== false));
  return errors;
}

function validateUnique(container: Fields, names: Set<string>, path: string): FieldError[] {
  const name = textAt(container, 'name');
  if (name !== '' && names.has(name)) return [fieldDuplicate(`${path}.name`, name)];
  names.add(name);
  return [];
}

/** An init container that finishes before the others start has no probes. */
function validateInitHandlers(container: Fields, path: string, grace: Int64 | undefined): FieldError[] {
  if (container['restartPolicy'] === 'Always') return validateHandlers(container, path, grace);
  return HANDLERS.filter((field) => isGiven(container, field)).map((field) =>
    fieldForbidden(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
  );
}

/** Fields that an ephemeral container cannot have. */
const NOT_EPHEMERAL = ['ports', 'resources', 'resizePolicy', 'restartPolicy', ...PROBES, 'lifecycle'] as const;

function validateEphemeral(container: Fields, others: ReadonlySet<string>, path: string): FieldError[] {
  const detail = 'cannot be set for an Ephemeral Container';
  const target = textAt(container, 'targetContainerName');
  const errors = target === '' || others.has(target) ? [] : [fieldNotFound(`${path}.targetContainerName`, target)];
  for (const field of NOT_EPHEMERAL) {
    if (isSet(container, field)) errors.push(fieldForbidden(`${path}.${field}`, detail));
  }
  for (const [index, mount] of objectsAt(container, 'volumeMounts').entries()) {
    for (const field of ['subPath', 'subPathExpr']) {
      if (textAt(mount, field) === '') continue;
      errors.push(fieldForbidden(`${path}.volumeMounts[${index}].${field}`, detail));
    }
  }
  return errors;
}

function isSet(container: Fields, field: string): boolean {
  const value = container[field];
  if (field === 'resources') {
    return ['limits', 'requests', 'claims'].some((part) => !isEmptyMap(objectAt(container, field)?.[part]));
  }
  return Array.isArray(value) ? value.length > 0 : isGiven(container, field);
}

/** Only for pods: a template may have ` ` as an image, which another program replaces. */
export function validateImageSpaces(container: Fields, path: string): FieldError[] {
  const image = textAt(container, 'image');
  if (image === image.trim()) return [];
  return [fieldInvalid(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}
