import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../meta/object-meta.ts';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';
import { formatTime } from '../meta/time.ts';
import { newConflict, newForbidden } from '../status-error.ts';
import type { DeleteInput } from './before-delete.ts';
import { decideDelete } from './before-delete.ts';
import type { DeleteDecision } from './delete-decision.ts';
import type { DeleteOptions } from './delete-options.ts';
import { validateDeleteOptions } from './delete-options.ts';
import { failedPrecondition, storagePreconditionText } from './preconditions.ts';
import { replaceGarbageCollectionFinalizers } from './propagation.ts';

/** Namespaces that the cluster needs and that cannot be deleted (API-304). `kube-node-lease` is not among them. */
const PROTECTED: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/**
 * DELETE of a namespace. At first it only becomes Terminating, so that its content can be deleted; once `spec.finalizers` is empty, a
 * further DELETE is ordinary (API-301, 302, 304). Follows upstream `registry/core/namespace/storage`.
 */
export function decideNamespaceDelete(input: Omit<DeleteInput, 'grace'>): DeleteDecision {
  const { object, options, resource, now } = input;
  const invalid = validateDeleteOptions(options);
  if (invalid !== undefined) return { outcome: 'refuse', error: invalid, reason: 'invalidOptions' };
  const name = object.metadata?.name ?? '';
  const failed = failedPrecondition(object, options);
  if (failed !== undefined) {
    const error = newConflict(resource, name, storagePreconditionText(failed));
    return { outcome: 'refuse', error, reason: failed.field === 'uid' ? 'uidMismatch' : 'resourceVersionMismatch' };
  }
  if (PROTECTED.has(name)) {
    const error = newForbidden(resource, name, 'this namespace may not be deleted');
    return { outcome: 'refuse', error, reason: 'namespaceProtected' };
  }
  if (!isTerminating(object)) {
    return { outcome: 'update', object: terminating(object, options, now), reason: 'namespaceTerminating' };
  }
  if (hasNamespaceFinalizers(object)) return { outcome: 'unchanged', object, reason: 'namespaceContentRemains' };
  return decideDelete(input);
}

/** True while `spec.finalizers` is not empty, because content may be left (API-302, API-306). */
export function hasNamespaceFinalizers(namespace: KubeObject): boolean {
  const { finalizers } = (namespace['spec'] ?? {}) as { finalizers?: unknown };
  return Array.isArray(finalizers) && finalizers.length > 0;
}

function isTerminating(object: KubeObject): boolean {
  return Boolean(object.metadata?.deletionTimestamp);
}

/** Grace period and generation do not change here, unlike for all other kinds (API-301). */
function terminating(object: KubeObject, options: DeleteOptions, now: number): KubeObject {
  const held = object.metadata?.finalizers ?? [];
  const finalizers = replaceGarbageCollectionFinalizers(held, wantedFinalizers(held, options));
  const metadata: ObjectMeta = { ...object.metadata, deletionTimestamp: formatTime(now) };
  if (finalizers.length > 0) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;
  const status = (object['status'] ?? {}) as Record<string, unknown>;
  return { ...object, metadata, status: { ...status, phase: 'Terminating' } };
}

/** Unlike API-246, `orphanDependents: false` means foreground; with neither option each finalizer stays as it is. */
function wantedFinalizers(
  held: readonly string[],
  options: DeleteOptions,
): { readonly orphan: boolean; readonly foreground: boolean } {
  const { orphanDependents, propagationPolicy } = options;
  if (orphanDependents !== undefined) return { orphan: orphanDependents, foreground: !orphanDependents };
  if (propagationPolicy !== undefined) {
    return { orphan: propagationPolicy === 'Orphan', foreground: propagationPolicy === 'Foreground' };
  }
  return { orphan: held.includes(FINALIZER_ORPHAN), foreground: held.includes(FINALIZER_FOREGROUND) };
}
