import type { OwnerAnswer } from '../decide/facts.ts';
import { isForbidden } from '../../api/status-error.ts';
import { Lru } from '../../base/collections/lru.ts';
import { TurnBudget } from '../../base/time/turn-budget.ts';
import { afterDelete } from '../decide/after-delete.ts';
import { afterRemoveFinalizer } from '../decide/after-remove-finalizer.ts';
import { afterRemoveReferences } from '../decide/after-remove-references.ts';
import { afterFailedUnblock, afterUnblock } from '../decide/after-unblock.ts';
import type {
  Action,
  DeleteAction,
  RemoveFinalizerAction,
  RemoveReferencesAction,
  UnblockReferencesAction,
} from '../decide/actions.ts';
import { attemptToDelete } from '../decide/attempt-to-delete.ts';
import { gatherFacts, type Round } from '../decide/gather-facts.ts';
import type { LiveObject } from '../decide/live-object.ts';
import { ownerAnswer, type OwnerKey, type OwnerLookup } from '../decide/owner-lookup.ts';
import type { Target } from '../decide/target.ts';
import { type Reason, sentenceOf } from '../types/reasons.ts';
import type { Verdict, NeedLatest } from '../decide/step.ts';
import type { BlockingDependents } from '../graph/graph.ts';
import type { Uid } from '../types/identity.ts';
import { parseWorkKey, workKey, type WorkKey } from '../queues/work-key.ts';
import { deleteObject } from '../operations/delete-object.ts';
import { removeReferences, unblockReferences } from '../operations/patch-references.ts';
import { type ReadAnswer, readMetadata } from '../operations/read-metadata.ts';
import { removeFinalizer } from '../operations/remove-finalizer.ts';
import type { VersionedAnswer, WriteAnswer } from '../operations/write-answer.ts';
import type { Epoch } from '../types/epoch.ts';
import { versionNumber } from '../types/version-number.ts';
import { acceptedAs, type PatchChange, tellDeletion, tellPatch, tookEffect } from './accepted-writes.ts';
import { type CollectorContext, factSource, aboutToTell, isShown } from './collector-context.ts';
import type { ActionResult, DecisionAbout } from './decision.ts';
import { failedWriteFields, type WriteAction } from './failed-write.ts';
import type { WorkOutcome } from './worker-pool.ts';

/** Maximum number of reads for one decision, of the item and its owners. More are needed only while the object keeps changing. */
const MAX_QUESTIONS = 8;

/**
 * Number of conflicts of a DELETE after each of which everything is read and decided again immediately, so that frequent changes of an
 * object do not delay its deletion for ever (COL-151). Then the key is requeued. That makes six tries in all; client-go's
 * `retry.DefaultRetry` makes five, 10 ms apart.
 */
const MAX_CONFLICTS = 5;

/** Number of retries of a key, ten seconds altogether, in which the watch may still show what a read has already shown. */
const LATE_WATCH_RETRIES = 11;

/** Reads of owners that are begun in one turn of the event loop. An object may name thousands of owners. */
const READS_PER_TURN = 32;

/**
 * Maximum number of owners whose queued blocking dependents are remembered. If an owner is forgotten, its dependents are queued once more
 * than necessary.
 */
const MAX_WAITING_OWNERS = 10_000;

/** The outcome of an action: it is done, its key is retried for a reason, or everything must be decided again. */
type ActionOutcome = End | Conflict;
type End = { readonly next: 'done' } | Requeue | Held;

interface Requeue {
  readonly next: 'requeue';
  readonly reason: Reason;
}

/** A DELETE was not sent. Its key is in no queue until the breaker puts it back. */
interface Held {
  readonly next: 'held';
  readonly reason: 'deletionHeld';
}

/** A DELETE was refused as a conflict. */
interface Conflict {
  readonly next: 'redecide';
  readonly refused: DeleteAction;
  readonly answer: WriteAnswer;
}

const done: ActionOutcome = { next: 'done' };

/**
 * The context of one action: why it is wanted, after which conflict it was decided again, and where its result is recorded. All decisions
 * about a key share one list of results, because finished actions stay done when a conflict undoes the rest.
 */
interface Errand {
  readonly key: WorkKey;
  readonly reason: Reason;
  /** The epoch in which the decision began. The proofs of its reads count from then on. */
  readonly epoch: Epoch;
  readonly conflict: Conflict | undefined;
  readonly results: ActionResult[];
}

