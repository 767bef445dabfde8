import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { linkSignals } from '../../base/time/abort.ts';
import type { BoundedLog } from '../../base/logs/bounded-log.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { elementsOf } from '../../client/codec/decode-list.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { OrphanFacts } from '../decide/orphan-step.ts';
import type { Target } from '../decide/target.ts';
import type { Uid } from '../types/identity.ts';
import { listMetadata, type ListOutcome } from '../operations/list-metadata.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';

interface OrphanBarrierOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  /** The resources that dependents can be of: the monitored ones, at this moment. */
  readonly resources: () => readonly OfferedResource[];
  /** Aborts the requests under way. */
  readonly signal: () => AbortSignal;
  /** Maximum time that an owner waits for its lists, ms; 2 s. Then it is deleted as in Kubernetes (COL-127). */
  readonly timeoutMs?: number;
  /** Logs the resources that could not be searched. */
  readonly failures: Pick<BoundedLog, 'warn'>;
}

export type BarrierAnswer = Exclude<OrphanFacts['barrier'], 'unasked'>;

const TIMEOUT_MS = 2000;
/** Maximum number of objects in all lists for one place. */
const MAX_OBJECTS = 10_000;
/** Maximum number of resources in one line of the log. */
const MAX_NAMED = 20;
/** Maximum number of concurrent lists. */
const PARALLEL = 10;

/** The lists of one place. They answer for every owner that has joined before they begin. */
interface Sweep {
  readonly owners: Set<Uid>;
  readonly found: Map<Uid, Target[]>;
  readonly done: Promise<'complete' | 'incomplete'>;
}

/**
 * BETTER-13: searches for dependents that the graph does not know yet, with fresh lists that begin after the deletion was seen. The
 * dependents of a namespaced owner are in its namespace, so that only this is listed. Those of a cluster-scoped owner may be anywhere.
 * Owners of one place that join while its lists are under way share the next ones, however many they are.
 */
export class OrphanBarrier {
  readonly #options: OrphanBarrierOptions;
  readonly #timeoutMs: number;
  /** By namespace, empty for the whole cluster: the lists under way, and those that begin after them. */
  readonly #running = new Map<string, Sweep>();
  readonly #next = new Map<string, Sweep>();

