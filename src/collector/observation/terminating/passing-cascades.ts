import type { BoundedLog } from '../../../base/logs/bounded-log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { ApplyOutcome } from '../../graph/effect.ts';
import type { Graph, NodeId } from '../../graph/graph.ts';
import type { OwnershipGraph } from '../../graph/ownership-graph.ts';
import type { GraphEvent, MonitoredResource } from '../../types/event.ts';
import type { Uid } from '../../types/identity.ts';
import { type ObjectColumns, ownerUidsOfColumns, uidOfColumns } from '../../types/object-columns.ts';
import { isNamespace } from '../../types/namespaces.ts';
import { objectName } from './object-name.ts';

interface PassingCascadesOptions {
  readonly graph: Graph & Pick<OwnershipGraph, 'isReferredTo'>;
  readonly clock: Clock;
  readonly log: Pick<BoundedLog, 'info'>;
  /** Whether lines are logged now: false while another process leads. */
  readonly logs: () => boolean;
}

/** The policy that a cascade follows; `Namespace` for objects that are deleted with their namespace. */
type Policy = 'Background' | 'Foreground' | 'Orphan' | 'Namespace';

interface Cascade {
  readonly root: Uid;
  readonly name: string;
  readonly policy: Policy;
  /** Name of the namespace that is emptied; undefined for other policies. */
  readonly namespace: string | undefined;
  /** Dependents of the root when its deletion with policy Orphan began. */
  readonly orphans: number;
  readonly began: number;
  /** The owners that belong to this cascade: the keys of `#owners` with this cascade. */
  readonly owners: Set<Uid>;
  rootGone: boolean;
  deleted: number;
  last: number;
}

/** A cascade has passed if its root is gone and nothing in it changed for this time, ms. */
const IDLE_MS = 5000;
/**
 * Maximum numbers of cascades, of owners in all of them, and of owners of which a dependent was deleted first. Beyond them, the oldest are
 * forgotten.
 */
const MOST_CASCADES = 1000;
const MOST_OWNERS = 100_000;
const MOST_EARLY = 10_000;

/**
 * Follows the cascades of all clients in the events of all monitors, and logs one line when a cascade has passed. An object belongs to the
 * cascade of its owner, or else of its namespace. Objects that a relist no longer shows are not counted.
 */
export class PassingCascades {
  readonly #options: PassingCascadesOptions;
  readonly #cascades = new Set<Cascade>();
  /** The cascade to which each owner belongs. */
  readonly #owners = new Map<Uid, Cascade>();
  readonly #namespaces = new Map<string, Cascade>();
  /** Owners that were not known to be deleted when their dependent was deleted, because watches of two resources are not in step. */
  readonly #early = new Map<Uid, { count: number; readonly at: number }>();
  #timer: Timer | undefined;

  constructor(options: PassingCascadesOptions) {
    this.#options = options;
  }

  /** Applies an event of a monitor, and adds it to its cascade. */
  take(event: GraphEvent, apply: (event: GraphEvent) => ApplyOutcome): ApplyOutcome {
    if (event.type === 'deletedColumns') {
      const dependents = this.#options.graph.isReferredTo(event.columns);
      const outcome = apply(event);
      this.#gone(event.resource, event.columns, dependents);
      return outcome;
    }
    if (event.type !== 'observedColumns' || !event.columns.deleting) return apply(event);
    const before = this.#options.graph.find(uidOfColumns(event.columns));
    const begins = before < 0 || !this.#options.graph.isBeingDeleted(before);
    const outcome = apply(event);
    if (begins) this.#begins(event.resource, event.columns);
    return outcome;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #begins(resource: MonitoredResource, columns: ObjectColumns): void {
    const { graph } = this.#options;
    const uid = uidOfColumns(columns);
    const id = graph.find(uid);
    const isOfNamespace = isNamespace(resource);
    if (id < 0 || (!isOfNamespace && !graph.hasDependents(id))) return;
    const above = this.#above(columns);
    if (above !== undefined) return this.#join(uid, above);
    const policy = isOfNamespace ? 'Namespace' : policyOf(columns);
    this.#start({ uid, resource, columns, policy, orphans: policy === 'Orphan' ? dependentsOf(graph, id) : 0 });
  }

