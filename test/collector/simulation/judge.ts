import { isDeepStrictEqual } from 'node:util';
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type OwnerReference } from '../../../src/api/meta/object-meta.ts';
import type { StoreEvent } from '../../../src/apiserver/storage/interface.ts';
import type { Attribution } from './attribution.ts';
import { RequestJudge } from './request-judge.ts';
import { definitionName, DEFINITIONS, KINDS, LEASES } from './simulated-kinds.ts';
import {
  has,
  isOrphaning,
  isOutOfReach,
  isTerminating,
  isWaiting,
  type KnownObject,
  knownObject,
  show,
  StoredObjects,
} from './stored-objects.ts';

/** Written by nobody that is judged here. */
const IGNORED = new Set(['Event', 'Namespace', DEFINITIONS.kind, LEASES.kind]);

export interface JudgeOptions {
  readonly attribution: Attribution;
  /** Kinds that are served at this moment. */
  readonly isServed: (kind: string) => boolean;
  /** No collector of this history forgets, or never learns, which owners were orphaned (LIFE-560, LIFE-561). */
  readonly remembersOrphaned: boolean;
  /** Nothing keeps the collectors from seeing every change at once. */
  readonly seesAtOnce: boolean;
  /** The same, but that a kind may be defined, whose monitor then has to list it first. */
  readonly seesWhatIsServed: boolean;
  /** A kind that is defined is watched by then (BETTER-3), ms. */
  readonly listedWithinMs: number;
  /**
   * So long after something has ceased to be so they may act upon it, ms, and so much longer for each change before it. 0 and 0 where
   * nothing takes time, and there is one of them: what it writes rests on what is so now.
   */
  readonly oldNews: { readonly ms: number; readonly moreForEachChangeMs: number };
  /** ms. */
  readonly now: () => number;
  /** Every collector asks the barrier before it lets an orphaning owner go (BETTER-13). */
  readonly barriers: boolean;
}

const OWN_FINALIZERS: ReadonlySet<string> = new Set([FINALIZER_FOREGROUND, FINALIZER_ORPHAN]);

/**
 * Follows the real objects in the store, change by change, with the author of each change. It judges each change at the very revision at
 * which it happened, so that no other change can come in between.
 */
export class Judge {
  readonly wrong: string[] = [];
  readonly requests = new RequestJudge(this.wrong);
  readonly objects = new StoredObjects();
  readonly #attribution: Attribution;
  readonly #isServed: JudgeOptions['isServed'];
  readonly #remembersOrphaned: boolean;
  readonly #seesAtOnce: boolean;
  readonly #seesWhatIsServed: boolean;
  readonly #listedWithinMs: number;
  readonly #oldNews: JudgeOptions['oldNews'];
  readonly #now: () => number;
  readonly #barriers: boolean;
  /**
   * By uid of an owner: the dependents that still referred to it when its orphan finalizer was removed. They are an error unless its
   * barrier gave up, which is reported after the write.
   */
  readonly #leftBehind = new Map<string, string[]>();
  /** By uid: the revision at which an owner began to wait or to orphan, and at which references were last changed. */
  readonly #began = new Map<string, number>();
  readonly #referredSince = new Map<string, number>();
  /** By uid of who waited for its dependents, or let them go, at some time: until when that may be acted upon; Infinity while it does. */
  #waited = new Map<string, number>();
  #orphaning = new Map<string, number>();
  #changes = 0;
  /** By the name of a definition that there is, or was. */
  readonly #definedAt = new Map<string, number>();
  /** `<uid of the dependent> <reference>`: the collectors saw the owner go that this reference means. */
  readonly #seenToGo = new Set<string>();
  /** The owners that were deleted with policy Orphan, by uid: a reference to other coordinates refers to nothing (COL-140, COL-241). */
  #orphaned = new Map<string, KnownObject>();
  /** By uid of what lives again since a restore: until when a collector may not have learnt that yet. */
  readonly #terminating = new Map<string, number>();

