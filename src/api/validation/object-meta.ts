import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired } from '../field-error.ts';
import type { NameRule } from '../kinds/resource-info.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { validateFinalizers, validateNoNewFinalizers, validateStandardFinalizers } from './finalizers.ts';
import { validateAnnotations, validateLabels } from './labels.ts';
import { validateManagedFields } from './managed-fields.ts';
import { isDns1123Label, validateName } from './names.ts';
import { validateOwnerReferences } from './owner-references.ts';

export { dedupOwnerReferences, validateOwnerReferences } from './owner-references.ts';

/**
 * Upstream, definitions and APIServices have separate servers, which do not check that finalizers are known ones. The check
 * would refuse `customresourcecleanup.apiextensions.k8s.io` (API-456).
 */
const WITHOUT_STANDARD_FINALIZERS = ['apiextensions.k8s.io', 'apiregistration.k8s.io'];

/** The rules for objects of a resource. `typeName` is absent for custom resources. */
export function objectMetaRules(
  info: Pick<ObjectMetaRules, 'namespaced' | 'nameRule'> & {
    readonly group: string;
    readonly typeName?: string | undefined;
  },
): ObjectMetaRules {
  const { namespaced, nameRule, group, typeName } = info;
  return { namespaced, nameRule, builtin: typeName !== undefined && !WITHOUT_STANDARD_FINALIZERS.includes(group) };
}

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** Finalizers without a domain must be known ones, except for custom resources (API-071). */
  readonly builtin: boolean;
}

/** Validates the metadata of an object to create, after name generation (API-062..072). Follows apimachinery `ValidateObjectMeta`. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  return [
    ...validateCommon(meta, rules),
    ...(rules.builtin ? validateStandardFinalizers(meta.finalizers, 'metadata.finalizers') : []),
  ];
}

function validateCommon(meta: ObjectMeta, rules: Pick<ObjectMetaRules, 'namespaced' | 'nameRule'>): FieldError[] {
  const { generateName = '', name = '', namespace = '', generation = 0 } = meta;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    const messages = validateName(rules.nameRule, generateName, { prefix: true });
    append(
      errors,
      messages.map((message) => fieldInvalid('metadata.generateName', generateName, message)),
    );
  }
  if (name === '') errors.push(fieldRequired('metadata.name', 'name or generateName is required'));
  else
    append(
      errors,
      validateName(rules.nameRule, name).map((message) => fieldInvalid('metadata.name', name, message)),
    );
  if (!rules.namespaced) {
    if (namespace !== '') errors.push(fieldForbidden('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') {
    errors.push(fieldRequired('metadata.namespace'));
  } else {
    append(
      errors,
      isDns1123Label(namespace).map((message) => fieldInvalid('metadata.namespace', namespace, message)),
    );
  }
  if (generation < 0) {
    errors.push(fieldInvalid('metadata.generation', generation, 'must be greater than or equal to 0'));
  }
  append(
    errors,
    validateLabels(meta.labels, 'metadata.labels'),
    validateAnnotations(meta.annotations, 'metadata.annotations'),
    validateOwnerReferences(meta.ownerReferences, 'metadata.ownerReferences'),
    validateFinalizers(meta.finalizers, 'metadata.finalizers'),
    validateManagedFields(meta.managedFields, 'metadata.managedFields'),
  );
  return errors;
}

/**
 * Validates the metadata of an update, after the server has restored immutable fields (API-072, API-073). Upstream checks an update in
 * common code and again in each type, so findings occur repeatedly; the message of the Status has each once, its causes have all.
 */
export function validateObjectMetaUpdate(next: ObjectMeta, previous: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const changes = validateChanges(next, previous);
  return [
    ...validateCommon(next, { namespaced: rules.namespaced, nameRule: 'pathSegment' }),
    ...changes,
    ...changes,
    ...(rules.builtin ? validateStandardFinalizers(next.finalizers, 'metadata.finalizers') : []),
  ];
}

function validateChanges(next: ObjectMeta, previous: ObjectMeta): FieldError[] {
  const terminating = Boolean(previous.deletionTimestamp);
  return [
    ...(terminating ? validateNoNewFinalizers(next.finalizers, previous.finalizers, 'metadata.finalizers') : []),
    ...validateImmutable(next.name ?? '', previous.name ?? '', 'metadata.name'),
    ...validateImmutable(next.namespace ?? '', previous.namespace ?? '', 'metadata.namespace'),
    ...validateImmutable(next.uid ?? '', previous.uid ?? '', 'metadata.uid'),
    ...validateImmutable(next.creationTimestamp, previous.creationTimestamp, 'metadata.creationTimestamp'),
    ...validateImmutable(next.deletionTimestamp, previous.deletionTimestamp, 'metadata.deletionTimestamp'),
    ...validateImmutable(
      next.deletionGracePeriodSeconds,
      previous.deletionGracePeriodSeconds,
      'metadata.deletionGracePeriodSeconds',
    ),
    ...validateLabels(next.labels, 'metadata.labels'),
    ...validateAnnotations(next.annotations, 'metadata.annotations'),
    ...validateOwnerReferences(next.ownerReferences, 'metadata.ownerReferences'),
    ...validateManagedFields(next.managedFields, 'metadata.managedFields'),
  ];
}

/** Null and absent are equal. For scalar fields. */
function validateImmutable(
  next: string | number | null | undefined,
  previous: string | number | null | undefined,
  path: string,
): FieldError[] {
  return (next ?? null) === (previous ?? null) ? [] : [fieldInvalid(path, next ?? null, 'field is immutable')];
}
