import type { Condition } from '../../api/meta/conditions.ts';
import { findCondition, withCondition } from '../../api/meta/conditions.ts';
import { CUSTOM_RESOURCE_CLEANUP } from '../../api/deletion/definition-delete.ts';
import { type Definition, isEstablished } from './definition.ts';

export interface FinalizerFacts {
  /** `unknown` means that the objects have not been deleted yet. */
  readonly instances: 'unknown' | 'gone';
  /** The names are those of a built-in resource, whose objects the definition must not delete. */
  readonly overlap: 'builtin' | 'none';
}

export type FinalizerStep =
  | { readonly step: 'none' }
  /** Write this state; without finalizers, that removes the definition. */
  | { readonly step: 'write'; readonly next: Definition }
  | { readonly step: 'deleteInstances' };

/**
 * The next step for a definition that is being deleted: set the condition, delete its objects, remove the finalizer (API-456; apiextensions
 * `controller/finalizer/crd_finalizer.go`). `now` in epoch ms.
 */
export function decideFinalizer(definition: Definition, facts: FinalizerFacts, now: number): FinalizerStep {
  const { metadata, status } = definition;
  if (!metadata?.deletionTimestamp || metadata.finalizers?.includes(CUSTOM_RESOURCE_CLEANUP) !== true) {
    return { step: 'none' };
  }
  const terminating = findCondition(status.conditions, 'Terminating');
  if (facts.overlap === 'builtin') return { step: 'write', next: released(definition, OVERLAPPING, now) };
  if (!mayHaveObjects(definition)) return { step: 'write', next: released(definition, NEVER_ESTABLISHED, now) };
  if (facts.instances === 'gone') return { step: 'write', next: released(definition, COMPLETED, now) };
  if (terminating?.status === 'True' && terminating.reason === IN_PROGRESS.reason) return { step: 'deleteInstances' };
  return { step: 'write', next: withTerminating(definition, IN_PROGRESS, now) };
}

/** A definition that waits for a valid caBundle is served. */
function mayHaveObjects(definition: Definition): boolean {
  const waiting = findCondition(definition.status.conditions, 'Established')?.reason === 'InvalidCABundle';
  return waiting || isEstablished(definition);
}

/** The condition after a failure to delete the objects. The deletion is retried. */
export function withDeletionFailure(definition: Definition, error: string, now: number): Definition {
  const message = `could not issue all deletes: ${error}`;
  return withTerminating(
    definition,
    { type: 'Terminating', status: 'True', reason: 'InstanceDeletionFailed', message },
    now,
  );
}

const condition = (status: Condition['status'], reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const IN_PROGRESS = condition('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const COMPLETED = condition('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER_ESTABLISHED = condition('False', 'NeverEstablished', 'resource was never established');
const OVERLAPPING = condition(
  'False',
  'OverlappingBuiltInResource',
  'instances overlap with built-in resources in storage',
);

function withTerminating(definition: Definition, terminating: Condition, now: number): Definition {
  const conditions = withCondition(definition.status.conditions, terminating, now);
  return { ...definition, status: { ...definition.status, conditions } };
}

function released(definition: Definition, terminating: Condition, now: number): Definition {
  const next = withTerminating(definition, terminating, now);
  const { finalizers = [], ...metadata } = next.metadata ?? {};
  const rest = finalizers.filter((finalizer) => finalizer !== CUSTOM_RESOURCE_CLEANUP);
  return { ...next, metadata: rest.length === 0 ? metadata : { ...metadata, finalizers: rest } };
}
