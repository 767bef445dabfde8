import { afterRemoveFinalizer } from '../decide/after-remove-finalizer.ts';
import { attemptToOrphan } from '../decide/attempt-to-orphan.ts';
import { beginOrphanRound, gatherOrphanFacts, lookedAtOwner, type OrphanRound } from '../decide/gather-orphan-facts.ts';
import type { OrphanStep } from '../decide/orphan-step.ts';
import type { Verdict } from '../decide/step.ts';
import type { Target } from '../decide/target.ts';
import { parseWorkKey, type WorkKey } from '../queues/work-key.ts';
import { readMetadata } from '../operations/read-metadata.ts';
import { removeFinalizer } from '../operations/remove-finalizer.ts';
import { sentenceOf } from '../types/reasons.ts';
import { acceptedAs, tellPatch } from './accepted-writes.ts';
import { aboutToTell, type CollectorContext, factSource, isShown } from './collector-context.ts';
import type { ActionResult, CarriedOut, DecisionAbout } from './decision.ts';
import type { BarrierAnswer } from './orphan-barrier.ts';
import type { ReleaseDependents } from './release-dependents.ts';
import type { WorkOutcome } from './worker-pool.ts';

/**
 * One round needs at most these steps: the owner, the release of its known dependents, the barrier, and the release of those it found. More
 * are needed only while the owner keeps changing its coordinates.
 */
const MAX_STEPS = 8;

export interface OrphanWorkerOptions {
  readonly release: ReleaseDependents;
  /** Notes the owner before it is deleted (LIFE-560). `termEnded`: it may not be deleted now. */
  readonly records: { record(owner: Target, signal: AbortSignal): Promise<'recorded' | 'termEnded'> };
  /** Undefined: the owner is deleted as soon as its known dependents no longer refer to it, as in Kubernetes (COL-127). */
  readonly barrier: { ask(owner: Target): Promise<BarrierAnswer> } | undefined;
}

/** Releases the dependents of one owner, then removes the orphan finalizer from the owner. */
export class OrphanWorker {
  readonly #context: CollectorContext;
  readonly #options: OrphanWorkerOptions;

  constructor(context: CollectorContext, options: OrphanWorkerOptions) {
    this.#context = context;
    this.#options = options;
  }

  readonly process = async (key: WorkKey): Promise<WorkOutcome> => {
    const { uid } = parseWorkKey(key);
    const about = aboutToTell(this.#context, key);
    const triedBefore = this.#context.queues.attemptToOrphan.numRequeues(key) > 0;
    let round = beginOrphanRound(factSource(this.#context), uid, { triedBefore });
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const step = attemptToOrphan(gatherOrphanFacts(factSource(this.#context), round));
      if (!('need' in step)) return this.#finish(gaveUp(round) ? { ...about, barrier: 'gaveUp' } : about, step);
      const next = await this.#answered(round, step);
      if (next === 'termEnded') return 'requeue';
      round = next;
    }
    return this.#finish(about, { verdict: 'requeue', reason: 'factsKeptChanging', actions: [] });
  };

  /** `termEnded`: there is no answer, and nothing more is begun. */
  async #answered(round: OrphanRound, step: Exclude<OrphanStep, Verdict>): Promise<OrphanRound | 'termEnded'> {
    const { release, barrier } = this.#options;
    const owner = round.uid;
    // Answers as if all steps had succeeded, so that the decision shows what follows.
    if (this.#context.writes === 'withheld' && step.need !== 'latest') {
      return { ...round, released: 'all', foundReleased: 'all', barrier: 'clear' };
    }
    switch (step.need) {
      case 'latest': {
        const latest = await readMetadata(this.#context, step.target);
        return lookedAtOwner(factSource(this.#context), round, latest);
      }
      case 'released':
        return { ...round, released: await release.known(owner, step.dependents) };
      case 'foundReleased':
        return { ...round, foundReleased: await release.found(owner, step.dependents) };
      case 'barrier': {
        if (barrier === undefined) return { ...round, barrier: 'gaveUp' };
        const answer = await barrier.ask(step.owner);
        // The lists were aborted, which does not count as giving up: the next leader asks again.
        if (answer === 'gaveUp' && this.#context.signal.aborted) return 'termEnded';
        this.#context.metrics.barriers.inc({ outcome: typeof answer === 'object' ? 'found' : answer });
        return { ...round, barrier: answer };
      }
    }
  }

  async #finish(about: DecisionAbout & Pick<CarriedOut, 'barrier'>, step: Verdict): Promise<WorkOutcome> {
    const { actions, reason: decided } = step;
    const results: ActionResult[] = [];
    for (const action of actions) {
      if (action.action !== 'removeFinalizer') continue;
      if (this.#context.writes === 'withheld') {
        results.push({ action, answered: undefined, withheld: true });
        continue;
      }
      const recorded = await this.#options.records.record(action.target, this.#context.signal);
      if (recorded === 'termEnded') return 'requeue';
      const answer = await removeFinalizer(this.#context, action);
      const wrongly404 = answer.answer === 'absent' && isShown(this.#context, action.target.uid);
      const { verdict, reason }: Pick<Verdict, 'verdict' | 'reason'> = wrongly404
        ? { verdict: 'requeue', reason: 'absentButShown' }
        : afterRemoveFinalizer(answer.answer);
      if (verdict === 'requeue') {
        const { logger, failures } = this.#context;
        const log = answer.answer === 'outdated' || wrongly404 ? { warn: logger.debug.bind(logger) } : failures;
        log.warn(sentenceOf(reason), { ...action.target, error: answer.error?.message, decided, reason });
        results.push({ action, answered: reason });
        return this.#tell({ ...about, verdict, reason, actions, decided, results });
      }
      const answered = reason === 'patchAccepted' ? acceptedAs(answer, 'finalizerAlreadyRemoved') : reason;
      results.push({ action, answered });
      tellPatch(this.#context, { target: action.target, change: action.finalizer }, { reason: decided, answered });
    }
    return this.#tell({ ...about, ...step, decided, results });
  }

  #tell(decision: CarriedOut): WorkOutcome {
    const { metrics, logger, onDecision } = this.#context;
    const { uid, verdict, reason } = decision;
    metrics.decisions.inc({ verdict, reason });
    logger.debug(sentenceOf(reason), { uid, verdict, reason });
    onDecision?.(decision);
    return verdict;
  }
}

function gaveUp({ barrier }: OrphanRound): boolean {
  return barrier === 'gaveUp' || (typeof barrier === 'object' && barrier.incomplete === true);
}
