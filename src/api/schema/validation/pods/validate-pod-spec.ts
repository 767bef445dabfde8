import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../field-error.ts';
import { validateAnnotations, validateLabels } from '../../../validation/labels.ts';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, int64At, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import { validateAffinity } from './validate-affinity.ts';
import { validateContainers, validateImageSpaces } from './validate-container.ts';
import { validateHostNetwork } from './validate-container-ports.ts';
import { invalidFor, outsideRange, validateOptionalText } from '../../fields/validate-fields.ts';
import { validatePodVolumes } from './validate-pod-volumes.ts';
import { validateHostAliases, validateResolver } from './validate-resolver.ts';
import { PodClaims, validateOverhead } from './validate-resources.ts';
import { validatePodSecurity, validateProcessSharing } from './validate-security-context.ts';
import { validateTolerations } from './validate-tolerations.ts';
import { validateTopologySpread } from './validate-topology-spread.ts';

const MAX_SECONDS = 2_147_483_647;
const SYSTEMS = ['linux', 'windows'];

/** Metadata and spec of a pod template. Upstream's paths of its metadata lack the word `metadata`. */
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

/** Checks for every state of a pod. */
export function validatePod(pod: Fields): FieldError[] {
  const spec = objectAt(pod, 'spec');
  const errors = validatePodSpec(spec, 'spec', 'pod');
  for (const field of ['containers', 'initContainers']) {
    let index = 0;
    for (const container of objectsAt(spec, field)) {
      append(errors, validateImageSpaces(container, `spec.${field}[${index}]`));
      index += 1;
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

type SpecCheck = (spec: Fields, path: string) => FieldError[];

function nameCheck(field: string, check: (text: string) => string[]): [field: string, check: SpecCheck] {
  return [field, (spec, path) => validateOptionalText(spec, field, { path, check })];
}

/** Checks after those of volumes and containers, in upstream's order, each under its field. */
const CHECKS: readonly (readonly [field: string, check: SpecCheck])[] = [
  ['nodeSelector', (spec, path) => validateLabels(textsAt(spec, 'nodeSelector'), `${path}.nodeSelector`)],
  ['securityContext', validatePodSecurity],
  ['shareProcessNamespace', validateProcessSharing],
  ['affinity', validateAffinity],
  ['dnsPolicy', validateResolver],
  ['readinessGates', validateReadinessGates],
  ['schedulingGates', validateSchedulingGates],
  ['topologySpreadConstraints', validateTopologySpread],
  ['hostUsers', validateHostUsers],
  nameCheck('serviceAccountName', isDns1123Subdomain),
  nameCheck('nodeName', isDns1123Subdomain),
  ['activeDeadlineSeconds', validateDeadline],
  nameCheck('hostname', isDns1123Label),
  nameCheck('subdomain', isDns1123Label),
  ['tolerations', validateTolerations],
  ['hostAliases', validateHostAliases],
  nameCheck('priorityClassName', isDns1123Subdomain),
  ['runtimeClassName', validateRuntimeClassName],
  ['overhead', validateOverhead],
  ['os', validateSystem],
];

/** Validates a pod spec (API-502); required fields and closed sets are checked elsewhere. */
function validatePodSpec(spec: Fields | undefined, path: string, of: 'pod' | 'template'): FieldError[] {
  if (spec === undefined) return [fieldRequired(path)];
  const { errors, volumes } = validatePodVolumes(spec, path);
  append(errors, validateContainers({ spec, path, volumes, claims: new PodClaims(spec) }));
  append(errors, validateHostNetwork(spec, path, of === 'pod'));
  for (const [field, check] of CHECKS) {
    if (isGiven(spec, field)) append(errors, check(spec, path));
  }
  return errors;
}

function validateDeadline(spec: Fields, path: string): FieldError[] {
  const deadline = int64At(spec, 'activeDeadlineSeconds');
  if (deadline === undefined || (deadline >= 1 && deadline <= MAX_SECONDS)) return [];
  return [fieldInvalid(`${path}.activeDeadlineSeconds`, deadline, outsideRange(1, MAX_SECONDS))];
}

/** A present value must not be empty. */
function validateRuntimeClassName(spec: Fields, path: string): FieldError[] {
  const name = textAt(spec, 'runtimeClassName');
  return invalidFor(isDns1123Subdomain(name), `${path}.runtimeClassName`, name);
}

/** Validates the readiness gates: conditions that must be true before the pod is ready. */
function validateReadinessGates(spec: Fields, path: string): FieldError[] {
  return objectsAt(spec, 'readinessGates').flatMap((gate, index) => {
    const type = textAt(gate, 'conditionType');
    return invalidFor(isQualifiedName(type), `${path}.readinessGates[${index}].conditionType`, type);
  });
}

/** Validates the scheduling gates, which must be removed before the pod is scheduled. */
function validateSchedulingGates(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, gate] of objectsAt(spec, 'schedulingGates').entries()) {
    const name = textAt(gate, 'name');
    const at = `${path}.schedulingGates[${index}]`;
    append(errors, invalidFor(isQualifiedName(name), at, name));
    if (names.has(name)) errors.push(fieldDuplicate(at, name));
    names.add(name);
  }
  return errors;
}

/** A pod with user namespaces cannot use the host's network and processes. As upstream, the last two paths begin in upper case. */
function validateHostUsers(spec: Fields, path: string): FieldError[] {
  if (spec['hostUsers'] !== false) return [];
  const shared = [
    ['hostNetwork', 'hostNetwork'],
    ['hostPID', 'HostPID'],
    ['hostIPC', 'HostIPC'],
  ] as const;
  return shared
    .filter(([field]) => spec[field] === true)
    .map(([, shown]) => fieldForbidden(`${path}.${shown}`, 'when `hostUsers` is false'));
}

function validateSystem(spec: Fields, path: string): FieldError[] {
  const system = objectAt(spec, 'os');
  if (system === undefined) return [];
  const name = textAt(system, 'name');
  if (name === '') return [fieldRequired(`${path}.os.name`, 'cannot be empty')];
  return SYSTEMS.includes(name) ? [] : [fieldNotSupported(`${path}.os`, name, SYSTEMS)];
}
