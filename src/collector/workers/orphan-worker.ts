import { Semaphore } from '../../base/semaphore.ts';
import { afterRemoveFinalizer } from '../decide/after-remove-finalizer.ts';
import { afterRemoveReferences } from '../decide/after-remove-references.ts';
import { attemptToOrphan } from '../decide/attempt-to-orphan.ts';
import { beginOrphanRound, gatherOrphanFacts, type OrphanRound } from '../decide/gather-orphan-facts.ts';
import type { OrphanStep, Released } from '../decide/orphan-step.ts';
import { sentenceOf } from '../reasons.ts';
import type { Verdict } from '../decide/step.ts';
import { type Target, targetOf } from '../decide/target.ts';
import type { Identity, Uid } from '../graph/identity.ts';
import { parseWorkKey, type WorkKey } from '../graph/work-key.ts';
import { removeReferences } from '../operations/patch-references.ts';
import { readMetadata } from '../operations/read-metadata.ts';
import { removeFinalizer } from '../operations/remove-finalizer.ts';
import { type CollectorContext, factSource, aboutToTell } from './collector-context.ts';
import type { DecisionAbout } from './decision.ts';
import type { WorkOutcome } from './worker-pool.ts';

/** Dependents of one owner that are patched at the same time (COL-128). */
const MAX_IN_FLIGHT = 50;
/** A round asks at most for the release of the known ones, the barrier, and the release of those it found. */
const MAX_STEPS = 4;

interface Dependent {
  readonly target: Target;
  readonly identity: Identity;
}

/** Lets the dependents of one owner go, then takes the orphan finalizer off it (section 9). */
export class OrphanWorker {
  readonly #context: CollectorContext;

  constructor(context: CollectorContext) {
    this.#context = context;
  }

  readonly process = async (key: WorkKey): Promise<WorkOutcome> => {
    const { uid } = parseWorkKey(key);
    const about = aboutToTell(this.#context, key);
    let round = beginOrphanRound(this.#context, uid);
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const step = attemptToOrphan(gatherOrphanFacts(factSource(this.#context), round));
      if (!('need' in step)) return this.#finish(about, step);
      round = { ...round, ...(await this.#answer(uid, step)) };
    }
    return 'requeue';
  };

  async #answer(owner: Uid, step: Exclude<OrphanStep, Verdict>): Promise<Partial<OrphanRound>> {
    switch (step.need) {
      case 'released':
        return { released: await this.#releaseKnown(owner, step.dependents) };
      case 'foundReleased': {
        const found = step.dependents.map((target) => ({ target, identity: identityOf(target) }));
        return { foundReleased: await this.#release(owner, found) };
      }
      case 'barrier':
        // BETTER-13, the fresh lists before the finalizer goes, is off: this behaves as Kubernetes does (COL-127).
        return { barrier: 'gaveUp' };
    }
  }

  async #releaseKnown(owner: Uid, dependents: readonly Uid[]): Promise<Released> {
    const { graph, kinds } = this.#context;
    const known: Dependent[] = [];
    let unmapped = false;
    for (const uid of dependents) {
      const node = graph.node(uid);
      if (node === undefined) continue;
      const mapping = kinds.mapping(node.identity.apiVersion, node.identity.kind);
      if (mapping === undefined) unmapped = true;
      else known.push({ target: targetOf(node.identity, mapping), identity: node.identity });
    }
    const released = await this.#release(owner, known);
    return unmapped ? 'failed' : released;
  }

  async #release(owner: Uid, dependents: readonly Dependent[]): Promise<Released> {
    const inFlight = new Semaphore({ permits: MAX_IN_FLIGHT, maxWaiting: dependents.length + 1 });
    const outcomes = await Promise.all(
      dependents.map(async (dependent) => {
        const release = await inFlight.acquire();
        try {
          return !this.#context.stopping.aborted && (await this.#releaseOne(owner, dependent));
        } finally {
          release();
        }
      }),
    );
    return outcomes.every(Boolean) ? 'all' : 'failed';
  }

  /** Whether the dependent does not refer to the owner any more, or proves not to exist (COL-121). */
  async #releaseOne(owner: Uid, { target, identity }: Dependent): Promise<boolean> {
    const { metrics, failures } = this.#context;
    const owners = [owner];
    const answer = await removeReferences(this.#context, { action: 'removeReferences', target, identity, owners });
    let release = afterRemoveReferences({ target, owners, answer: answer.answer, latest: { state: 'unasked' } });
    if ('need' in release) {
      const latest = await readMetadata(this.#context, target);
      release = afterRemoveReferences({ target, owners, answer: answer.answer, latest });
    }
    if ('need' in release || release.release === 'failed') {
      failures.warn('a dependent could not be orphaned and is tried again', {
        ...target,
        owner,
        error: answer.error?.message,
      });
      return false;
    }
    if (release.release === 'released') metrics.patches.inc({ resource: target.resource, change: 'removeReferences' });
    return true;
  }

  async #finish(about: DecisionAbout, step: Verdict): Promise<WorkOutcome> {
    const { metrics, logger, failures, onDecision } = this.#context;
    const { actions } = step;
    for (const action of actions) {
      if (action.action !== 'removeFinalizer') continue;
      const answer = await removeFinalizer(this.#context, action);
      const { verdict, reason } = afterRemoveFinalizer(answer.answer);
      if (verdict === 'requeue') {
        failures.warn(sentenceOf(reason), { ...action.target, error: answer.error?.message });
        metrics.decisions.inc({ verdict, reason });
        onDecision?.({ ...about, verdict, reason, actions });
        return verdict;
      }
      metrics.patches.inc({ resource: action.target.resource, change: action.finalizer });
    }
    const { verdict, reason } = step;
    metrics.decisions.inc({ verdict, reason });
    logger.debug(sentenceOf(reason), { uid: about.uid, verdict, reason });
    onDecision?.({ ...about, verdict, reason, actions });
    return verdict;
  }
}

function identityOf({ apiVersion, kind, namespace, name, uid }: Target): Identity {
  return { apiVersion, kind, namespace, name, uid };
}
