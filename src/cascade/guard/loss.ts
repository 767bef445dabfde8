import { deepEqual } from '../../base/collections/deep-equal.ts';
import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { CascadePolicy } from '../documents/cascade-plan.ts';
import type { GuardRequest } from './guard-request.ts';

/** The objects that a request may delete, as far as the request alone shows. */
export type Loss =
  | { readonly loss: 'nothing' }
  /** A DELETE, of one object or of one of a collection. */
  | { readonly loss: 'delete'; readonly uid: string; readonly policy?: CascadePolicy }
  /** An eviction names its pod only. */
  | { readonly loss: 'evict'; readonly namespace: string; readonly name: string }
  /** The last finalizer of a terminating object is removed, so this write deletes the object. */
  | { readonly loss: 'finalize'; readonly uid: string }
  /** A namespace is released while objects may be in it. */
  | { readonly loss: 'finalizeNamespace'; readonly uid: string; readonly namespace: string }
  /** Owner references change: the collector may find the object without an owner. */
  | { readonly loss: 'references'; readonly uid: string; readonly references: readonly OwnerReference[] }
  /** The request does not show which object is deleted. */
  | { readonly loss: 'unidentified' };

const nothing: Loss = { loss: 'nothing' };

/** Finds the objects that the request may delete (CAS-070). Pure; reads the request alone. */
export function lossOf(request: GuardRequest): Loss {
  const { operation, group, resource, subresource, object, oldObject } = request;
  if (operation === 'DELETE') return subresource === '' ? deletion(request) : nothing;
  if (operation === 'CREATE') {
    const evicts = group === '' && resource === 'pods' && subresource === 'eviction';
    return evicts ? { loss: 'evict', namespace: request.namespace, name: request.name } : nothing;
  }
  if (operation !== 'UPDATE') return nothing;
  const uid = oldObject?.metadata?.uid;
  if (object === undefined || oldObject === undefined || uid === undefined) return nothing;
  const before = oldObject.metadata ?? {};
  const after = object.metadata ?? {};
  if (isNamespaces(request) && count(oldObject, 'spec') > 0 && count(object, 'spec') === 0) {
    return { loss: 'finalizeNamespace', uid, namespace: before.name ?? '' };
  }
  const isFreed = (before.finalizers ?? []).length > 0 && (after.finalizers ?? []).length === 0;
  if (before.deletionTimestamp && isFreed) return { loss: 'finalize', uid };
  const references = after.ownerReferences ?? [];
  if (!deepEqual(before.ownerReferences ?? [], references)) return { loss: 'references', uid, references };
  return nothing;
}

function deletion({ oldObject, options }: GuardRequest): Loss {
  const uid = oldObject?.metadata?.uid;
  if (uid === undefined || uid === '') return { loss: 'unidentified' };
  const policy = policyOf(options);
  return { loss: 'delete', uid, ...(policy === undefined ? {} : { policy }) };
}

function policyOf(options: GuardRequest['options']): CascadePolicy | undefined {
  const { propagationPolicy, orphanDependents } = options ?? {};
  if (propagationPolicy === 'Background' || propagationPolicy === 'Foreground' || propagationPolicy === 'Orphan') {
    return propagationPolicy;
  }
  return orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background';
}

/** Finalizers in `spec`, which only namespaces have. */
function count(object: Readonly<Record<string, unknown>>, field: string): number {
  const { finalizers } = (object[field] ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers?.length ?? 0;
}
