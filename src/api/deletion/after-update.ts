import type { KubeObject } from '../meta/object-meta.ts';
import { hasNamespaceFinalizers } from './namespace-delete.ts';

/**
 * True if a write (PUT or PATCH, of the object or a subresource) completes a deletion: the object was terminating with its grace period
 * over, and the write leaves no finalizer (API-251). For namespaces `spec.finalizers` must be empty too (API-306). The caller then removes
 * the object in the same guarded step instead of writing `next`.
 */
export function isRemovedByUpdate(previous: KubeObject, next: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = previous.metadata ?? {};
  if (!deletionTimestamp) return false;
  // The object is still shutting down, which only a DELETE with grace 0 completes.
  if ((deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if ((next.metadata?.finalizers ?? []).length > 0) return false;
  return !(isNamespace(next) && hasNamespaceFinalizers(next));
}

function isNamespace(object: KubeObject): boolean {
  return object.kind === 'Namespace' && object.apiVersion === 'v1';
}
