import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan, PlannedObject } from '../documents/cascade-plan.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { objectName } from '../preview/object-name.ts';
import { readPresent } from '../snapshot/read-present.ts';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2000;

/** An object that is still there. */
export interface Remaining {
  readonly ref: ObjectReference;
  readonly terminating: boolean;
  readonly finalizers: readonly string[];
  /** Grace period in seconds that its node has. */
  readonly graceSeconds?: number;
}

export interface CascadeProgress {
  readonly done: number;
  readonly total: number;
  /** The first object that the wait still needs to see gone. */
  readonly waitsFor: Remaining | undefined;
}

export interface AwaitOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Monotonic milliseconds of the clock at which the wait is over; without it, the wait has no limit. */
  readonly deadline?: number | undefined;
  readonly onProgress?: (progress: CascadeProgress) => void;
}

/** The end of a cascade, compared with its plan. */
export interface CascadeEnd {
  readonly end: 'asPlanned' | 'different' | 'timedOut' | 'interrupted';
  /** Objects that should be gone and are not. */
  readonly remaining: readonly Remaining[];
  /** One sentence for each difference from the plan. */
  readonly differences: readonly string[];
}

/** True if the plan says that the object will be deleted. */
export function isToGo({ outcome, sequence }: PlannedObject): boolean {
  return outcome === 'deleted' || (outcome === 'waits' && sequence !== undefined);
}

/** Waits until all objects that the plan deletes are gone, then compares the rest with the plan (CAS-050). Never throws for an abort. */
export async function awaitCascade({ objects }: CascadePlan, options: AwaitOptions): Promise<CascadeEnd> {
  const { client, clock, signal, deadline = Number.POSITIVE_INFINITY, onProgress } = options;
  const toGo = objects.filter(isToGo);
  let remaining: Remaining[] = [];
  let left: readonly ObjectReference[] = toGo.map(({ ref }) => ref);
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      remaining = await stillThere(client, left, signal);
      left = remaining.map(({ ref }) => ref);
      onProgress?.({ done: toGo.length - left.length, total: toGo.length, waitsFor: remaining[0] });
      if (left.length === 0) break;
      if (clock.monotonic() >= deadline) return { end: 'timedOut', remaining, differences: remaining.map(sentenceOf) };
      await sleep(clock, pause, signal);
    }
    const toStay = objects.filter((object) => object.outcome === 'kept' || object.outcome === 'orphaned');
    const stayed = new Set(
      (
        await stillThere(
          client,
          toStay.map(({ ref }) => ref),
          signal,
        )
      ).map(({ ref }) => ref.uid),
    );
    const differences = toStay
      .filter(({ ref }) => !stayed.has(ref.uid))
      .map(({ ref, outcome }) => `${objectName(ref)} is gone, and was to be ${outcome}`);
    return { end: differences.length === 0 ? 'asPlanned' : 'different', remaining: [], differences };
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    return { end: 'interrupted', remaining, differences: [] };
  }
}

/** One sentence about an object that should be gone. */
export function sentenceOf({ ref, terminating, finalizers, graceSeconds }: Remaining): string {
  const name = objectName(ref);
  if (!terminating) return `${name} is not being deleted yet`;
  if (finalizers.length > 0) return `${name} waits for finalizer ${finalizers.join(', ')}`;
  return graceSeconds === undefined ? `${name} is terminating` : `${name} is shutting down (grace ${graceSeconds}s)`;
}

/** Returns those of the objects that still exist. */
export async function stillThere(
  client: RestClient,
  refs: readonly ObjectReference[],
  signal: AbortSignal | undefined,
): Promise<Remaining[]> {
  const present = await readPresent(client, refs, signal);
  return present.map(({ ref, metadata }) => remainingOf(ref, metadata));
}

function remainingOf(ref: ObjectReference, metadata: ObjectMeta): Remaining {
  const grace = metadata.deletionGracePeriodSeconds ?? 0;
  return {
    ref,
    terminating: Boolean(metadata.deletionTimestamp),
    finalizers: metadata.finalizers ?? [],
    ...(grace > 0 ? { graceSeconds: grace } : {}),
  };
}
