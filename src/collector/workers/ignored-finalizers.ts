import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type ObjectMeta } from '../../api/meta/object-meta.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { sleep } from '../../base/time/clock.ts';
import { elementsOf } from '../../client/codec/decode-list.ts';
import type { RemoveFinalizerAction } from '../decide/actions.ts';
import { afterRemoveFinalizer } from '../decide/after-remove-finalizer.ts';
import type { Target } from '../decide/target.ts';
import { listMetadata } from '../operations/list-metadata.ts';
import { removeFinalizer } from '../operations/remove-finalizer.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import { type Reason, sentenceOf } from '../types/reasons.ts';
import { acceptedAs, tellPatch } from './accepted-writes.ts';
import type { CollectorContext } from './collector-context.ts';
import { failedWriteFields } from './failed-write.ts';
import type { OrphanWorkerOptions } from './orphan-worker.ts';

interface IgnoredFinalizersOptions extends OrphanWorkerOptions {
  /** The resources that this collector is configured to ignore and that the server serves now. */
  readonly resources: () => readonly OfferedResource[];
  readonly periodMs: number;
  /** Runs the work as soon as this process may act. */
  readonly whenLeading: (work: () => Promise<void>) => Promise<unknown>;
}

/** Why every finalizer here is removed. */
const DECIDED = 'ignoredResource' satisfies Reason;

/** Objects of one resource that one pass settles. The next pass begins with the object after the last of them. */
const MAX_OBJECTS = 1000;

interface Waiting {
  readonly target: Target;
  readonly finalizer: RemoveFinalizerAction['finalizer'];
}

/**
 * BETTER-22: removes the finalizers of deleted objects of ignored resources. Nobody watches an ignored resource, so an object of it that is
 * deleted in foreground or with Orphan would keep its finalizer for ever. Lists find such objects, one resource after the other. With
 * Orphan, the dependents are released before the finalizer is removed.
 */
export class IgnoredFinalizers {
  readonly #context: CollectorContext;
  readonly #options: IgnoredFinalizersOptions;
  /**
   * The place where the last pass ended, by resource. Objects that cannot be settled must not keep the others from their turn. Bounded by
   * the ignored resources, in their versions.
   */
  readonly #endedAt = new Map<string, string>();

  constructor(context: CollectorContext, options: IgnoredFinalizersOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Resolves when aborted. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.#options.whenLeading(() => this.#lookSafely());
        await sleep(this.#context.clock, this.#options.periodMs, signal);
      }
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
  }

  /** An error of this program ends only this pass (COL-156). */
  async #lookSafely(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      this.#context.logger.error('the pass over ignored resources failed unexpectedly', { error });
    }
  }

  async #look(): Promise<void> {
    for (const resource of this.#options.resources()) {
      const key = resourceKey(resource);
      const waiting = new Turn(this.#endedAt.get(key));
      const visit = (metadata: ObjectMeta): void => {
        const finalizer = finalizerOf(metadata);
        if (finalizer !== undefined) waiting.add({ target: targetOf(resource, metadata), finalizer });
      };
      const list = await listMetadata(this.#context, { gvr: resource }, { visit, accept: () => true });
      if (list.end === 'failed') {
        const fields = { resource: key, error: list.error.message };
        this.#context.failures.warn('an ignored resource could not be listed', fields);
      }
      for (const { target, finalizer } of waiting.taken()) {
        if (this.#context.stopping.aborted) return;
        this.#endedAt.set(key, placeOf(target));
        await this.#letGo(target, finalizer);
      }
    }
  }

  async #letGo(target: Target, finalizer: RemoveFinalizerAction['finalizer']): Promise<void> {
    const { metrics, logger, failures, onDecision, signal } = this.#context;
    if (finalizer === FINALIZER_ORPHAN) {
      if (!(await this.#releaseDependents(target))) return;
      if ((await this.#options.records.record(target, signal)) === 'termEnded') return;
    }
    const action: RemoveFinalizerAction = { action: 'removeFinalizer', target, finalizer, known: undefined };
    const answer = await removeFinalizer(this.#context, action);
    const after = afterRemoveFinalizer(answer.answer);
    const { verdict } = after;
    const reason = verdict === 'requeue' ? after.reason : DECIDED;
    const answered = after.reason === 'patchAccepted' ? acceptedAs(answer, 'finalizerAlreadyRemoved') : after.reason;
    metrics.decisions.inc({ verdict, reason });
    if (verdict === 'requeue') {
      const fields = { ...failedWriteFields(action), error: answer.error?.message, decided: DECIDED, reason };
      failures.warn('write failed, will retry', fields);
    } else {
      tellPatch(this.#context, { target, change: finalizer }, { reason: DECIDED, answered });
    }
    const { apiVersion, kind, namespace, name, uid } = target;
    logger.debug(sentenceOf(reason), { uid, verdict, reason });
    const identity = { apiVersion, kind, namespace, name, uid };
    const results = [{ action, answered }];
    const about = { uid, identity, queuedFor: undefined };
    onDecision?.({ ...about, verdict, reason, actions: [action], decided: DECIDED, results });
  }

  /** Resolves to false if the owner must keep its finalizer this time. */
  async #releaseDependents(owner: Target): Promise<boolean> {
    const { release, barrier } = this.#options;
    const { graph } = this.#context;
    if ((await release.known(owner.uid, graph.dependents(owner.uid))) === 'failed') return false;
    const answer = await barrier?.ask(owner);
    // The lists were interrupted, or it is too late for their results.
    if (this.#context.signal.aborted) return false;
    return typeof answer !== 'object' || (await release.found(owner.uid, answer.found)) === 'all';
  }
}

/**
 * Takes the next objects of a list, ordered by namespace and name. Most servers list in this order, but nothing here depends on that. The
 * objects after the place where the last pass ended come first, then those from the beginning. Holds at most twice as many as are taken.
 */
class Turn {
  readonly #after: string;
  readonly #waiting: { readonly place: string; readonly object: Waiting }[] = [];

  constructor(endedAt = '') {
    this.#after = endedAt;
  }

  add(object: Waiting): void {
    this.#waiting.push({ place: placeOf(object.target), object });
    if (this.#waiting.length >= 2 * MAX_OBJECTS) this.#cut();
  }

  taken(): Waiting[] {
    this.#cut();
    return this.#waiting.map(({ object }) => object);
  }

  #cut(): void {
    const passed = (place: string): number => Number(place <= this.#after);
    this.#waiting.sort((a, b) => passed(a.place) - passed(b.place) || compare(a.place, b.place));
    this.#waiting.length = Math.min(this.#waiting.length, MAX_OBJECTS);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function placeOf({ namespace, name }: Target): string {
  return `${namespace}/${name}`;
}

function finalizerOf({
  deletionTimestamp,
  finalizers: listed,
}: ObjectMeta): RemoveFinalizerAction['finalizer'] | undefined {
  if ((deletionTimestamp ?? null) === null) return undefined;
  const finalizers = elementsOf(listed, 'metadata.finalizers');
  if (finalizers.includes(FINALIZER_ORPHAN)) return FINALIZER_ORPHAN;
  return finalizers.includes(FINALIZER_FOREGROUND) ? FINALIZER_FOREGROUND : undefined;
}

function targetOf(resource: OfferedResource, { name = '', namespace = '', uid = '' }: ObjectMeta): Target {
  const { kind, resource: plural } = resource;
  return { apiVersion: apiVersionOf(resource), kind, resource: plural, namespace, name, uid };
}
