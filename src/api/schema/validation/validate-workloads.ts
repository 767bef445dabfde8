import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import { labelSelectorFromObject, labelSelectorFromSet } from '../../selectors/label-selector.ts';
import type { LabelSelectorObject } from '../../validation/labels.ts';
import { validateLabelSelector } from '../../validation/labels.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { int64At, isEmptyMap, objectAt, objectsAt, textAt } from '../fields/defaults-fields.ts';
import { validateClaimSpec } from './pods/validate-claim-spec.ts';
import { sameContent, validateImmutable, validateNonNegative } from '../fields/validate-fields.ts';
import { textsAt, validatePodTemplate } from './pods/validate-pod-spec.ts';
import {
  validateDaemonSetStrategy,
  validateDeploymentStrategy,
  validateRetention,
  validateStatefulSetStrategy,
} from './validate-rollout.ts';

const MISMATCH = '`selector` does not match template `labels`';
const ALWAYS = ['Always'];

/** The pod template of a long-running workload. `owner` is the name in messages; a Deployment's messages name a ReplicaSet. */
function validateLastingTemplate(spec: Fields | undefined, owner: string): FieldError[] {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  if (template === undefined) return [fieldRequired('spec.template')];
  const errors = validatePodTemplate(template, 'spec.template');
  const restartPolicy = podSpec?.['restartPolicy'];
  if (restartPolicy !== 'Always') {
    errors.push(fieldNotSupported('spec.template.spec.restartPolicy', restartPolicy ?? '', ALWAYS));
  }
  if (int64At(podSpec, 'activeDeadlineSeconds') !== undefined) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.push(fieldForbidden('spec.template.spec.activeDeadlineSeconds', detail));
  }
  return errors;
}

/** `emptyFor` is the kind in the message about an empty selector. */
function validateSelector(spec: Fields | undefined, emptyFor: string): FieldError[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [fieldRequired('spec.selector'), ...validateTemplateMatch(spec)];
  const isEmpty = isEmptyMap(selector['matchLabels']) && isEmptyMap(selector['matchExpressions']);
  return isEmpty
    ? [fieldInvalid('spec.selector', selector, `empty selector is invalid for ${emptyFor}`)]
    : validateTemplateMatch(spec);
}

/** A selector must match the pods of its own template; an absent selector matches nothing. */
export function validateTemplateMatch(spec: Fields | undefined): FieldError[] {
  const selector = objectAt(spec, 'selector') as LabelSelectorObject | undefined;
  // A malformed selector is reported elsewhere.
  if (validateLabelSelector(selector, '').length > 0) return [];
  const labels = textsAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (labelSelectorFromObject(selector).matches(labels)) return [];
  return [fieldInvalid('spec.template.metadata.labels', labels ?? null, MISMATCH)];
}

