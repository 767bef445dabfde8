import type { ResourceInfo } from '../kinds/resource-info.ts';
import { type GroupKind, isNamespaces } from '../meta/group-version-kind.ts';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';
import type { StatusError } from '../status-error.ts';
import { newConflict } from '../status-error.ts';
import type { DeleteOptions } from './delete-options.ts';

export type FailedPrecondition =
  | { readonly field: 'uid'; readonly wanted: string; readonly found: string }
  | { readonly field: 'resourceVersion'; readonly wanted: string; readonly found: string };

/** The first precondition that does not hold; the uid is compared first. */
export function failedPrecondition(
  object: KubeObject,
  options: Pick<DeleteOptions, 'preconditions'>,
): FailedPrecondition | undefined {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const meta = object.metadata ?? {};
  if (uid !== undefined && uid !== (meta.uid ?? '')) return { field: 'uid', wanted: uid, found: meta.uid ?? '' };
  if (resourceVersion !== undefined && resourceVersion !== (meta.resourceVersion ?? '')) {
    return { field: 'resourceVersion', wanted: resourceVersion, found: meta.resourceVersion ?? '' };
  }
  return undefined;
}

/**
 * Adds the uid of the object that a DELETE found first to the options as a precondition, unless the client set one. It is used for kinds
 * whose deletion includes other objects, because a new object of the same name has other content (API-301). Follows the storage of
 * namespaces and of CustomResourceDefinitions upstream.
 */
export function impliedPreconditions(
  options: DeleteOptions,
  info: Pick<ResourceInfo, 'group' | 'resource'>,
  { uid }: Pick<ObjectMeta, 'uid'>,
): DeleteOptions {
  const takesOthersAlong =
    isNamespaces(info) || (info.group === 'apiextensions.k8s.io' && info.resource === 'customresourcedefinitions');
  if (!takesOthersAlong || uid === undefined || options.preconditions?.uid !== undefined) return options;
  return { ...options, preconditions: { ...options.preconditions, uid } };
}

/**
 * The 409 for a failed precondition (API-242). It names the Kind where other conflicts name the plural. The caller repeats the check on
 * every object that it reads again, so that it holds up to the guarded write.
 */
export function checkDeletePreconditions(
  object: KubeObject,
  options: Pick<DeleteOptions, 'preconditions'>,
  gk: GroupKind,
): StatusError | undefined {
  const failed = failedPrecondition(object, options);
  return failed && preconditionConflict(failed, gk, object.metadata?.name ?? '');
}

export function preconditionConflict(failed: FailedPrecondition, gk: GroupKind, name: string): StatusError {
  const why =
    failed.field === 'uid'
      ? `the UID in the precondition (${failed.wanted}) does not match the UID in record (${failed.found}). The object might have been deleted and then recreated`
      : `the ResourceVersion in the precondition (${failed.wanted}) does not match the ResourceVersion in record (${failed.found}). The object might have been modified`;
  return newConflict({ group: gk.group, resource: gk.kind }, name, why);
}

/** The wording of namespaces and of PUT (API-174, API-301), which comes from the storage layer and has the plural. */
export function storagePreconditionText(failed: FailedPrecondition): string {
  return failed.field === 'uid'
    ? `Precondition failed: UID in precondition: ${failed.wanted}, UID in object meta: ${failed.found}`
    : `Precondition failed: ResourceVersion in precondition: ${failed.wanted}, ResourceVersion in object meta: ${failed.found}`;
}