  constructor(options: OrphanBarrierOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  /** Finds the other objects that refer to the owner. `gaveUp`: the lists took too long, or had too many objects. */
  async ask({ uid, namespace }: Target): Promise<BarrierAnswer> {
    const sweep = this.#join(namespace);
    sweep.owners.add(uid);
    const outcome = await this.#within(sweep.done);
    const found = sweep.found.get(uid);
    // The found dependents are real, whether or not there may be more.
    if (found !== undefined) return outcome === 'complete' ? { found } : { found, incomplete: true };
    return outcome === 'complete' ? 'clear' : 'gaveUp';
  }

  #join(place: string): Sweep {
    const waiting = this.#next.get(place);
    if (waiting !== undefined) return waiting;
    const owners = new Set<Uid>();
    const found = new Map<Uid, Target[]>();
    const before = this.#running.get(place)?.done;
    const sweep: Sweep = { owners, found, done: this.#begin(place, before, { owners, found }) };
    this.#next.set(place, sweep);
    return sweep;
  }

  async #begin(
    place: string,
    before: Promise<unknown> | undefined,
    { owners, found }: Pick<Sweep, 'owners' | 'found'>,
  ): Promise<'complete' | 'incomplete'> {
    // Begins one turn later even if no list is under way, so that the sweep is registered before it starts.
    await before?.catch(() => undefined);
    await Promise.resolve();
    const self = this.#next.get(place);
    this.#next.delete(place);
    if (self !== undefined) this.#running.set(place, self);
    try {
      return await this.#listAll(place, (metadata, resource) => note(metadata, resource, { owners, found }));
    } finally {
      if (this.#running.get(place) === self) this.#running.delete(place);
    }
  }

  async #listAll(
    place: string,
    visit: (metadata: ObjectMeta, resource: OfferedResource) => void,
  ): Promise<'complete' | 'incomplete'> {
    const { client, clock, resources, signal } = this.#options;
    const stopping = signal();
    using lists = linkSignals(stopping);
    // No owner waits longer than this.
    const overdue = clock.setTimer(this.#timeoutMs, () => lists.abort());
    const unlisted = new Map<string, string>();
    /** By resource: the number of its objects, as far as its lists have shown it. */
    const sizes = new Map<string, number>();
    let objects = 0;
    let tooMany = false;
    const parallel = new Semaphore({ permits: PARALLEL });
    try {
      const wanted = resources().filter(({ namespaced }) => place === '' || namespaced);
      await Promise.all(
        wanted.map((resource) =>
          parallel.use(async () => {
            const ref = { gvr: resource, ...(place === '' ? {} : { namespace: place }) };
            const key = resourceKey(resource);
            let visited = 0;
            const accept = (more: number): boolean => {
              sizes.set(key, visited + more);
              return objects + more <= MAX_OBJECTS;
            };
            const count = (metadata: ObjectMeta): void => {
              objects++;
              visited++;
              visit(metadata, resource);
            };
            const list = await listMetadata({ client, signal: lists.signal }, ref, { accept, visit: count });
            if (list.end !== 'complete') unlisted.set(key, this.#whyNot(list, lists.signal));
            if (list.end === 'stopped') tooMany = true;
          }),
        ),
      );
    } finally {
      overdue.cancel();
    }
    if (unlisted.size > 0 && !stopping.aborted) this.#tellOf(unlisted, tooMany ? sizes : undefined, place);
    return unlisted.size === 0 ? 'complete' : 'incomplete';
  }

  /**
   * Logs which resources were not searched (LIFE-563). `sizes` is given if there were too many objects altogether: the list that exceeded
   * the limit may not be the largest one.
   */
  #tellOf(unlisted: ReadonlyMap<string, string>, sizes: ReadonlyMap<string, number> | undefined, place: string): void {
    const named = Object.fromEntries([...unlisted].slice(0, MAX_NAMED));
    const more = unlisted.size > MAX_NAMED ? { more: unlisted.size - MAX_NAMED } : {};
    const where = place === '' ? {} : { namespace: place };
    const objects = sizes === undefined ? {} : { objects: largest(sizes) };
    const message = 'late dependents of orphaned owners were not looked for in some resources';
    this.#options.failures.warn(message, { ...where, unlisted: named, ...more, ...objects });
  }

  /** Why a list is not complete. */
  #whyNot(list: ListOutcome, { aborted }: AbortSignal): string {
    if (list.end !== 'failed') return `altogether more than ${MAX_OBJECTS} objects`;
    return aborted ? `no answer within ${this.#timeoutMs} ms` : list.error.message;
  }

  /** The outcome of the lists, or `incomplete` if the time is over first. */
  #within(done: Sweep['done']): Promise<'complete' | 'incomplete'> {
    return new Promise((resolve, reject) => {
      const overdue = this.#options.clock.setTimer(this.#timeoutMs, () => resolve('incomplete'));
      done.then(resolve, reject).finally(() => overdue.cancel());
    });
  }
}

function largest(sizes: ReadonlyMap<string, number>): Record<string, number> {
  const sorted = [...sizes].filter(([, size]) => size > 0).toSorted(([, a], [, b]) => b - a);
  return Object.fromEntries(sorted.slice(0, MAX_NAMED));
}

function note(
  { name, namespace = '', uid, ownerReferences }: ObjectMeta,
  resource: OfferedResource,
  { owners, found }: Pick<Sweep, 'owners' | 'found'>,
): void {
  if (name === undefined || uid === undefined) return;
  const references = elementsOf(ownerReferences, `ownerReferences of ${resource.resource} "${name}"`);
  for (const owner of new Set(references.map((reference) => reference.uid))) {
    // If an object refers to itself, its reference is deleted with it.
    if (!owners.has(owner) || owner === uid) continue;
    const { kind, resource: plural } = resource;
    const target: Target = { apiVersion: apiVersionOf(resource), kind, resource: plural, namespace, name, uid };
    const known = found.get(owner);
    if (known === undefined) found.set(owner, [target]);
    else known.push(target);
  }
}
