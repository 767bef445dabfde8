import { AsyncLocalStorage } from 'node:async_hooks';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Ring } from '../../base/collections/ring.ts';
import type { Reason } from '../../collector/types/reasons.ts';
import { describeChange, releasedOwners } from './change.ts';
import { displayName } from '../client/object-ref.ts';
import type { RequestedObject } from './requested-object.ts';
import { Trace, type TracedObject, type TraceEntry, type TraceKind } from './trace.ts';

/** Maximum number of entries; the oldest are dropped first. */
const MAX_ENTRIES = 20_000;
/** The controller that gives reasons for its writes. */
const COLLECTOR = 'garbage-collector-controller';
/** Decisions that only say that there was nothing to decide; the trace leaves them out. */
const trivial: readonly Reason[] = ['goneFromGraph', 'noOwners', 'virtualEntryOutdated'];
const trivialReasons: ReadonlySet<string> = new Set(trivial);
/** Decisions to write nothing. They do not explain a write of another worker to the same object. */
const idleReasons: ReadonlySet<string> = new Set<Reason>([
  ...trivial,
  'alreadyTerminating',
  'endNotShownYet',
  'kindUnknown',
  'namespaceUnknown',
  'objectAbsent',
  'objectReplaced',
  'objectUnreadable',
  'ownerKindUnknown',
  'ownerUnreadable',
  'namespacedOwnerOfClusterScoped',
  'solidOwner',
  'blockedByDependents',
  'notBeingDeleted',
  'factsKeptChanging',
  // Dependents that were orphaned while their owner waits; their reason is given when the owner is deleted.
  'dependentsNotReleased',
  'finalizerAlreadyRemoved',
  'finalizerConflictsExhausted',
  'finalizerObjectChanged',
  'writeRejected',
  'referencesObjectChanged',
]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface PendingWrite {
  readonly entry: Mutable<TraceEntry>;
  /** The object itself and the owners whose references were taken off: a decision about any of them explains it. */
  readonly uids: readonly string[];
  /** The references that the object had. */
  readonly owners: readonly OwnerReference[];
}

export interface Decided {
  readonly uid: string;
  readonly reason: string;
  readonly sentence: string;
}

export interface StoredChange {
  readonly previous: KubeObject | undefined;
  readonly next: KubeObject | undefined;
  readonly revision: number;
}

/** The recorder's knowledge about objects beyond its entries. */
export interface Memory {
  /** By uid. */
  readonly objects: ReadonlyMap<string, TracedObject>;
  /** By group, kind, namespace and name. */
  readonly uids: ReadonlyMap<string, string>;
}

export interface NoteDetails {
  readonly why?: string | undefined;
  readonly object?: RequestedObject | undefined;
}

/**
 * The client whose request is being processed. All clusters of a process share one storage, because each further one slows down every
 * promise, and there may be hundreds of clusters.
 */
const acting = new AsyncLocalStorage<{ readonly recorder: Recorder; readonly who: string }>();

/** Collects the events of one cluster, and puts the collector's reasons beside the writes that they led to. */
export class Recorder {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #entries = new Ring<Mutable<TraceEntry>>({ bound: MAX_ENTRIES });
  #dropped = 0;
  /** Writes of the collector whose decision has not been logged yet: at most those that its workers have under way. */
  #unexplained: PendingWrite[] = [];
  readonly #objects: Map<string, TracedObject>;
  /** The uids of the objects in the store, by name. */
  readonly #uids: Map<string, string>;

  /** Starts with the memory of the recorder of the cluster that this cluster starts from. */
  constructor(clock: Clock, { objects, uids }: Memory = { objects: new Map(), uids: new Map() }) {
    this.#objects = new Map(objects);
    this.#uids = new Map(uids);
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** The present memory. */
  get memory(): Memory {
    return { objects: new Map(this.#objects), uids: new Map(this.#uids) };
  }

  /** True if an object of this group, kind and name exists: in the namespace, or if none is given, anywhere. */
  knows({ apiVersion, kind, name, namespace }: Omit<RequestedObject, 'namespace'> & { namespace?: string }): boolean {
    if (namespace !== undefined) return this.#uids.has(nameKey({ apiVersion, kind, name, namespace }));
    const ofKind = nameKey({ apiVersion, kind, namespace: '', name: '' }).slice(0, -1);
    return [...this.#uids.keys()].some((key) => key.startsWith(ofKind) && key.endsWith(`/${name}`));
  }

  /** Runs `work`, and records its writes as writes of this client. */
  as<T>(who: string, work: () => T): T {
    return acting.run({ recorder: this, who }, work);
  }

  /** Forgets all entries so far, because the start of a cluster is no part of a test. */
  clear(): void {
    this.#entries = new Ring({ bound: MAX_ENTRIES });
    this.#dropped = 0;
    this.#unexplained = [];
  }

  get length(): number {
    return this.#dropped + this.#entries.length;
  }

  /** The entries that were added since {@link length} was `from`. */
  trace(from = 0): Trace {
    const entries = [...this.#entries];
    const kept = entries.slice(Math.max(0, from - this.#dropped));
    return new Trace(
      kept.map((entry) => ({ ...entry })),
      from === 0 ? this.#dropped : 0,
    );
  }

  write({ previous, next, revision }: StoredChange): void {
    const object = tracedObject(next ?? previous);
    if (object === undefined) return;
    this.#remember(object);
    if (next === undefined) this.#uids.delete(nameKey(object));
    else this.#uids.set(nameKey(object), object.uid);
    const entry: Mutable<TraceEntry> = {
      ...this.#entry('write', this.#actor, describeChange(previous, next)),
      object,
      revision,
      ...(next === undefined ? {} : { after: next }),
    };
    this.#push(entry);
    if (entry.who !== COLLECTOR) return;
    if (this.#unexplained.length >= MAX_ENTRIES) this.#unexplained.shift();
    this.#unexplained.push({
      entry,
      uids: [object.uid, ...releasedOwners(previous, next)],
      owners: previous?.metadata?.ownerReferences ?? [],
    });
  }

  /** The collector has decided about an object, and has carried out the decision. */
  decision({ uid, reason, sentence }: Decided): void {
    const explained = idleReasons.has(reason) ? [] : this.#unexplained.filter(({ uids }) => uids.includes(uid));
    for (const { entry, owners } of explained) {
      const namesakes = reason === 'ownersAbsent' ? this.#namesakes(owners, entry.object?.namespace ?? '') : [];
      entry.why = [sentence, ...namesakes].join(' ');
    }
    if (explained.length > 0) {
      this.#unexplained = this.#unexplained.filter(({ uids }) => !uids.includes(uid));
      return;
    }
    if (trivialReasons.has(reason)) return;
    const object = this.#objects.get(uid);
    this.#push({
      ...this.#entry('decision', COLLECTOR, 'left as it is'),
      why: sentence,
      ...(object ? { object } : {}),
    });
  }

  note(kind: Exclude<TraceKind, 'write' | 'decision'>, who: string, what: string, about: NoteDetails): void {
    const { why, object } = about;
    this.#push({
      ...this.#entry(kind, who, what),
      ...(why === undefined ? {} : { why }),
      ...(object === undefined ? {} : { object: { ...object, uid: this.#uids.get(nameKey(object)) ?? '' } }),
    });
  }

  /** Sentences about owners that exist, but not at the place or with the name of the reference. */
  #namesakes(owners: readonly OwnerReference[], namespace: string): string[] {
    return owners.flatMap((reference) => {
      const { apiVersion, kind, name, uid } = reference;
      const meant = this.#objects.get(uid);
      if (meant !== undefined && this.#uids.get(nameKey(meant)) === uid) {
        const elsewhere = `${displayName(meant)} has the uid of the reference, but`;
        if (meant.namespace === '' || meant.namespace === namespace) return [`${elsewhere} not its kind and name.`];
        return [`${elsewhere} is in another namespace: nobody can be owned from there.`];
      }
      for (const place of new Set([namespace, ''])) {
        const found = this.#uids.get(nameKey({ apiVersion, kind, namespace: place, name }));
        if (found === undefined || found === uid) continue;
        const owner = displayName({ kind, namespace: place, name });
        return [`${owner} has uid ${found}, the reference says ${uid}.`];
      }
      return [];
    });
  }

  /** Remembers the object for decisions, which know uids only. The oldest are forgotten. */
  #remember(object: TracedObject): void {
    this.#objects.set(object.uid, object);
    if (this.#objects.size <= MAX_ENTRIES) return;
    for (const oldest of this.#objects.keys()) {
      this.#objects.delete(oldest);
      break;
    }
  }

  /** The client for which the cluster works at present; the server itself if there is none. */
  get #actor(): string {
    const asked = acting.getStore();
    return asked?.recorder === this ? asked.who : 'apiserver';
  }

  #entry(kind: TraceKind, who: string, what: string): Mutable<TraceEntry> {
    return { kind, atMs: this.#clock.monotonic() - this.#startedAt, who, what };
  }

  #push(entry: Mutable<TraceEntry>): void {
    if (this.#entries.pushBack(entry)) return;
    this.#entries.popFront();
    this.#dropped++;
    this.#entries.pushBack(entry);
  }
}

/** The key has no version, because an object may be requested in another version than it is stored in. */
function nameKey({ apiVersion, kind, namespace, name }: RequestedObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return `${group}/${kind}/${namespace}/${name}`;
}

function tracedObject(object: KubeObject | undefined): TracedObject | undefined {
  const { apiVersion, kind, metadata } = object ?? {};
  if (apiVersion === undefined || kind === undefined || metadata?.name === undefined) return undefined;
  const { name, namespace = '', uid = '' } = metadata;
  return { apiVersion, kind, namespace, name, uid };
}