  constructor(options: JudgeOptions) {
    const { attribution, isServed, remembersOrphaned, seesAtOnce, seesWhatIsServed } = options;
    const { listedWithinMs, oldNews, now, barriers } = options;
    this.#attribution = attribution;
    this.#isServed = isServed;
    this.#remembersOrphaned = remembersOrphaned;
    this.#seesAtOnce = seesAtOnce;
    this.#seesWhatIsServed = seesWhatIsServed;
    this.#listedWithinMs = listedWithinMs;
    this.#oldNews = oldNews;
    this.#now = now;
    this.#barriers = barriers;
  }

  /** The barrier of this owner was not complete in time: it goes all the same, as in Kubernetes (COL-127). */
  barrierGaveUp(owner: string): void {
    this.#leftBehind.delete(owner);
  }

  /** Whom no barrier that gave up explains. */
  get leftBehind(): string[] {
    return [...this.#leftBehind.values()].flat();
  }

  readonly observe = (events: readonly StoreEvent[]): void => {
    for (const event of events) this.#see(event);
  };

  /**
   * The returned function restores the present knowledge, as the server does whose backup is restored. An owner that waited or orphaned
   * only in the undone part of the history does so for no collector any more: a collector that has not learnt of the restore has seen that
   * the server was away, and reads before it writes (designs/0011).
   */
  remember(): () => void {
    const objects = this.objects.copy();
    const [waited, orphaning, orphaned] = [new Map(this.#waited), new Map(this.#orphaning), new Map(this.#orphaned)];
    return () => {
      for (const { uid, metadata } of objects.values()) {
        const was = this.objects.withUid(uid);
        const tookBack = !metadata.deletionTimestamp && (was === undefined || isTerminating(was));
        if (tookBack) this.#terminating.set(uid, this.#oldNewsUntil());
      }
      this.objects.become(objects);
      this.#waited = undone(this.#waited, waited);
      this.#orphaning = undone(this.#orphaning, orphaning);
      this.#orphaned = new Map(orphaned);
      this.#seenToGo.clear();
    };
  }

  /** A deletion was taken back. */
  get tookBack(): boolean {
    return this.#terminating.size > 0;
  }

  /** It was being deleted, or gone, before the server was restored, and who has seen that may think so still. */
  readonly wasTerminating = (uid: string): boolean => this.#mayBeSeenAs(this.#terminating, uid);

  /** The objects that should not exist once everything has come to rest and nothing is held. */
  leftovers(): string[] {
    const stuck = this.#stuck();
    return [...this.objects.values()]
      .filter(({ uid, kind }) => !stuck.has(uid) && !IGNORED.has(kind))
      .flatMap((object) => this.#leftover(object).map((why) => `${show(object)} ${why}`));
  }

  /** Some object can not be decided about (COL-112, COL-113). */
  get hasUntouchables(): boolean {
    return [...this.objects.values()].some((object) => this.#isUntouchable(object));
  }

  #isUntouchable(object: KnownObject): boolean {
    const references = object.metadata.ownerReferences ?? [];
    return (
      isOutOfReach(object) ||
      // An owner whose deletion was seen is known to be gone, whatever became of its kind (COL-136, BETTER-15).
      references.some((each) => !this.#isServed(each.kind) && !this.#seenToGo.has(`${object.uid} ${identityOf(each)}`))
    );
  }

  /** Whoever saw it wait, or let its dependents go, may act upon it still. */
  #mayBeSeenAs(was: ReadonlyMap<string, number>, uid: string): boolean {
    const until = was.get(uid);
    return until !== undefined && until >= this.#now();
  }

  #see({ key, current, previous, revision }: StoreEvent): void {
    this.#changes++;
    const before = this.objects.get(key);
    const now = current === undefined ? undefined : knownObject(current.value);
    if (before !== undefined && !IGNORED.has(before.kind)) {
      const successor = now?.uid === before.uid ? now : undefined;
      if (successor === undefined || (isTerminating(successor) && !isTerminating(before))) {
        this.#ended(key, before, successor);
      }
      if (successor !== undefined) this.#changed(key, before, successor);
      if (this.#seesAtOnce && this.#attribution.of(key) === 'collector') this.#finished(before, now);
    }
    if (now !== undefined && this.#seesAtOnce) this.#note(before, now, revision);
    if (now?.kind === DEFINITIONS.kind && before?.uid !== now.uid) this.#definedAt.set(now.name, this.#now());
    if (before !== undefined && now?.uid !== before.uid) this.#goes(before);
    if (now === undefined) this.objects.delete(key);
    else this.objects.set(key, now);
    if (now !== undefined) this.#remember(this.#waited, now.uid, isWaiting(now));
    if (now !== undefined) this.#remember(this.#orphaning, now.uid, isOrphaning(now));
    if (now === undefined && before !== undefined && isOrphaning(before) && this.#attribution.of(key) === 'collector') {
      this.#orphaned.set(before.uid, before);
    }
    if ((previous === undefined) !== (before === undefined)) this.wrong.push(`the store lost track of ${key}`);
  }

  #remember(was: Map<string, number>, uid: string, is: boolean): void {
    if (is) return void was.set(uid, Number.POSITIVE_INFINITY);
    if (was.get(uid) !== Number.POSITIVE_INFINITY) return;
    was.set(uid, this.#oldNewsUntil());
  }

  #oldNewsUntil(): number {
    const { ms, moreForEachChangeMs } = this.#oldNews;
    return this.#now() + ms + this.#changes * moreForEachChangeMs;
  }

  #goes(owner: KnownObject): void {
    if (!this.#seesWhatIsServed || IGNORED.has(owner.kind)) return;
    const kind = KINDS.get(owner.kind);
    const definedAt = kind && this.#definedAt.get(definitionName(kind));
    if (definedAt !== undefined && this.#now() - definedAt < this.#listedWithinMs) return;
    for (const object of this.objects.values()) {
      for (const reference of object.metadata.ownerReferences ?? []) {
        if (this.objects.owner(object, reference)?.uid !== owner.uid) continue;
        this.#seenToGo.add(`${object.uid} ${identityOf(reference)}`);
      }
    }
  }

  #wasOrphaned({ namespace }: KnownObject, { uid, kind, name }: OwnerReference): boolean {
    const owner = this.#orphaned.get(uid);
    if (owner?.kind !== kind || owner.name !== name) return false;
    return owner.namespace === '' || owner.namespace === namespace;
  }

  /**
   * Judges a deletion when the object is removed or begins to terminate (COL-001, COL-002, COL-113). The second half of a deletion was
   * judged when it began.
   */
  #ended(key: string, object: KnownObject, now: KnownObject | undefined): void {
    if (isTerminating(object)) return;
    const who = this.#attribution.of(key);
    if (who === 'server' && !this.#isBeingUndefined(object)) this.wrong.push(`nobody deleted ${show(object)}`);
    if (who !== 'collector') return;
    if (isOutOfReach(object)) this.wrong.push(`${show(object)} was deleted although an owner is out of its reach`);
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) this.wrong.push(`${show(object)} was deleted without an owner`);
    if (
      this.#remembersOrphaned &&
      references.length > 0 &&
      references.every((reference) => this.#wasOrphaned(object, reference))
    ) {
      this.wrong.push(`${show(object)} was deleted although its owners went with policy Orphan`);
    }
    for (const reference of references) {
      const owner = this.objects.owner(object, reference);
      if (owner === undefined || this.#mayBeSeenAs(this.#waited, owner.uid)) continue;
      const never = this.#waited.has(owner.uid) ? 'does not wait any more' : 'never waited';
      this.wrong.push(`${show(object)} was deleted although its owner ${show(owner)} exists and ${never}`);
    }
    const hasWaited = references.some(({ uid }) => this.#waited.has(uid));
    if (hasWaited) return;
    for (const finalizer of OWN_FINALIZERS) {
      if (has(object, finalizer) === (now !== undefined && has(now, finalizer))) continue;
      this.wrong.push(`${show(object)} was deleted with another policy than its finalizers ask for (COL-090 row 15)`);
    }
  }

  /** Judges a change by the collector: it may remove references to nothing, and its own two finalizers. */
  #changed(key: string, before: KnownObject, now: KnownObject): void {
    if (this.#attribution.of(key) !== 'collector') return;
    if (!isDeepStrictEqual(foreignOf(before), foreignOf(now))) {
      this.wrong.push(`${show(now)} was changed where nobody of us writes: ${JSON.stringify(foreignOf(now))}`);
    }
    this.#deletedAgain(before, now);
    this.#referredAgain(before, now);
    const left = new Set((now.metadata.ownerReferences ?? []).map(identityOf));
    for (const reference of before.metadata.ownerReferences ?? []) {
      if (!left.has(identityOf(reference))) this.#released(before, reference);
    }
  }

  /** The collector does not delete a terminating object again with a policy of its own (COL-095). */
  #deletedAgain(before: KnownObject, now: KnownObject): void {
    if (!isTerminating(before)) return;
    for (const finalizer of OWN_FINALIZERS) {
      if (has(now, finalizer) && !has(before, finalizer))
        this.wrong.push(`${show(now)} got the finalizer ${finalizer}`);
    }
  }

  /** No reference comes from us, and none is other than it was, but that it blocks no more where somebody waits (COL-123, COL-162). */
  #referredAgain(before: KnownObject, now: KnownObject): void {
    const references = before.metadata.ownerReferences ?? [];
    const waited = this.#waited.has(before.uid) || references.some(({ uid }) => this.#waited.has(uid));
    for (const reference of now.metadata.ownerReferences ?? []) {
      const same = references.some(
        (had) =>
          identityOf(had) === identityOf(reference) &&
          had.controller === reference.controller &&
          ((had.blockOwnerDeletion ?? false) === (reference.blockOwnerDeletion ?? false) ||
            (waited && reference.blockOwnerDeletion === false)),
      );
      if (!same) this.wrong.push(`${show(now)} got a reference that it did not have: ${JSON.stringify(reference)}`);
    }
  }

  #note(before: KnownObject | undefined, now: KnownObject, revision: number): void {
    const started = (isStarted: (object: KnownObject) => boolean): boolean =>
      isStarted(now) && (before === undefined || before.uid !== now.uid || !isStarted(before));
    if (started(isWaiting) || started(isOrphaning)) this.#began.set(now.uid, revision);
    const references = JSON.stringify(now.metadata.ownerReferences);
    if (before?.uid === now.uid && JSON.stringify(before.metadata.ownerReferences) === references) return;
    this.#referredSince.set(now.uid, revision);
  }

  /** A wait of the collector's is over: nobody whom it knew from the beginning may be left (COL-101, COL-122). */
  #finished(before: KnownObject, now: KnownObject | undefined): void {
    const lost = (finalizer: string): boolean => has(before, finalizer) && (now === undefined || !has(now, finalizer));
    if (!isTerminating(before)) return;
    const released = lost(FINALIZER_FOREGROUND);
    if (!released && !lost(FINALIZER_ORPHAN)) return;
    for (const object of this.objects.values()) {
      if (object.uid === before.uid) continue;
      const refers = (object.metadata.ownerReferences ?? []).some(
        ({ uid, blockOwnerDeletion }) => uid === before.uid && (!released || blockOwnerDeletion === true),
      );
      const knownBefore = (this.#referredSince.get(object.uid) ?? 0) < (this.#began.get(before.uid) ?? 0);
      // Without a barrier an event of another resource may come later than the deletion (COL-10B, COL-127), even in the first answer of a
      // watch. A barrier lists the places where dependents may be: with a namespaced owner its namespace.
      const inReach = before.namespace === '' || object.namespace === before.namespace;
      const toldInOrder = object.kind === before.kind;
      const lookedFor = !released && this.#barriers && inReach;
      if (!refers || !knownBefore || !(toldInOrder || lookedFor)) continue;
      const what = released ? 'gone' : 'released';
      const why = `${show(before)} was let go although ${show(object)} was not ${what} yet`;
      if (toldInOrder) this.wrong.push(why);
      else this.#leftBehind.set(before.uid, [...(this.#leftBehind.get(before.uid) ?? []), why]);
    }
  }

  /** A reference was removed. Those to one uid go together, also when only one of them is wrong (COL-24H). */
  #released(dependent: KnownObject, reference: OwnerReference): void {
    const owner = this.objects.owner(dependent, reference);
    if (owner === undefined) return;
    if (this.#mayBeSeenAs(this.#waited, owner.uid) || this.#mayBeSeenAs(this.#orphaning, owner.uid)) return;
    const twins = (dependent.metadata.ownerReferences ?? []).filter(({ uid }) => uid === reference.uid);
    if (twins.some((twin) => this.objects.owner(dependent, twin) === undefined)) return;
    const never =
      this.#waited.has(owner.uid) || this.#orphaning.has(owner.uid) ? 'does not wait any more' : 'never waited';
    this.wrong.push(`${show(dependent)} lost its reference to ${show(owner)}, which exists and ${never}`);
  }

  /** The server empties a definition that is being deleted. */
  #isBeingUndefined({ kind }: KnownObject): boolean {
    for (const object of this.objects.values()) {
      if (object.kind !== DEFINITIONS.kind || !isTerminating(object)) continue;
      if (object.name.startsWith(kind.toLowerCase())) return true;
    }
    return false;
  }

  /**
   * Never goes: what nobody may touch (COL-113), what refers to a kind that is not served (COL-112), and an owner in
   * foreground deletion that such an object blocks, and what that one blocks in turn.
   */
  #stuck(): ReadonlySet<string> {
    const stuck = new Set<string>();
    for (let before = -1; before < stuck.size;) {
      before = stuck.size;
      for (const object of this.objects.values()) {
        const references = object.metadata.ownerReferences ?? [];
        if (this.#isUntouchable(object) && !isTerminating(object)) stuck.add(object.uid);
        if (!stuck.has(object.uid)) continue;
        for (const { uid, blockOwnerDeletion } of references) {
          const owner = this.objects.withUid(uid);
          if (blockOwnerDeletion === true && owner !== undefined && isWaiting(owner)) stuck.add(uid);
        }
      }
    }
    return stuck;
  }

  #leftover(object: KnownObject): string[] {
    const found: string[] = [];
    if (isTerminating(object)) found.push(`is still terminating (${object.metadata.finalizers?.join(' ')})`);
    for (const finalizer of OWN_FINALIZERS) {
      // One that a client set on an object that nobody deleted is the client's.
      if (has(object, finalizer) && isTerminating(object)) found.push(`still has the finalizer ${finalizer}`);
    }
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return found;
    const living = references.filter((reference) => this.objects.owner(object, reference) !== undefined);
    if (living.length === 0) found.push('has no owner left');
    else if (living.length < references.length) found.push('has a reference to nothing beside a living owner');
    return found;
  }
}

/** The entries of the time of the backup; of later entries only the fact that they existed. */
function undone(now: ReadonlyMap<string, number>, then: ReadonlyMap<string, number>): Map<string, number> {
  const once = [...now.keys()].map((uid) => [uid, Number.NEGATIVE_INFINITY] as const);
  return new Map([...once, ...then]);
}

function identityOf({ uid, name, kind, apiVersion }: OwnerReference): string {
  return `${uid} ${apiVersion} ${kind} ${name}`;
}

/** The fields that the collector may not change: all metadata but its own, and finalizers of others (COL-003, COL-164). */
function foreignOf({ metadata }: KnownObject): object {
  const { ownerReferences: _, finalizers, resourceVersion: _1, managedFields: _2, generation: _3, ...more } = metadata;
  const { deletionTimestamp: _4, deletionGracePeriodSeconds: _5, ...rest } = more;
  return { ...rest, finalizers: (finalizers ?? []).filter((finalizer) => !OWN_FINALIZERS.has(finalizer)) };
}
