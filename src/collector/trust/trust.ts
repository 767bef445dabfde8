import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { AcceptedEnd } from '../decide/gather-facts.ts';
import type { Graph } from '../graph/graph.ts';
import type { WorkKey } from '../queues/work-key.ts';
import type { OfferedResource } from '../resources/deletable-resources.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import { type Epoch, FIRST_EPOCH, nextEpoch } from '../types/epoch.ts';
import type { VanishLimit } from '../types/event.ts';
import type { Uid } from '../types/identity.ts';
import type { HistoryEvidence, OutageScope } from '../types/monitor-event.ts';
import { AcceptedDeletions } from './accepted-deletions.ts';
import { AwaitedEvents } from './awaited-events.ts';
import { BrokenResources } from './broken-resources.ts';
import { HeldAbsences } from './held-absences.ts';
import type { Breakage } from './outage-scope.ts';
import { type ResetScope, ResetScopes } from './reset-scopes.ts';
import { type KeysInQueue, UnansweredKeys } from './unanswered-keys.ts';
import { WatchedKinds, type WatchState } from './watched-kinds.ts';

interface TrustOptions {
  readonly graph: Pick<Graph, 'versionOf'>;
  /** The queue with the keys that calls are made for. */
  readonly queue: KeysInQueue;
  readonly watches: () => Iterable<WatchState>;
  /** See GarbageCollectorOptions. */
  readonly vanishLimit?: VanishLimit | undefined;
}

/** A kube-apiserver that has just begun to answer may not offer its custom resources yet, ms. */
const SETTLES_MS = 10_000;

/**
 * Decides which facts may be believed after an outage, a relist, or a server that went back in time: a state machine without I/O (SPEC.md
 * has its table). An outage begins a new epoch. Absences that were proven before it must be proven again.
 *
 * All times are monotonic, ms.
 */
export class Trust {
  #epoch = FIRST_EPOCH;
  /** The epoch of the last outage that may have been of kube-apiserver. */
  #epochOfAll = FIRST_EPOCH;
  /** When a watch of a resource that kube-apiserver itself serves last failed. */
  #failedAt = Number.NEGATIVE_INFINITY;
  readonly #deletions = new AcceptedDeletions();
  readonly #events: AwaitedEvents;
  readonly #unanswered: UnansweredKeys;
  readonly #resets = new ResetScopes();
  readonly #broken = new BrokenResources();
  /** Absences from lists that lacked too many objects. */
  readonly absences: HeldAbsences;
  /** The state of the watches. */
  readonly kinds: WatchedKinds;

  constructor({ graph, queue, watches, vanishLimit }: TrustOptions) {
    this.#events = new AwaitedEvents(graph);
    this.#unanswered = new UnansweredKeys(queue);
    this.absences = new HeldAbsences(vanishLimit);
    this.kinds = new WatchedKinds(watches);
  }

  /** The present epoch. Take it before a read, and note the absence that the read proves with it. */
  get epoch(): Epoch {
    return this.#epoch;
  }

  /** Whether the graph may answer at all: see {@link WatchedKinds.answers}. */
  get answers(): boolean {
    return this.kinds.answers;
  }

  /** Whether the graph may answer for objects of this kind instead of the server. */
  answersFor(apiVersion: string, kind: string): boolean {
    return this.kinds.answersFor(apiVersion, kind);
  }

  /** Whether the watch of this kind works: then its events count more than one read. */
  shows(apiVersion: string, kind: string): boolean {
    return this.kinds.shows(apiVersion, kind);
  }

  /** While the graph does not answer for its kind: the first epoch in which a proof that an owner of this apiVersion is absent counts. */
  provenSince(apiVersion: string): Epoch {
    return isServedByKubeApiserver(apiVersion) ? this.#epochOfAll : this.#epoch;
  }

  /**
   * Whether a pass of discovery that began at `readAt` shows what the present server offers (designs/0011). Then a kind that the pass lacks
   * was not brought back with a backup. `unansweredAt`: for the key that is being decided.
   */
  mayBelieveDiscovery(readAt: number, unansweredAt = Number.NEGATIVE_INFINITY): boolean {
    return readAt >= SETTLES_MS + Math.max(this.#failedAt, unansweredAt);
  }

  /**
   * The time of the last call for this key if it got no answer: then neither the graph nor older proofs count for the key. Undefined: the
   * last call was answered.
   */
  unansweredAt(key: WorkKey): number | undefined {
    return this.#unanswered.of(key);
  }

  /** The deletion that the server has accepted, while its watch event may still come. */
  acceptedDeletion(uid: Uid, now: number): AcceptedEnd | undefined {
    return this.#deletions.of(uid, now);
  }

  /** A list or watch of this resource failed, and shows this outage. Returns the objects to queue again. */
  watchFailed(offered: OfferedResource, scope: OutageScope, now: number): readonly Uid[] {
    this.#begin(scope);
    if (isServedByKubeApiserver(apiVersionOf(offered))) this.#failedAt = now;
    // The outage of one kind does not affect the events of other kinds. Its own objects are queued when it has recovered.
    return scope === 'all' ? this.#takeAwaited() : [];
  }

  /**
   * A request about this resource broke. Returns undefined unless the server was away; else the objects to queue again. Then no watch is
   * believed until it was opened anew.
   */
  requestBroke(resource: string, how: Breakage, now: number): readonly Uid[] | undefined {
    if (!this.#broken.note(resource, how, now)) return undefined;
    this.#begin('all');
    this.#failedAt = now;
    return this.#takeAwaited();
  }

  /**
   * A watch works again. The server may have been away once more while all watches paused. Returns the objects to queue again, as {@link
   * Trust.watchFailed} does.
   */
  watchRecovered(): readonly Uid[] {
    return this.#takeAwaited();
  }

  /** A call for this key got no answer, and shows this outage. */
  callUnanswered(key: WorkKey, scope: OutageScope, now: number): void {
    this.#begin(scope);
    this.#unanswered.note(key, now);
  }

  /** An attempt for this key has ended. */
  attemptEnded(key: WorkKey): void {
    this.#unanswered.forget(key);
  }

  /** The server accepted the delete of this object, or the removal of the finalizer that the object waited with. */
  deletionAccepted(uid: Uid, write: AcceptedEnd, now: number): void {
    this.#deletions.note(uid, write, now);
  }

  /** The key of this object is forgotten, because a read has shown the object in this version. */
  leftAsRead(uid: Uid, version: number): void {
    this.#events.noteRead(uid, version);
  }

  /** The key of this object is forgotten, because a write that rests on this version was accepted. */
  leftAsWritten(uid: Uid, version: number): void {
    this.#events.noteWritten(uid, version);
  }

  /** The history of the server was replaced by an older one. Returns which resources must be relisted. */
  historyReplaced(offered: OfferedResource, evidence: HistoryEvidence, now: number): ResetScope {
    this.#deletions.forgetAll();
    return this.#resets.of(offered, evidence, now);
  }

  /** Forgets entries that no longer count, so that an idle collector keeps no trace of the last cascade. */
  forgetOld(now: number): void {
    this.#deletions.forgetOld(now);
    this.#events.forgetShown();
  }

  #begin(scope: OutageScope): void {
    this.#epoch = nextEpoch(this.#epoch);
    if (scope === 'all') this.#epochOfAll = this.#epoch;
  }

  /** The events of these objects may never come: the server that is back may not have the writes that were accepted. */
  #takeAwaited(): readonly Uid[] {
    this.#deletions.forgetAll();
    return this.#events.take();
  }
}