export function validateDeployment(deployment: Fields): FieldError[] {
  const spec = objectAt(deployment, 'spec');
  const deadline = spec?.['progressDeadlineSeconds'];
  const errors = [
    ...validateNonNegative(spec, 'replicas', 'spec'),
    ...validateSelector(spec, 'deployment'),
    ...validateLastingTemplate(spec, 'ReplicaSet'),
    ...validateDeploymentStrategy(spec),
    ...validateNonNegative(spec, 'minReadySeconds', 'spec'),
    ...validateNonNegative(spec, 'revisionHistoryLimit', 'spec'),
    ...validateNonNegative(spec, 'progressDeadlineSeconds', 'spec'),
  ];
  if (typeof deadline === 'number' && deadline <= Number(spec?.['minReadySeconds'] ?? 0)) {
    errors.push(fieldInvalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

export function validateReplicaSet(replicaSet: Fields): FieldError[] {
  const spec = objectAt(replicaSet, 'spec');
  return [
    ...validateNonNegative(spec, 'replicas', 'spec'),
    ...validateNonNegative(spec, 'minReadySeconds', 'spec'),
    ...validateSelector(spec, 'deployment'),
    ...validateLastingTemplate(spec, 'ReplicaSet'),
  ];
}

export function validateDaemonSet(daemonSet: Fields): FieldError[] {
  const spec = objectAt(daemonSet, 'spec');
  return [
    ...validateSelector(spec, 'daemonset'),
    ...validateLastingTemplate(spec, 'DaemonSet'),
    ...validateNonNegative(spec, 'minReadySeconds', 'spec'),
    ...validateDaemonSetStrategy(spec),
    ...validateNonNegative(spec, 'revisionHistoryLimit', 'spec'),
  ];
}

export function validateStatefulSet(statefulSet: Fields): FieldError[] {
  const spec = objectAt(statefulSet, 'spec');
  const policy = spec?.['podManagementPolicy'];
  const errors: FieldError[] = [];
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(fieldInvalid('spec.podManagementPolicy', policy ?? '', "must be 'OrderedReady' or 'Parallel'"));
  }
  return [
    ...errors,
    ...validateStatefulSetStrategy(spec),
    ...validateRetention(spec),
    ...validateNonNegative(spec, 'replicas', 'spec'),
    ...validateNonNegative(spec, 'minReadySeconds', 'spec'),
    ...validateNonNegative(objectAt(spec, 'ordinals'), 'start', 'spec.ordinals'),
    ...validateSelector(spec, 'statefulset'),
    ...validateLastingTemplate(withClaimedVolumes(spec), 'StatefulSet'),
    ...validateNonNegative(spec, 'revisionHistoryLimit', 'spec'),
  ];
}

/** Checked only on create, because claim templates are immutable. */
export function validateClaimTemplates(statefulSet: Fields): FieldError[] {
  return objectsAt(objectAt(statefulSet, 'spec'), 'volumeClaimTemplates').flatMap((claim, index) =>
    validateClaimSpec(objectAt(claim, 'spec'), `spec.volumeClaimTemplates[${index}].spec`),
  );
}

/** Containers may mount the volumes of the claim templates. */
function withClaimedVolumes(spec: Fields | undefined): Fields | undefined {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  const claims = objectsAt(spec, 'volumeClaimTemplates');
  if (podSpec === undefined || claims.length === 0) return spec;
  const claimed = claims.map((claim) => {
    const name = textAt(objectAt(claim, 'metadata'), 'name');
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  const names = new Set<unknown>(claimed.map(({ name }) => name));
  const own = objectsAt(podSpec, 'volumes').filter((volume) => !names.has(volume['name']));
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes: [...own, ...claimed] } } };
}

export function validateReplicationController(controller: Fields): FieldError[] {
  const spec = objectAt(controller, 'spec');
  const selector = textsAt(spec, 'selector');
  const labels = textsAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  const errors = validateNonNegative(spec, 'minReadySeconds', 'spec');
  if (isEmptyMap(selector)) errors.push(fieldRequired('spec.selector'));
  append(errors, validateNonNegative(spec, 'replicas', 'spec'));
  if (!isEmptyMap(selector) && !labelSelectorFromSet(selector).matches(labels)) {
    errors.push(fieldInvalid('spec.template.metadata.labels', labels ?? null, MISMATCH));
  }
  return [...errors, ...validateLastingTemplate(spec, 'ReplicationController')];
}

/** Deployment, ReplicaSet and DaemonSet. */
export function validateSelectorUnchanged(next: Fields, previous: Fields): FieldError[] {
  return validateImmutable(
    objectAt(next, 'spec')?.['selector'],
    objectAt(previous, 'spec')?.['selector'],
    'spec.selector',
  );
}

const STATEFUL_SET_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

export function validateStatefulSetUpdate(next: Fields, previous: Fields): FieldError[] {
  const fixed = (spec: Fields | undefined): Fields =>
    Object.fromEntries(Object.entries(spec ?? {}).filter(([field]) => !STATEFUL_SET_MUTABLE.includes(field)));
  if (sameContent(fixed(objectAt(next, 'spec')), fixed(objectAt(previous, 'spec')))) return [];
  return [
    fieldForbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  ];
}

export function validateControllerRevision(revision: Fields): FieldError[] {
  const { data } = revision;
  const errors: FieldError[] = [];
  if (data === undefined || data === null) errors.push(fieldRequired('data', 'data is mandatory'));
  const number = int64At(revision, 'revision') ?? 0;
  if (number < 0) errors.push(fieldInvalid('revision', number, 'must be greater than or equal to 0'));
  return errors;
}

export function validateControllerRevisionUpdate(next: Fields, previous: Fields): FieldError[] {
  return validateImmutable(next['data'], previous['data'], 'data');
}