  #gone(resource: MonitoredResource, columns: ObjectColumns, dependents: boolean): void {
    const uid = uidOfColumns(columns);
    let cascade = this.#owners.get(uid) ?? this.#above(columns);
    if (cascade === undefined) {
      if (!dependents) return this.#wentEarly(columns);
      cascade = this.#start({ uid, resource, columns, policy: 'Background', orphans: 0 });
    }
    if (cascade.root === uid) cascade.rootGone = true;
    else {
      cascade.deleted++;
      if (dependents) this.#join(uid, cascade);
    }
    this.#touch(cascade);
  }

  /** The cascade of one of the owners, or of the namespace. */
  #above(columns: ObjectColumns): Cascade | undefined {
    if (this.#cascades.size === 0) return undefined;
    for (const owner of ownersOf(columns)) {
      const cascade = this.#owners.get(owner);
      if (cascade !== undefined) return cascade;
    }
    if (this.#namespaces.size === 0) return undefined;
    return this.#namespaces.get(textOf(columns, columns.namespaceStart, columns.namespaceEnd));
  }

  #start({
    uid,
    resource,
    columns,
    policy,
    orphans,
  }: {
    readonly uid: Uid;
    readonly resource: MonitoredResource;
    readonly columns: ObjectColumns;
    readonly policy: Policy;
    readonly orphans: number;
  }): Cascade {
    const now = this.#options.clock.monotonic();
    const name = textOf(columns, columns.nameStart, columns.nameEnd);
    const namespace = textOf(columns, columns.namespaceStart, columns.namespaceEnd);
    const cascade: Cascade = {
      root: uid,
      name: objectName({ apiVersion: resource.apiVersion, kind: resource.kind, namespace, name }),
      policy,
      namespace: policy === 'Namespace' ? name : undefined,
      orphans,
      began: now,
      owners: new Set(),
      rootGone: false,
      deleted: 0,
      last: now,
    };
    if (this.#cascades.size >= MOST_CASCADES) this.#forget(first(this.#cascades)!);
    this.#cascades.add(cascade);
    if (cascade.namespace !== undefined) this.#namespaces.set(cascade.namespace, cascade);
    this.#join(uid, cascade);
    this.#touch(cascade);
    return cascade;
  }

  #join(uid: Uid, cascade: Cascade): void {
    if (this.#owners.size >= MOST_OWNERS) this.#leave(first(this.#owners.keys())!);
    this.#leave(uid);
    this.#owners.set(uid, cascade);
    cascade.owners.add(uid);
    const early = this.#early.get(uid);
    if (early === undefined) return;
    this.#early.delete(uid);
    if (this.#options.clock.monotonic() - early.at < IDLE_MS) cascade.deleted += early.count;
  }

  #leave(uid: Uid): void {
    this.#owners.get(uid)?.owners.delete(uid);
    this.#owners.delete(uid);
  }

  #wentEarly(columns: ObjectColumns): void {
    const now = this.#options.clock.monotonic();
    for (const [owner, { at }] of this.#early) {
      if (now - at < IDLE_MS && this.#early.size < MOST_EARLY) break;
      this.#early.delete(owner);
    }
    for (const owner of ownersOf(columns)) {
      const early = this.#early.get(owner);
      if (early === undefined) this.#early.set(owner, { count: 1, at: now });
      else early.count++;
    }
  }

  #touch(cascade: Cascade): void {
    cascade.last = this.#options.clock.monotonic();
    this.#timer ??= this.#options.clock.setTimer(IDLE_MS, this.#sweep);
  }

  readonly #sweep = (): void => {
    const { clock, graph, log, logs } = this.#options;
    const now = clock.monotonic();
    this.#timer = undefined;
    let next = Number.POSITIVE_INFINITY;
    for (const cascade of this.#cascades) {
      const idle = now - cascade.last;
      if (idle < IDLE_MS) {
        next = Math.min(next, IDLE_MS - idle);
        continue;
      }
      cascade.rootGone ||= graph.find(cascade.root) < 0;
      // The root still exists. Its next event starts the timer again.
      if (!cascade.rootGone) continue;
      this.#forget(cascade);
      if (logs() && cascade.deleted + cascade.orphans > 0) log.info('a cascade has passed', fieldsOf(cascade));
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = clock.setTimer(next, this.#sweep);
  };

  #forget(cascade: Cascade): void {
    this.#cascades.delete(cascade);
    for (const uid of cascade.owners) this.#owners.delete(uid);
    const { namespace } = cascade;
    // A namespace of the same name may have been created and deleted since.
    if (namespace !== undefined && this.#namespaces.get(namespace) === cascade) this.#namespaces.delete(namespace);
  }
}

function fieldsOf({ name, policy, deleted, orphans, began, last }: Cascade): Readonly<Record<string, unknown>> {
  return {
    root: name,
    policy,
    deleted,
    ...(policy === 'Orphan' ? { orphaned: orphans } : {}),
    seconds: Math.round(last - began) / 1000,
  };
}

function policyOf({ foregroundFinalizer, orphanFinalizer }: ObjectColumns): Policy {
  if (orphanFinalizer) return 'Orphan';
  return foregroundFinalizer ? 'Foreground' : 'Background';
}

function dependentsOf(graph: Graph, id: NodeId): number {
  let count = 0;
  graph.forEachDependent(id, () => void count++);
  return count;
}

/** Empty if the references cannot be read: an error of an observer must not make a watch fail. */
function ownersOf(columns: ObjectColumns): readonly Uid[] {
  if (columns.ownerCount === 0) return [];
  try {
    return ownerUidsOfColumns(columns);
  } catch {
    return [];
  }
}

function textOf({ bytes }: ObjectColumns, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

function first<T>(values: Iterable<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}
