import type { ResourceInfo } from '../kinds/resource-info.ts';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../meta/object-meta.ts';
import { formatTime, parseTime } from '../meta/time.ts';
import type { DeleteDecision } from './delete-decision.ts';
import type { DeleteOptions } from './delete-options.ts';
import { isDryRun, validateDeleteOptions } from './delete-options.ts';
import type { GraceRule } from './pod-grace.ts';
import { failedPrecondition, preconditionConflict } from './preconditions.ts';
import { nextFinalizers } from './propagation.ts';
import type { DeleteReason } from './reasons.ts';

export type { DeleteDecision } from './delete-decision.ts';

export interface DeleteInput {
  /** The stored object, with uid and resourceVersion. */
  readonly object: KubeObject;
  readonly options: DeleteOptions;
  readonly resource: ResourceInfo;
  /** Absent for types without graceful deletion, which are all but pods. */
  readonly grace?: GraceRule;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Decides a DELETE of one object (API-243): options, preconditions, grace, finalizers of garbage collection, then whether the object stays.
 * Follows apiserver `rest.BeforeDelete` and `registry.Store.Delete`. Pure and total: a refusal is a value too. Admission runs between this
 * decision and the write, in the caller.
 */
export function decideDelete(input: DeleteInput): DeleteDecision {
  const { object, options, resource } = input;
  const invalid = validateDeleteOptions(options);
  if (invalid !== undefined) return { outcome: 'refuse', error: invalid, reason: 'invalidOptions' };
  const failed = failedPrecondition(object, options);
  if (failed !== undefined) {
    const error = preconditionConflict(failed, resource, object.metadata?.name ?? '');
    return { outcome: 'refuse', error, reason: failed.field === 'uid' ? 'uidMismatch' : 'resourceVersionMismatch' };
  }
  const step = graceStep(input);
  if (step.grace === 'pending') return { outcome: 'unchanged', object, reason: 'gracePeriodNotShorter' };
  const finalizers = nextFinalizers({
    finalizers: object.metadata?.finalizers ?? [],
    options,
    defaultPropagation: resource.defaultPropagation,
  });
  return step.grace === 'set' ? decideGraceful(input, step, finalizers) : decideImmediate(input, finalizers);
}

type GraceStep =
  /** The type is not graceful, or the grace period is over. */
  | { readonly grace: 'none' }
  /** The object is already shutting down, and this request does not shorten the grace period. */
  | { readonly grace: 'pending' }
  | { readonly grace: 'set'; readonly first: boolean; readonly deadline: number; readonly seconds: number };

/** The state of the object's grace period (API-253, API-310..313). */
function graceStep({ object, options, grace, now }: DeleteInput): GraceStep {
  if (grace === undefined) return { grace: 'none' };
  const requested = atLeastOneIfNegative(options.gracePeriodSeconds);
  const deadline = deletionTime(object.metadata);
  if (deadline === undefined) {
    const seconds = grace(object, requested);
    return {
      grace: 'set',
      first: true,
      deadline: now + milliseconds(seconds),
      seconds: Math.min(seconds, Number.MAX_SAFE_INTEGER),
    };
  }
  const current = atLeastOneIfNegative(object.metadata?.deletionGracePeriodSeconds ?? 0);
  if (current === 0) return { grace: 'none' };
  if (requested === undefined || requested >= current) return { grace: 'pending' };
  const earlier = deadline + milliseconds(requested - current);
  if (earlier >= now) return { grace: 'set', first: false, deadline: earlier, seconds: requested };
  // The requested time has already passed. One second keeps the deletion graceful, because the program that runs the object must complete
  // it, not this request.
  return { grace: 'set', first: false, deadline: now, seconds: requested === 0 ? 0 : 1 };
}

/** Seconds as a Go duration, which wraps after 292 years; so a deadline is always a time that can be written. */
function milliseconds(seconds: number): number {
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

function atLeastOneIfNegative<T extends number | undefined>(seconds: T): T | number {
  return seconds !== undefined && seconds < 0 ? 1 : seconds;
}

function decideGraceful(
  { object }: DeleteInput,
  step: Extract<GraceStep, { grace: 'set' }>,
  finalizers: readonly string[],
): DeleteDecision {
  const next = withMetadata(object, finalizers, {
    deletionTimestamp: formatTime(step.deadline),
    deletionGracePeriodSeconds: step.seconds,
    ...(step.first ? bumpedGeneration(object) : {}),
  });
  if (finalizers.length > 0 && step.seconds === 0) {
    return { outcome: 'update', object: next, reason: 'gracePeriodWaived' };
  }
  if (step.seconds > 0) {
    return { outcome: 'update', object: next, reason: step.first ? 'gracePeriodStarted' : 'gracePeriodShortened' };
  }
  return { outcome: 'remove', object: next, answer: 'removedObject', reason: 'gracePeriodZero' };
}

/** Without grace, the object is removed unless a finalizer holds it (API-249, API-250, API-252). */
function decideImmediate({ object, options, now }: DeleteInput, finalizers: readonly string[]): DeleteDecision {
  const held = object.metadata?.finalizers ?? [];
  if (finalizers.length === 0) {
    // The empty object (API-257), because upstream answers a dry run with the result of an update that it never made.
    const answer = isDryRun(options) && held.length > 0 ? 'emptyObject' : 'removedObject';
    const reason = held.length > 0 ? 'garbageCollectionFinalizersDropped' : 'noFinalizers';
    return { outcome: 'remove', object, answer, reason };
  }
  const deadline = deletionTime(object.metadata);
  const first = deadline === undefined;
  const due = first || deadline > now;
  const switched = finalizers !== held;
  if (!due && !switched && object.metadata?.deletionGracePeriodSeconds === 0) {
    return { outcome: 'unchanged', object, reason: 'alreadyTerminating' };
  }
  const next = withMetadata(object, finalizers, {
    ...(due ? { deletionTimestamp: formatTime(now) } : {}),
    deletionGracePeriodSeconds: 0,
    ...(first ? bumpedGeneration(object) : {}),
  });
  const reason: DeleteReason = first
    ? waitingFor(finalizers)
    : switched
      ? 'policySwitched'
      : due
        ? 'deletionTimestampReached'
        : 'gracePeriodWaived';
  return { outcome: 'update', object: next, reason };
}

function waitingFor(finalizers: readonly string[]): DeleteReason {
  if (finalizers.includes(FINALIZER_ORPHAN)) return 'waitsForOrphaning';
  if (finalizers.includes(FINALIZER_FOREGROUND)) return 'waitsForDependents';
  return 'waitsForFinalizers';
}

/** Epoch ms of deletionTimestamp; undefined while the object lives. */
function deletionTime(meta: ObjectMeta | undefined): number | undefined {
  const text = meta?.deletionTimestamp;
  if (text === undefined || text === null || text === '') return undefined;
  // An unreadable timestamp counts as long past.
  return parseTime(text) ?? 0;
}

/** The spec no longer changes, but controllers must process the object again (API-075). */
function bumpedGeneration(object: KubeObject): Pick<ObjectMeta, 'generation'> {
  // In the snapshot of another cluster it may be an integer of 64 bits.
  const generation = Number(object.metadata?.generation ?? 0);
  return generation > 0 ? { generation: generation + 1 } : {};
}

function withMetadata(object: KubeObject, finalizers: readonly string[], changes: Partial<ObjectMeta>): KubeObject {
  const metadata: ObjectMeta = { ...object.metadata, ...changes };
  if (finalizers.length > 0) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;
  return { ...object, metadata };
}
