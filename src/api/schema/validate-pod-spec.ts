import type { FieldError } from '../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../field-error.ts';
import { validateAnnotations, validateLabels } from '../validation/labels.ts';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../validation/names.ts';
import type { Fields } from './defaults-fields.ts';
import { numberAt, objectAt, objectsAt, textAt } from './defaults-fields.ts';
import { validateAffinity } from './validate-affinity.ts';
import { validateContainers, validateImageSpaces } from './validate-container.ts';
import { validateHostNetwork } from './validate-container-ports.ts';
import { invalidFor, outsideRange, validateOptionalText } from './validate-fields.ts';
import { validatePodVolumes } from './validate-pod-volumes.ts';
import { validateHostAliases, validateResolver } from './validate-resolver.ts';
import { validateOverhead } from './validate-resources.ts';
import { validatePodSecurity, validateProcessSharing } from './validate-security-context.ts';
import { validateTolerations } from './validate-tolerations.ts';
import { validateTopologySpread } from './validate-topology-spread.ts';

const MAX_SECONDS = 2_147_483_647;
const SYSTEMS = ['linux', 'windows'];

/** Metadata and spec of a template of pods. Upstream's paths of its metadata lack the word `metadata`. */
export function validatePodTemplate(template: Fields | undefined, path: string): FieldError[] {
  const metadata = objectAt(template, 'metadata');
  const spec = objectAt(template, 'spec');
  const errors = [
    ...validateLabels(textsAt(metadata, 'labels'), `${path}.labels`),
    ...validateAnnotations(textsAt(metadata, 'annotations'), `${path}.annotations`),
    ...validatePodSpec(spec, `${path}.spec`, 'template'),
  ];
  if (objectsAt(spec, 'ephemeralContainers').length > 0) {
    const detail = 'ephemeral containers not allowed in pod template';
    errors.push(fieldForbidden(`${path}.spec.ephemeralContainers`, detail));
  }
  return errors;
}

export function textsAt(owner: Fields | undefined, field: string): Record<string, string> | undefined {
  return objectAt(owner, field) as Record<string, string> | undefined;
}

/** What holds for every state of a pod. */
export function validatePod(pod: Fields): FieldError[] {
  const spec = objectAt(pod, 'spec');
  const errors = validatePodSpec(spec, 'spec', 'pod');
  if (spec === undefined) return errors;
  for (const field of ['containers', 'initContainers']) {
    for (const [index, container] of objectsAt(spec, field).entries()) {
      errors.push(...validateImageSpaces(container, `spec.${field}[${index}]`));
    }
  }
  return errors;
}

export function validatePodOnCreate(pod: Fields): FieldError[] {
  const spec = objectAt(pod, 'spec');
  const errors: FieldError[] = [];
  if (objectsAt(spec, 'ephemeralContainers').length > 0) {
    errors.push(fieldForbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (textAt(spec, 'nodeName') !== '' && objectsAt(spec, 'schedulingGates').length > 0) {
    errors.push(fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
}

/** Upstream's checks, in its order (API-502); required fields and closed sets are elsewhere. */
function validatePodSpec(spec: Fields | undefined, path: string, of: 'pod' | 'template'): FieldError[] {
  if (spec === undefined) return [fieldRequired(path)];
  const { errors, volumes } = validatePodVolumes(spec, path);
  errors.push(...validateContainers({ spec, path, volumes }), ...validateHostNetwork(spec, path, of === 'pod'));
  errors.push(...validateLabels(textsAt(spec, 'nodeSelector'), `${path}.nodeSelector`));
  errors.push(...validatePodSecurity(spec, path), ...validateProcessSharing(spec, path));
  errors.push(...validateAffinity(spec, path), ...validateResolver(spec, path), ...validateGates(spec, path));
  errors.push(...validateTopologySpread(spec, path), ...validateHostUsers(spec, path));
  errors.push(...validateNames(spec, path), ...validateTolerations(spec, path), ...validateHostAliases(spec, path));
  errors.push(...validateOptionalText(spec, 'priorityClassName', { path, check: isDns1123Subdomain }));
  const runtime = spec['runtimeClassName'];
  if (typeof runtime === 'string') {
    errors.push(...invalidFor(isDns1123Subdomain(runtime), `${path}.runtimeClassName`, runtime));
  }
  errors.push(...validateOverhead(spec, path), ...validateSystem(spec, path));
  return errors;
}

function validateNames(spec: Fields, path: string): FieldError[] {
  const errors = [
    ...validateOptionalText(spec, 'serviceAccountName', { path, check: isDns1123Subdomain }),
    ...validateOptionalText(spec, 'nodeName', { path, check: isDns1123Subdomain }),
  ];
  const deadline = numberAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && (deadline < 1 || deadline > MAX_SECONDS)) {
    errors.push(fieldInvalid(`${path}.activeDeadlineSeconds`, deadline, outsideRange(1, MAX_SECONDS)));
  }
  return [
    ...errors,
    ...validateOptionalText(spec, 'hostname', { path, check: isDns1123Label }),
    ...validateOptionalText(spec, 'subdomain', { path, check: isDns1123Label }),
  ];
}

/** What must be true, or gone, before the pod is ready, or scheduled. */
function validateGates(spec: Fields, path: string): FieldError[] {
  const errors = objectsAt(spec, 'readinessGates').flatMap((gate, index) => {
    const type = textAt(gate, 'conditionType');
    return invalidFor(isQualifiedName(type), `${path}.readinessGates[${index}].conditionType`, type);
  });
  const names = new Set<string>();
  for (const [index, gate] of objectsAt(spec, 'schedulingGates').entries()) {
    const name = textAt(gate, 'name');
    const at = `${path}.schedulingGates[${index}]`;
    errors.push(...invalidFor(isQualifiedName(name), at, name));
    if (names.has(name)) errors.push(fieldDuplicate(at, name));
    names.add(name);
  }
  return errors;
}

/** Users of its own need network and processes of its own. The last two paths are upstream's. */
function validateHostUsers(spec: Fields, path: string): FieldError[] {
  if (spec['hostUsers'] !== false) return [];
  const shared = [
    ['hostNetwork', 'hostNetwork'],
    ['hostPID', 'HostPID'],
    ['hostIPC', 'HostIPC'],
  ] as const;
  return shared
    .filter(([field]) => spec[field] === true)
    .map(([, shown]) => fieldForbidden(`${path}.${shown}`, 'when `pod.Spec.HostUsers` is false'));
}

function validateSystem(spec: Fields, path: string): FieldError[] {
  const system = objectAt(spec, 'os');
  if (system === undefined) return [];
  const name = textAt(system, 'name');
  if (name === '') return [fieldRequired(`${path}.os.name`, 'cannot be empty')];
  return SYSTEMS.includes(name) ? [] : [fieldNotSupported(`${path}.os`, name, SYSTEMS)];
}
