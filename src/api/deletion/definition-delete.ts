import { type Condition, withCondition } from '../meta/conditions.ts';
import type { KubeObject } from '../meta/object-meta.ts';
import { formatTime } from '../meta/time.ts';
import { newConflict } from '../status-error.ts';
import type { DeleteInput } from './before-delete.ts';
import { decideDelete } from './before-delete.ts';
import type { DeleteDecision } from './delete-decision.ts';
import { validateDeleteOptions } from './delete-options.ts';
import { failedPrecondition } from './preconditions.ts';

/** This finalizer holds a CustomResourceDefinition until its objects are deleted. */
export const CUSTOM_RESOURCE_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/**
 * DELETE of a CustomResourceDefinition. The first DELETE only marks it, so that its objects can be deleted, and ignores the propagation
 * policy (API-456). A further one is ordinary. Follows apiextensions `registry/customresourcedefinition/etcd.go`.
 */
export function decideDefinitionDelete(input: DeleteInput): DeleteDecision {
  const { object, options, resource, now } = input;
  const invalid = validateDeleteOptions(options);
  if (invalid !== undefined) return { outcome: 'refuse', error: invalid, reason: 'invalidOptions' };
  const name = object.metadata?.name ?? '';
  const failed = failedPrecondition(object, options);
  if (failed !== undefined) {
    const what = failed.field === 'uid' ? 'UID' : 'ResourceVersion';
    const why = `precondition failed: ${what} in precondition: ${failed.wanted}, ${what} in object meta: ${failed.found}`;
    const error = newConflict(resource, name, why);
    return { outcome: 'refuse', error, reason: failed.field === 'uid' ? 'uidMismatch' : 'resourceVersionMismatch' };
  }
  if (object.metadata?.deletionTimestamp) return decideDelete(input);
  return { outcome: 'update', object: terminating(object, now), reason: 'definitionTerminating' };
}

/** Grace period and generation do not change here. */
function terminating(definition: KubeObject, now: number): KubeObject {
  const held = definition.metadata?.finalizers ?? [];
  const finalizers = held.includes(CUSTOM_RESOURCE_CLEANUP) ? held : [...held, CUSTOM_RESOURCE_CLEANUP];
  const status = (definition['status'] ?? {}) as { conditions?: readonly Condition[] | null };
  const conditions = withCondition(
    status.conditions,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
  return {
    ...definition,
    metadata: { ...definition.metadata, deletionTimestamp: formatTime(now), finalizers: [...finalizers] },
    status: { ...status, conditions },
  };
}
