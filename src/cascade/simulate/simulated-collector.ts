import type { DeleteOptions } from '../../api/deletion/delete-options.ts';
import type { Action, DeleteAction } from '../../collector/decide/actions.ts';
import { afterDelete } from '../../collector/decide/after-delete.ts';
import { afterUnblock } from '../../collector/decide/after-unblock.ts';
import { attemptToDelete } from '../../collector/decide/attempt-to-delete.ts';
import { attemptToOrphan } from '../../collector/decide/attempt-to-orphan.ts';
import type { LatestAnswer, OwnerAnswer } from '../../collector/decide/facts.ts';
import { gatherFacts, type FactSource, type Round } from '../../collector/decide/gather-facts.ts';
import { beginOrphanRound, gatherOrphanFacts, lookedAtOwner } from '../../collector/decide/gather-orphan-facts.ts';
import type { LiveObject } from '../../collector/decide/live-object.ts';
import { ownerAnswer, type OwnerKey, type OwnerLookup } from '../../collector/decide/owner-lookup.ts';
import type { Released } from '../../collector/decide/orphan-step.ts';
import type { Verdict } from '../../collector/decide/step.ts';
import { type Target, targetOf } from '../../collector/decide/target.ts';
import type { Effect } from '../../collector/graph/effect.ts';
import type { BlockingDependents } from '../../collector/graph/graph.ts';
import type { Reason } from '../../collector/types/reasons.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { AbsentOwners } from './absent-owners.ts';
import { type Key, keyOf, KeyQueue, parseKey } from './key-queue.ts';
import { IN_DELETES, IN_ORPHANS, type ObjectNumbers } from './object-numbers.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trail, Trails } from './trail.ts';

/** Maximum number of reads in one round: one for the object and one for each owner, unless coordinates change. */
const MAX_QUESTIONS = 10;
const MAX_CONFLICTS = 3;
/** Maximum number of retries of one key, each with another identity of a missing owner. */
const MAX_DELAYED = 32;
const NO_ANSWERS: ReadonlyMap<OwnerKey, OwnerAnswer> = new Map();

interface Decision {
  readonly verdict: Verdict;
  /** True if the object was observed when this was decided. */
  readonly isObserved: boolean;
}

/**
 * The collector on a simulated server (CAS-010): the same facts and decisions, with queues of its own, one key after the other. Keys that
 * the real one retries later are retried when nothing else is left.
 */
export class SimulatedCollector {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #numbers: ObjectNumbers;
  readonly #absentOwners: AbsentOwners;
  readonly #deletes: KeyQueue;
  readonly #orphans: KeyQueue;
  /** Keys without a final decision. */
  readonly #parked = new Map<Key, 'delete' | 'orphan'>();
  readonly #delayed = new Map<Key, number>();
  /** By the number of the owner. */
  readonly #blockingWhenQueued = new Map<number, BlockingDependents>();
  readonly #source: FactSource;

