import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../field-error.ts';
import { labelSelectorFromObject, labelSelectorFromSet } from '../selectors/label-selector.ts';
import type { LabelSelectorObject } from '../validation/labels.ts';
import { validateLabelSelector } from '../validation/labels.ts';
import type { Fields } from './defaults-fields.ts';
import { isEmptyMap, objectAt } from './defaults-fields.ts';
import { sameContent, validateImmutable, validateNonNegative } from './validate-fields.ts';
import { textsAt, validatePodTemplate } from './validate-pod-spec.ts';

const MISMATCH = '`selector` does not match template `labels`';
const ALWAYS = ['Always'];

/** Spec of a kind that keeps pods running. `owner` names it in messages, `Deployment` calls itself ReplicaSet there. */
function validatePodOwner(spec: Fields | undefined, owner: string): FieldError[] {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  const errors = [
    ...validateNonNegative(spec, 'replicas', 'spec'),
    ...validateNonNegative(spec, 'minReadySeconds', 'spec'),
    ...validateNonNegative(spec, 'revisionHistoryLimit', 'spec'),
    ...(template === undefined ? [fieldRequired('spec.template')] : validatePodTemplate(template, 'spec.template')),
  ];
  const restartPolicy = podSpec?.['restartPolicy'];
  if (template !== undefined && restartPolicy !== 'Always') {
    errors.push(fieldNotSupported('spec.template.spec.restartPolicy', restartPolicy ?? '', ALWAYS));
  }
  if (typeof podSpec?.['activeDeadlineSeconds'] === 'number') {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`;
    errors.push(fieldForbidden('spec.template.spec.activeDeadlineSeconds', detail));
  }
  return errors;
}

/** `emptyFor`: the kind that an empty selector is called invalid for. */
function validateSelector(spec: Fields | undefined, emptyFor: string): FieldError[] {
  const selector = objectAt(spec, 'selector');
  if (selector === undefined) return [fieldRequired('spec.selector'), ...validateTemplateMatch(spec)];
  const isEmpty = isEmptyMap(selector['matchLabels']) && isEmptyMap(selector['matchExpressions']);
  return isEmpty
    ? [fieldInvalid('spec.selector', selector, `empty selector is invalid for ${emptyFor}`)]
    : validateTemplateMatch(spec);
}

/** A selector must select the pods of its own template; one that is missing selects nothing. */
export function validateTemplateMatch(spec: Fields | undefined): FieldError[] {
  const selector = objectAt(spec, 'selector') as LabelSelectorObject | undefined;
  // What is wrong with a malformed selector is reported elsewhere.
  if (validateLabelSelector(selector, '').length > 0) return [];
  const labels = textsAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (labelSelectorFromObject(selector).matches(labels)) return [];
  return [fieldInvalid('spec.template.metadata.labels', labels ?? null, MISMATCH)];
}

export function validateDeployment(deployment: Fields): FieldError[] {
  const spec = objectAt(deployment, 'spec');
  const strategy = objectAt(spec, 'strategy');
  const rollingUpdate = objectAt(strategy, 'rollingUpdate');
  const errors = [...validateSelector(spec, 'deployment'), ...validatePodOwner(spec, 'ReplicaSet')];
  if (strategy?.['type'] === 'Recreate' && rollingUpdate !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    errors.push(fieldForbidden('spec.strategy.rollingUpdate', detail));
  }
  if (isZero(rollingUpdate?.['maxUnavailable']) && isZero(rollingUpdate?.['maxSurge'])) {
    const path = 'spec.strategy.rollingUpdate.maxUnavailable';
    errors.push(fieldInvalid(path, rollingUpdate?.['maxUnavailable'], 'may not be 0 when `maxSurge` is 0'));
  }
  const deadline = spec?.['progressDeadlineSeconds'];
  if (typeof deadline === 'number' && deadline <= Number(spec?.['minReadySeconds'] ?? 0)) {
    errors.push(fieldInvalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0%' || value === '0';
}

export function validateReplicaSet(replicaSet: Fields): FieldError[] {
  const spec = objectAt(replicaSet, 'spec');
  return [...validateSelector(spec, 'deployment'), ...validatePodOwner(spec, 'ReplicaSet')];
}

export function validateDaemonSet(daemonSet: Fields): FieldError[] {
  const spec = objectAt(daemonSet, 'spec');
  return [...validateSelector(spec, 'daemonset'), ...validatePodOwner(spec, 'DaemonSet')];
}

export function validateStatefulSet(statefulSet: Fields): FieldError[] {
  const spec = objectAt(statefulSet, 'spec');
  const errors = [...validateSelector(spec, 'statefulset'), ...validatePodOwnerWithClaims(spec)];
  const policy = spec?.['podManagementPolicy'];
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(fieldInvalid('spec.podManagementPolicy', policy ?? '', "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = objectAt(spec, 'updateStrategy');
  if (strategy?.['type'] === 'OnDelete' && objectAt(strategy, 'rollingUpdate') !== undefined) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(fieldInvalid('spec.updateStrategy.rollingUpdate', strategy['rollingUpdate'], detail));
  } else if (strategy?.['type'] !== 'RollingUpdate' && strategy?.['type'] !== 'OnDelete') {
    errors.push(fieldInvalid('spec.updateStrategy', strategy ?? null, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  return errors;
}

/** Containers may mount the volumes that the claim templates will make. */
function validatePodOwnerWithClaims(spec: Fields | undefined): FieldError[] {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  const claims = Array.isArray(spec?.['volumeClaimTemplates']) ? (spec['volumeClaimTemplates'] as Fields[]) : [];
  if (podSpec === undefined || claims.length === 0) return validatePodOwner(spec, 'StatefulSet');
  const claimed = claims.map((claim) => ({ name: objectAt(claim, 'metadata')?.['name'] ?? '' }));
  const own = (Array.isArray(podSpec['volumes']) ? (podSpec['volumes'] as Fields[]) : []).filter(
    (volume) => !claimed.some((claim) => claim.name === volume['name']),
  );
  const withClaims = { ...template, spec: { ...podSpec, volumes: [...own, ...claimed] } };
  return validatePodOwner({ ...spec, template: withClaims }, 'StatefulSet');
}

export function validateReplicationController(controller: Fields): FieldError[] {
  const spec = objectAt(controller, 'spec');
  const selector = textsAt(spec, 'selector');
  const errors = validatePodOwner(spec, 'ReplicationController');
  if (isEmptyMap(selector)) return [fieldRequired('spec.selector'), ...errors];
  const labels = textsAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (!labelSelectorFromSet(selector).matches(labels)) {
    errors.unshift(fieldInvalid('spec.template.metadata.labels', labels ?? null, MISMATCH));
  }
  return errors;
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
  if (typeof revision['revision'] === 'number' && revision['revision'] < 0) {
    errors.push(fieldInvalid('revision', revision['revision'], 'must be greater than or equal to 0'));
  }
  return errors;
}

export function validateControllerRevisionUpdate(next: Fields, previous: Fields): FieldError[] {
  return validateImmutable(next['data'], previous['data'], 'data');
}
