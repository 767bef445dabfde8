import type { KubeObject } from '../meta/object-meta.ts';
import { hasNamespaceFinalizers } from './namespace-delete.ts';

/**
 * Whether a write (PUT or PATCH, of the object or a subresource) ends a deletion: it leaves no finalizer on an object that was
 * terminating before with its grace period over (API-251). For namespaces `spec.finalizers` must be empty too (API-306).
 * The caller then removes the object in the same guarded step instead of writing `next`.
 */
export function isRemovedByUpdate(previous: KubeObject, next: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = previous.metadata ?? {};
  if (!deletionTimestamp) return false;
  // Someone still has to shut it down: only a DELETE with grace 0 ends that.
  if ((deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if ((next.metadata?.finalizers ?? []).length > 0) return false;
  return !(isNamespace(next) && hasNamespaceFinalizers(next));
}

function isNamespace(object: KubeObject): boolean {
  return object.kind === 'Namespace' && object.apiVersion === 'v1';
}