  constructor(
    snapshot: Snapshot,
    server: SimulatedServer,
    { numbers, trails }: { readonly numbers: ObjectNumbers; readonly trails: Trails },
  ) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#numbers = numbers;
    this.#trails = trails;
    this.#absentOwners = new AbsentOwners(snapshot.graph, numbers);
    this.#deletes = new KeyQueue(numbers.marks, IN_DELETES);
    this.#orphans = new KeyQueue(numbers.marks, IN_ORPHANS);
    this.#source = {
      graph: server.graph,
      absentOwners: this.#absentOwners,
      mapping: (apiVersion, kind, resource) => this.#mapping(apiVersion, kind, resource),
      trust: 'trusted',
    };
  }

  /** Carries out the effects of the graph. */
  readonly effects = (effects: readonly Effect[]): void => {
    for (const effect of effects) {
      switch (effect.effect) {
        case 'enqueue': {
          const key = keyOf(this.#numbers.of(effect.uid), effect.as);
          if (effect.queue === 'attemptToOrphan') this.#orphans.add(key);
          else if (effect.delay === 'none') this.#deletes.add(key);
          else this.#delay(key);
          break;
        }
        case 'noteAbsentOwner':
          this.#absentOwners.note(effect.identity);
          break;
        case 'dropAbsentOwner':
          this.#absentOwners.drop(effect.uid);
          break;
        case 'reportInvalidNamespace':
          break;
      }
    }
  };

  /** Works until its queues are empty. Returns whether it did anything. The graph bounds it, because each key waits for a change. */
  work(): boolean {
    let worked = false;
    for (;;) {
      const orphan = this.#orphans.take();
      const key = orphan ?? this.#deletes.take();
      if (key === undefined) return worked;
      worked = true;
      const verdict = orphan === undefined ? this.#delete(key) : this.#orphan(key);
      if (verdict === 'requeue') this.#parked.set(key, orphan === undefined ? 'delete' : 'orphan');
    }
  }

  /** Decides about an object that a person changed, even if the graph queued nothing. */
  look(uid: string): void {
    this.#deletes.add(keyOf(this.#numbers.of(uid), 'observed'));
  }

  /** Retries keys without a final decision. Returns whether there were any. */
  retry(): boolean {
    const parked = [...this.#parked];
    this.#parked.clear();
    for (const [key, queue] of parked) (queue === 'delete' ? this.#deletes : this.#orphans).add(key);
    return parked.length > 0;
  }

  /** Keys that would be retried for ever. */
  get parked(): Iterable<string> {
    return [...this.#parked.keys()].map((key) => this.#numbers.uidOf(parseKey(key).number));
  }

  #delay(key: Key): void {
    const times = (this.#delayed.get(key) ?? 0) + 1;
    this.#delayed.set(key, times);
    if (times <= MAX_DELAYED) this.#deletes.add(key);
  }

  #mapping(apiVersion: string, kind: string, resource: string | undefined): ReturnType<FactSource['mapping']> {
    const { catalogue } = this.#snapshot;
    const mapping = catalogue.mapping(apiVersion, kind, resource);
    if (mapping === undefined || this.#server.servesAll) return mapping;
    const served = catalogue.at(mapping.apiVersion, mapping.resource);
    return served === undefined || this.#server.isServed(served) ? mapping : undefined;
  }

  /** Owners whose references the collector would remove if it took the object now. Changes nothing. */
  ownersReleasedNow(uid: string): readonly string[] {
    const actions = this.#decide(this.#beginRound(uid, 'observed'))?.verdict.actions ?? [];
    return actions.flatMap((action) => (action.action === 'removeReferences' ? action.owners : []));
  }

  #delete(key: Key): Verdict['verdict'] {
    const { number, queuedAs } = parseKey(key);
    const uid = this.#numbers.uidOf(number);
    let round = this.#beginRound(uid, queuedAs);
    for (let conflicts = 0; ; conflicts++) {
      const decision = this.#decide(round);
      if (decision === undefined) return 'requeue';
      const { verdict: step, isObserved } = decision;
      if (isObserved) this.#noteDecision(uid, step);
      const outcome = this.#carryOut(step);
      if (outcome === 'redecide' && conflicts < MAX_CONFLICTS) {
        round = { ...round, shortcut: 'spent' };
        continue;
      }
      if (step.reason !== 'blockedByDependents') this.#blockingWhenQueued.delete(number);
      return outcome === 'done' ? step.verdict : 'requeue';
    }
  }

  #beginRound(uid: string, queuedAs: Round['queuedAs']): Round {
    return {
      uid,
      queuedAs,
      shortcut: 'allowed',
      latest: { state: 'unasked' },
      owners: NO_ANSWERS,
      blockingWhenQueued: this.#blockingWhenQueued.get(this.#numbers.of(uid)),
      endAccepted: undefined,
    };
  }

  /** Reads what the decision needs until there is a verdict; undefined if it needs too much. */
  #decide(begun: Round): Decision | undefined {
    let round = begun;
    for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
      const facts = gatherFacts(this.#source, round);
      const step = attemptToDelete(facts);
      if (!('need' in step)) return { verdict: step, isObserved: facts.node?.state === 'observed' };
      round =
        step.need === 'latest'
          ? { ...round, latest: this.#latest(step.target) }
          : { ...round, owners: this.#answers(round.owners, step.lookups) };
    }
    return undefined;
  }

  /** Notes a decision about an observed object. */
  #noteDecision(uid: string, { reason, actions }: Verdict): void {
    if (reason === 'goneFromGraph' || reason === 'virtualEntryOutdated' || this.#server.removed.has(uid)) return;
    const trail = this.#trails.of(uid);
    trail.decided = reason;
    for (const action of actions) {
      if (action.action === 'delete' && reason === 'ownersAbsent') {
        for (const { uid: owner } of action.classified) {
          // A waiting owner also has its dependents deleted; which of the two comes first is a race.
          const raced = this.#trails.find(owner)?.waited === true;
          if (this.#server.removed.has(owner) && !raced) this.#trails.add(trail, 'waitsFor', owner);
        }
      }
    }
  }

  #latest(target: Target): LatestAnswer {
    const read = this.#server.read(target);
    if (read === 'unknown') return { state: 'error', target };
    return read === 'absent' ? { state: 'absent', target } : { state: 'found', target, object: read };
  }

  #answers(known: Round['owners'], lookups: readonly OwnerLookup[]): Round['owners'] {
    const answers = new Map<OwnerKey, OwnerAnswer>(known);
    for (const lookup of lookups) {
      const read = this.#server.read(lookup.target);
      answers.set(lookup.key, ownerAnswer(lookup, read === 'unknown' ? 'error' : read));
    }
    return answers;
  }

  #carryOut({ actions, reason }: Verdict): 'done' | 'failed' | 'redecide' {
    let patched: LiveObject | undefined;
    for (const action of actions) {
      const outcome = this.#act(action, reason, patched);
      if (outcome === 'done') continue;
      if (typeof outcome === 'string') return outcome;
      patched = outcome.patched;
    }
    return 'done';
  }

  #act(
    action: Action,
    reason: Reason,
    patched: LiveObject | undefined,
  ): 'done' | 'failed' | 'redecide' | { readonly patched: LiveObject | undefined } {
    switch (action.action) {
      case 'delete': {
        if (action.preconditions.resourceVersion !== 'fromPatch') return this.#sendDelete(action);
        const next = afterUnblock(action, patched);
        return 'next' in next ? this.#sendDelete(next.action) : 'failed';
      }
      case 'unblockReferences': {
        const { target, all, references, resourceVersion } = action;
        const answer = this.#server.replaceReferences(target.uid, all, resourceVersion);
        if (answer !== 'accepted') return 'failed';
        this.#unblocked(
          target.uid,
          references.map(({ uid }) => uid),
        );
        const live = this.#server.read(target);
        return { patched: typeof live === 'string' ? undefined : live };
      }
      case 'removeReferences': {
        const trail = this.#trails.of(action.target.uid);
        const answer = this.#server.removeReferences(action.target.uid, action.owners, action.only);
        if (answer === 'conflict') return 'failed';
        if (answer === 'accepted') {
          for (const owner of action.owners) this.#trails.add(trail, 'loses', owner);
          if (reason === 'orphanedReferencesReleased') trail.noteOrphaned();
        }
        return 'done';
      }
      case 'removeFinalizer': {
        const { target, finalizer, only } = action;
        return this.#server.removeFinalizer(target.uid, finalizer, only) === 'conflict' ? 'failed' : 'done';
      }
      case 'emitVirtualDelete':
        this.#server.tell({ type: 'virtualDelete', identity: action.identity });
        return 'done';
      case 'noteAbsentOwner':
        this.#absentOwners.note(action.identity);
        return 'done';
      case 'enqueueBlockingDependents':
        this.#enqueueBlockingDependents(action.owner);
        return 'done';
    }
  }

  #sendDelete(action: DeleteAction): 'done' | 'failed' | 'redecide' {
    const { target, policy, preconditions } = action;
    const { uid, resourceVersion } = preconditions;
    const trail = this.#trails.of(uid);
    trail.cause ??= 'collected';
    // A version that is not a number is not in the graph, so the decision read the object itself.
    const options: DeleteOptions = { propagationPolicy: policy, preconditions: { uid, resourceVersion } };
    const sent = this.#server.delete(target.uid, options);
    if (sent.answer === 'refused') {
      trail.refused = sent.message;
      return 'failed';
    }
    const answer = sent.answer === 'absent' || sent.answer === 'conflict' ? sent.answer : 'accepted';
    const next = afterDelete(action, answer);
    if ('next' in next) return 'redecide';
    for (const follow of next.actions) {
      if (follow.action === 'emitVirtualDelete')
        this.#server.tell({ type: 'virtualDelete', identity: follow.identity });
    }
    return next.verdict === 'requeue' ? 'failed' : 'done';
  }

  /** A waiting owner no longer waits for unblocked dependents. */
  #unblocked(uid: string, owners: readonly string[]): void {
    for (const owner of owners) {
      const trail = this.#trails.find(owner);
      if (trail !== undefined) this.#trails.waitsNoMore(trail, uid);
    }
  }

  #enqueueBlockingDependents(owner: string): void {
    const { graph } = this.#server;
    const id = graph.find(owner);
    if (id < 0) return;
    this.#blockingWhenQueued.set(this.#numbers.of(owner), graph.blockingDependents(id));
    graph.forEachBlockingDependent(id, (dependent) => {
      if (graph.isDeletingDependents(dependent)) return;
      const number = this.#numbers.of(graph.uidAt(dependent));
      this.#deletes.add(keyOf(number, graph.isObserved(dependent) ? 'observed' : 'virtual'));
    });
  }

  #orphan(key: Key): Verdict['verdict'] {
    const uid = this.#numbers.uidOf(parseKey(key).number);
    let round = beginOrphanRound(this.#source, uid, { triedBefore: false });
    for (let questions = 0; questions < MAX_QUESTIONS; questions++) {
      const step = attemptToOrphan(gatherOrphanFacts(this.#source, round));
      if (!('need' in step)) {
        const { graph } = this.#server;
        const id = graph.find(uid);
        if (id >= 0 && graph.isObserved(id)) this.#noteDecision(uid, step);
        const outcome = this.#carryOut(step);
        return outcome === 'done' ? step.verdict : 'requeue';
      }
      switch (step.need) {
        case 'latest':
          round = lookedAtOwner(this.#source, round, this.#latest(step.target));
          break;
        case 'released':
          round = { ...round, released: this.#release(uid, step.dependents) };
          break;
        case 'barrier':
          // Every list is as recent as the graph.
          round = { ...round, barrier: 'clear' };
          break;
        case 'foundReleased':
          round = { ...round, foundReleased: 'all' };
          break;
      }
    }
    return 'requeue';
  }

  #release(owner: string, dependents: readonly string[]): Released {
    const { graph } = this.#server;
    let released: Released = 'all';
    for (const uid of dependents) {
      const node = graph.node(uid);
      if (node === undefined) continue;
      const { identity } = node;
      const mapping = this.#source.mapping(identity.apiVersion, identity.kind, graph.resourceAt(node.id));
      if (mapping === undefined) {
        released = 'failed';
        continue;
      }
      const { uid: dependent } = targetOf(identity, mapping);
      if (this.#server.removeReferences(dependent, [owner]) !== 'accepted') continue;
      const trail: Trail = this.#trails.of(dependent);
      this.#trails.add(trail, 'loses', owner);
      trail.noteOrphaned();
      trail.decided = 'ownerOrphaned';
    }
    return released;
  }
}
