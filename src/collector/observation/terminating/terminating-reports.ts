import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../../api/meta/object-meta.ts';
import type { BoundedLog } from '../../../base/logs/bounded-log.ts';
import { type Clock, sleepUnlessAborted } from '../../../base/time/clock.ts';
import { asError } from '../../../base/errors/thrown.ts';
import type { RestClient } from '../../../client/rest/rest-client.ts';
import type { Graph, NodeId } from '../../graph/graph.ts';
import { type HeldObject, readHolders } from '../../operations/read-holders.ts';
import type { Uid } from '../../types/identity.ts';
import { finalizerSetters } from './finalizer-setters.ts';
import { holdersOf } from './holder.ts';
import { objectName } from './object-name.ts';
import type { TerminatingObjects } from './terminating-objects.ts';

interface TerminatingReportsOptions {
  readonly client: RestClient;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly terminating: TerminatingObjects;
  readonly log: Pick<BoundedLog, 'info'>;
  /** Whether objects are reported now: false while another process leads. */
  readonly reports: () => boolean;
}

/** Interval between two passes over the terminating objects, ms. */
const EVERY_MS = 10_000;
/** Age at which a terminating object is reported, ms; and the factor by which its age grows before it is reported again. */
const REPORTED_AFTER_MS = 30_000;
const AGAIN_FACTOR = 10;
/** Maximum number of reports in one pass; each costs one GET. The objects that were first seen to terminate come first. */
const MOST_AT_ONCE = 20;
const EXAMPLES = 3;
/** Finalizers that the deletion itself set. */
const OWN_FINALIZERS: ReadonlySet<string> = new Set([FINALIZER_FOREGROUND, FINALIZER_ORPHAN]);

interface Report {
  readonly heldBy: string;
  readonly ageMs: number;
}

/**
 * Logs one line about each object that has terminated for 30 s: what holds it, since when, and who set its finalizers. Reports it again
 * when its holders change, and when it has terminated ten times as long. Bound: one entry for each object that terminates.
 */
export class TerminatingReports {
  readonly #options: TerminatingReportsOptions;
  #reported = new Map<Uid, Report>();

  constructor(options: TerminatingReportsOptions) {
    this.#options = options;
  }

  /** Runs until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, reports } = this.#options;
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, EVERY_MS, signal);
      if (!signal.aborted && reports()) await this.#look(signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { graph, terminating } = this.#options;
    const still = new Map<Uid, Report>();
    const due: Uid[] = [];
    terminating.forEach((id, uid) => {
      const last = this.#reported.get(uid);
      if (last !== undefined) still.set(uid, last);
      const ageMs = terminating.ageOf(uid);
      if (ageMs < REPORTED_AFTER_MS || due.length === MOST_AT_ONCE) return;
      const changed = last?.heldBy !== holdersOf(graph, id).join(', ');
      if (changed || ageMs >= last.ageMs * AGAIN_FACTOR) due.push(uid);
    });
    this.#reported = still;
    for (const uid of due) {
      if (signal.aborted) return;
      await this.#report(uid, signal);
    }
  }

  async #report(uid: Uid, signal: AbortSignal): Promise<void> {
    const { client, graph, terminating, log } = this.#options;
    const id = graph.find(uid);
    const resource = id < 0 ? undefined : graph.resourceAt(id);
    if (resource === undefined || !graph.isBeingDeleted(id)) return;
    const identity = graph.identityAt(id);
    const heldBy = holdersOf(graph, id).join(', ');
    const ageMs = terminating.ageOf(uid);
    const since = terminating.sinceOf(uid);
    const blocking = blockingNames(graph, id);
    const details = await readHolders({ client, signal }, { ...identity, resource }).then(
      (read) => (read.uid === uid ? detailsOf(read) : undefined),
      (error: unknown) => ({ unread: asError(error).message }),
    );
    if (signal.aborted) return;
    this.#reported.set(uid, { heldBy, ageMs });
    // Another object has this name by now.
    if (details === undefined) return;
    log.info('an object is held while it terminates', {
      object: objectName(identity),
      heldBy,
      ...(since === undefined ? {} : { since: new Date(since).toISOString().replace('.000Z', 'Z') }),
      seconds: Math.floor(ageMs / 1000),
      ...blocking,
      ...details,
      uid,
    });
  }
}

/** The number of dependents that block the deletion, and some of them. */
function blockingNames(graph: Graph, id: NodeId): { readonly blockedBy?: string } {
  const { count } = graph.blockingDependents(id);
  if (count === 0 || !graph.isDeletingDependents(id)) return {};
  const names: string[] = [];
  graph.forEachBlockingDependent(id, (dependent) => {
    names.push(objectName(graph.identityAt(dependent)));
    return names.length < EXAMPLES;
  });
  return {
    blockedBy: count > names.length ? `${names.join(', ')} and ${count - names.length} more` : names.join(', '),
  };
}

function detailsOf({ finalizers, managedFields, conditions }: HeldObject): Readonly<Record<string, string>> {
  const set = finalizerSetters(finalizers, managedFields).filter(({ finalizer }) => !OWN_FINALIZERS.has(finalizer));
  const remaining = remainingOf(conditions);
  return {
    ...(set.length === 0
      ? {}
      : {
          finalizers: set
            .map(({ finalizer, setBy = 'nobody in managedFields' }) => `${finalizer} set by ${setBy}`)
            .join('; '),
        }),
    ...(remaining === '' ? {} : { remaining }),
  };
}

/** The conditions of a Namespace that are true, in the words of the namespace controller. */
function remainingOf(conditions: unknown): string {
  if (!Array.isArray(conditions)) return '';
  return conditions
    .filter((condition) => condition?.status === 'True' && typeof condition.message === 'string')
    .map(({ type, message }) => `${type}: ${message}`)
    .join('; ');
}