/** Actions that send a write to the API server. */
const writes: ReadonlySet<Action['action']> = new Set([
  'delete',
  'removeFinalizer',
  'removeReferences',
  'unblockReferences',
]);

/** Most keys are decided by the graph alone. */
const NO_ANSWERS: ReadonlyMap<OwnerKey, OwnerAnswer> = new Map();

/** The final verdict of a decision after its actions. */
function endOf({ verdict, reason }: Verdict, outcome: End): Pick<Verdict, 'verdict' | 'reason'> {
  return outcome.next === 'done' ? { verdict, reason } : { verdict: 'requeue', reason: outcome.reason };
}

/**
 * Takes one uid at a time through the decision table (COL-090): asks `decide`, fetches the facts that it needs, and carries out its
 * actions.
 */
export class DeleteWorker {
  readonly #context: CollectorContext;
  /** The blocking dependents of an owner when they were last queued for it, by owner (COL-102). */
  readonly #blockingWhenQueued = new Lru<Uid, BlockingDependents>({ capacity: MAX_WAITING_OWNERS });
  readonly #reads: TurnBudget;

  constructor(context: CollectorContext) {
    this.#context = context;
    this.#reads = new TurnBudget(context.clock, READS_PER_TURN);
  }

  readonly process = async (key: WorkKey): Promise<WorkOutcome> => {
    const { uid, queuedAs } = parseWorkKey(key);
    const about = aboutToTell(this.#context, key);
    const { trust, clock } = this.#context;
    const unansweredAt = trust.unansweredAt(key);
    let { epoch } = trust;
    let round: Round = {
      uid,
      queuedAs,
      shortcut: 'allowed',
      latest: { state: 'unasked' },
      owners: NO_ANSWERS,
      blockingWhenQueued: this.#blockingWhenQueued.get(uid),
      endAccepted: trust.acceptedDeletion(uid, clock.monotonic()),
    };
    let questions = 0;
    let conflicts = 0;
    let conflict: Conflict | undefined;
    const results: ActionResult[] = [];
    while (questions < MAX_QUESTIONS) {
      const step = attemptToDelete(gatherFacts(factSource(this.#context, unansweredAt), round));
      if ('need' in step) {
        questions++;
        if (step.need === 'latest') {
          round = { ...round, latest: await this.#readItem(key, step) };
        } else {
          round = { ...round, owners: await this.#readOwners(key, round.owners, step.lookups) };
        }
        continue;
      }
      const errand: Errand = { key, reason: step.reason, epoch, conflict, results };
      const outcome = await this.#carryOut(step, errand);
      if (outcome.next === 'redecide' && conflicts < MAX_CONFLICTS && !this.#context.stopping.aborted) {
        results.push({ action: outcome.refused, answered: 'deleteConflict' });
        conflict = outcome;
        conflicts++;
        questions = 0;
        epoch = trust.epoch;
        round = { ...round, shortcut: 'spent', latest: { state: 'unasked' }, owners: NO_ANSWERS };
        continue;
      }
      // A conflict counts as a failure if no immediate retry is left, or if no more work may begin (COL-215).
      const end =
        outcome.next === 'redecide' ? this.#failed(outcome.refused, outcome.answer, errand, 'deleteConflict') : outcome;
      const finished = this.#finish(about, step, { outcome: end, results });
      if (finished !== 'requeue') trust.attemptEnded(key);
      if (finished === 'forget') this.#awaitEvent(round, step, results);
      if (end.next === 'held') return 'leave';
      return finished === 'forget' ? this.#afterForget(round, step) : finished;
    }
    const undecided: Verdict = { verdict: 'requeue', reason: 'factsKeptChanging', actions: [] };
    return this.#finish(about, undecided, { outcome: { next: 'done' }, results });
  };

  #finish(
    about: DecisionAbout,
    step: Verdict,
    { outcome, results }: { readonly outcome: End; readonly results: readonly ActionResult[] },
  ): WorkOutcome {
    const { metrics, logger, onDecision } = this.#context;
    const { verdict, reason } = endOf(step, outcome);
    metrics.decisions.inc({ verdict, reason });
    logger.debug(sentenceOf(reason), { uid: about.uid, verdict, reason });
    onDecision?.({ ...about, verdict, reason, actions: step.actions, decided: step.reason, results });
    if (reason !== 'blockedByDependents') this.#blockingWhenQueued.delete(about.uid);
    return verdict;
  }

  /**
   * Notes which event the forgotten key waits for. The key is forgotten because of a write, now or earlier, or because a read differs from
   * the graph.
   */
  #awaitEvent({ uid, latest }: Round, { reason }: Verdict, results: readonly ActionResult[]): void {
    const { trust } = this.#context;
    let version = latest.state === 'found' ? versionNumber(latest.object.resourceVersion) : Number.NaN;
    // If the graph had never seen the object when the earlier write was accepted, nothing was noted. The version that the graph has
    // received since is the one that this write was based on.
    let isWritten = reason === 'endNotShownYet';
    for (const { action, answered } of results) {
      if (answered === undefined) continue;
      // After a conflict everything was read anew, also the fields that had been written before it.
      isWritten = answered !== 'deleteConflict';
      if (action.action === 'delete' && isWritten) version = versionNumber(action.preconditions.resourceVersion);
    }
    if (isWritten) trust.leftAsWritten(uid, version);
    else trust.leftAsRead(uid, version);
  }

  /** The outcome for a key whose decision is `forget`. The node may still be virtual. */
  #afterForget({ uid, latest }: Round, { actions }: Verdict): WorkOutcome {
    if (this.#context.graph.node(uid)?.state !== 'virtual') return 'forget';
    // The object exists. Until its monitor has shown it, nobody would notice its deletion (COL-071, COL-092).
    if (latest.state === 'found' && latest.object.uid === uid) return 'requeue';
    // No object has these coordinates, but some reference names others (COL-075). While an object holds references with different
    // coordinates to one absent uid, the coordinates take turns, and must do so ever more slowly.
    return actions.some(({ action }) => action === 'emitVirtualDelete') ? 'leave' : 'forget';
  }

  /** Reads the item. If the read differs from the graph and the watch does not soon show the same, the resource is relisted. */
  async #readItem(key: WorkKey, { target, notOlderThan }: NeedLatest): Promise<ReadAnswer> {
    const { graph, trust, queues, onContradicted } = this.#context;
    const read = await this.#read(key, target, notOlderThan);
    const node = graph.node(target.uid);
    if (read.state === 'error' || node?.state !== 'observed') return read;
    const isThere = read.state === 'found' && read.object.uid === target.uid;
    const { apiVersion, kind } = node.identity;
    const waitsForWatch = trust.shows(apiVersion, kind) && queues.attemptToDelete.numRequeues(key) < LATE_WATCH_RETRIES;
    if (isThere ? node.unlisted : !node.unlisted && !waitsForWatch) onContradicted(target);
    return read;
  }

  async #readOwners(
    key: WorkKey,
    known: ReadonlyMap<OwnerKey, OwnerAnswer>,
    lookups: readonly OwnerLookup[],
  ): Promise<ReadonlyMap<OwnerKey, OwnerAnswer>> {
    const answers = new Map(known);
    await Promise.all(
      lookups.map(async (lookup) => {
        const pause = this.#reads.spend();
        if (pause !== undefined) await pause;
        const read = await this.#read(key, lookup.target, lookup.notOlderThan);
        answers.set(lookup.key, ownerAnswer(lookup, read.state === 'found' ? read.object : read.state));
      }),
    );
    return answers;
  }

  /** A missing right must be reported (COL-221). Every other failure passes, or is reported by the watch of the resource. */
  async #read(key: WorkKey, target: Target, notOlderThan?: string): Promise<ReadAnswer> {
    const { logger, failures } = this.#context;
    const read = await readMetadata(this.#context, target, notOlderThan);
    if (read.state === 'error') {
      this.#noteFailure(key, target, read.error);
      const log = isForbidden(read.error) ? failures : { warn: logger.debug.bind(logger) };
      log.warn('failed to read an object, will retry', { ...target, error: read.error.message });
    }
    return read;
  }

  /** A server that has not answered may be in an older state when it answers again (designs/0011). */
  #noteFailure(key: WorkKey, target: Target, error: Error | undefined): void {
    if (error !== undefined) this.#context.onCallFailed(key, target, error);
  }

  /** Carries out the actions in order. The first action that fails ends the list (COL-094). */
  async #carryOut({ actions }: Verdict, errand: Errand): Promise<ActionOutcome> {
    /** The object in the answer to an unblocking patch, for the delete that follows the patch. */
    let patched: LiveObject | undefined;
    for (const action of actions) {
      if (this.#context.writes === 'withheld' && writes.has(action.action)) {
        errand.results.push({ action, answered: undefined, withheld: true });
        continue;
      }
      if (action.action === 'unblockReferences') {
        const answer = await unblockReferences(this.#context, action);
        if (answer.answer !== 'accepted') {
          return this.#failed(action, answer, errand, afterFailedUnblock(answer.answer).reason);
        }
        this.#patched(action, { answered: acceptedAs(answer, 'patchNotNeeded'), change: 'unblock' }, errand);
        patched = answer.object;
        continue;
      }
      const outcome = await this.#act(action, patched, errand);
      if (outcome.next !== 'done') return outcome;
    }
    return done;
  }

  #act(
    action: Exclude<Action, { action: 'unblockReferences' }>,
    patched: LiveObject | undefined,
    errand: Errand,
  ): ActionOutcome | Promise<ActionOutcome> {
    const { apply, absentOwners } = this.#context;
    switch (action.action) {
      case 'delete': {
        if (action.preconditions.resourceVersion !== 'fromPatch') return this.#delete(action, errand);
        const next = afterUnblock(action, patched);
        return 'next' in next ? this.#delete(next.action, errand) : { next: 'requeue', reason: next.reason };
      }
      case 'removeReferences':
        return this.#removeReferences(action, errand);
      case 'removeFinalizer':
        return this.#removeFinalizer(action, errand);
      case 'emitVirtualDelete':
        apply({ type: 'virtualDelete', identity: action.identity }, errand.epoch);
        break;
      case 'noteAbsentOwner':
        this.#context.logger.debug(sentenceOf('coordinatesAbsent'), {
          ...action.identity,
          reason: 'coordinatesAbsent',
        });
        absentOwners.note(action.identity, errand.epoch);
        break;
      case 'enqueueBlockingDependents':
        this.#enqueueBlockingDependents(action.owner);
        break;
    }
    errand.results.push({ action, answered: undefined });
    return done;
  }

  /** Sends a DELETE, and acts on its answer (COL-093, COL-098, COL-150…152). */
  async #delete(action: DeleteAction, errand: Errand): Promise<ActionOutcome> {
    const { trust, clock } = this.#context;
    const { target, policy, preconditions } = action;
    const { conflict } = errand;
    // The object is unchanged, so the conflict was about something else: a webhook may deny with that code.
    if (conflict?.refused.preconditions.resourceVersion === preconditions.resourceVersion) {
      // Nothing is sent. The conflict of the refused DELETE is replaced by a failure in the results.
      errand.results.splice(
        errand.results.findLastIndex((result) => result.action === conflict.refused),
        1,
      );
      return this.#failed(action, { ...conflict.answer, answer: 'failed' }, errand);
    }
    const { breaker } = this.#context;
    const admission = breaker?.admit(errand.key, { uid: target.uid, owners: action.classified });
    if (admission?.admission === 'held') {
      errand.results.push({ action, answered: 'deletionHeld' });
      return { next: 'held', reason: 'deletionHeld' };
    }
    const answer = await deleteObject(this.#context, { target, policy, preconditions });
    if (admission !== undefined && answer.answer !== 'accepted') {
      breaker?.takeBack(admission, isRefusal(answer.answer) ? 'stays' : 'may be gone');
    }
    const next = afterDelete(action, answer.answer);
    if ('next' in next) return { ...next, refused: action, answer };
    if (answer.answer === 'accepted') {
      trust.deletionAccepted(
        target.uid,
        { resourceVersion: preconditions.resourceVersion, by: 'delete' },
        clock.monotonic(),
      );
      tellDeletion(this.#context, action, errand.reason);
    }
    if (next.verdict === 'requeue') return this.#failed(action, answer, errand, next.reason);
    if (answer.answer === 'absent' && this.#isShown(target.uid))
      return this.#absentButShown(action, errand, next.reason);
    errand.results.push({ action, answered: next.reason });
    for (const follow of next.actions) {
      if (follow.action !== 'emitVirtualDelete') continue;
      this.#context.apply({ type: 'virtualDelete', identity: follow.identity }, errand.epoch);
      errand.results.push({ action: follow, answered: undefined });
    }
    return done;
  }

  /** The server answers that the object is absent, but the watch shows it: the object is read again until both agree (COL-116). */
  #absentButShown(action: WriteAction, { results }: Errand, answered: Reason): Requeue {
    results.push({ action, answered });
    return { next: 'requeue', reason: 'absentButShown' };
  }

  #isShown(uid: Uid): boolean {
    return isShown(this.#context, uid);
  }

  async #removeFinalizer(action: RemoveFinalizerAction, errand: Errand): Promise<ActionOutcome> {
    const { trust, clock } = this.#context;
    const { only, target, finalizer } = action;
    const answer = await removeFinalizer(this.#context, action);
    const { verdict, reason } = afterRemoveFinalizer(answer.answer);
    if (verdict === 'requeue') return this.#failed(action, answer, errand, reason);
    if (answer.answer === 'absent' && this.#isShown(target.uid)) return this.#absentButShown(action, errand, reason);
    if (only !== undefined) {
      trust.deletionAccepted(target.uid, { resourceVersion: only, by: 'finalizer' }, clock.monotonic());
    }
    const answered = reason === 'patchAccepted' ? acceptedAs(answer, 'finalizerAlreadyRemoved') : reason;
    this.#patched(action, { answered, change: finalizer }, errand);
    return done;
  }

  async #removeReferences(action: RemoveReferencesAction, errand: Errand): Promise<ActionOutcome> {
    const { target, owners, identity } = action;
    const answer = await removeReferences(this.#context, action);
    let release = afterRemoveReferences({ target, owners, answer: answer.answer, latest: { state: 'unasked' } });
    if ('need' in release) {
      const latest = await this.#read(errand.key, target);
      release = afterRemoveReferences({ target, owners, answer: answer.answer, latest });
    }
    if ('need' in release) return this.#failed(action, answer, errand);
    if (release.release === 'failed') return this.#failed(action, answer, errand, release.reason);
    if (release.release === 'gone' && this.#isShown(target.uid)) {
      return this.#absentButShown(action, errand, release.reason);
    }
    const answered = release.reason === 'patchAccepted' ? acceptedAs(answer, 'patchNotNeeded') : release.reason;
    this.#patched(action, { answered, change: 'removeReferences' }, errand);
    const late = errand.reason === 'orphanedReferencesReleased' && tookEffect(answered);
    if (late) this.#context.onReleasedLate(identity, owners.length);
    if (release.release === 'gone') this.#context.apply({ type: 'virtualDelete', identity }, errand.epoch);
    return done;
  }

  /** Notes and logs that the change of a patch is in place. */
  #patched(
    action: RemoveReferencesAction | RemoveFinalizerAction | UnblockReferencesAction,
    { answered, change }: { readonly answered: Reason; readonly change: PatchChange },
    { reason, results }: Errand,
  ): void {
    results.push({ action, answered });
    tellPatch(this.#context, { target: action.target, change }, { reason, answered });
  }

  #enqueueBlockingDependents(owner: Uid): void {
    const { graph, queues, onQueued } = this.#context;
    const id = graph.find(owner);
    if (id < 0) return;
    this.#blockingWhenQueued.set(owner, graph.blockingDependents(id));
    graph.forEachBlockingDependent(id, (dependent) => {
      if (graph.isDeletingDependents(dependent)) return;
      const uid = graph.uidAt(dependent);
      const as = graph.isObserved(dependent) ? 'observed' : 'virtual';
      onQueued({ queue: 'attemptToDelete', uid, as }, 'blocksOwner');
      queues.attemptToDelete.add(workKey(uid, as));
    });
  }

  #failed(
    action: WriteAction,
    { answer, error }: VersionedAnswer,
    { key, reason: decided, results }: Errand,
    reason: Reason = 'writeRejected',
  ): Requeue {
    const { logger, failures } = this.#context;
    const isChange = answer === 'conflict' || answer === 'outdated';
    // The error after four conflicts in a row is made by this process, so it says nothing about the server.
    if (!isChange) this.#noteFailure(key, action.target, error);
    const log = isChange ? { warn: logger.debug.bind(logger) } : failures;
    const fields = { ...failedWriteFields(action), answer, error: error?.message, decided, reason };
    log.warn('write failed, will retry', fields);
    results.push({ action, answered: reason });
    return { next: 'requeue', reason };
  }
}

/** True for an answer that says that the server has not deleted the object. A failure may hide a DELETE that was carried out. */
const isRefusal = (answer: VersionedAnswer['answer']): boolean =>
  answer === 'conflict' || answer === 'outdated' || answer === 'invalid';
