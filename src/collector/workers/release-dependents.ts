import { Semaphore } from '../../base/time/semaphore.ts';
import type { RemoveReferencesAction } from '../decide/actions.ts';
import { afterRemoveReferences } from '../decide/after-remove-references.ts';
import type { Released } from '../decide/orphan-step.ts';
import { type Target, targetOf } from '../decide/target.ts';
import type { Identity, Uid } from '../types/identity.ts';
import { type PatchContext, removeReferences } from '../operations/patch-references.ts';
import { readMetadata } from '../operations/read-metadata.ts';
import { NotSentError, UntilUnanswered } from '../operations/until-unanswered.ts';
import type { Reason } from '../types/reasons.ts';
import { acceptedAs, tellPatch } from './accepted-writes.ts';
import type { CollectorContext } from './collector-context.ts';
import type { CarriedOut } from './decision.ts';

/** Dependents of one owner that are patched at the same time (COL-128). */
const MAX_IN_FLIGHT = 50;

/** The reason of every write here. */
const DECIDED = 'ownerOrphaned' satisfies Reason;

interface Dependent {
  readonly target: Target;
  readonly identity: Identity;
}

/** Removes the references of dependents to an owner (COL-120, COL-121). */
export class ReleaseDependents {
  readonly #context: CollectorContext;

  constructor(context: CollectorContext) {
    this.#context = context;
  }

  /** Releases dependents that the graph knows. If the kind of one is not served, the release fails (COL-121). */
  async known(owner: Uid, dependents: readonly Uid[]): Promise<Exclude<Released, 'unasked'>> {
    const { graph, kinds } = this.#context;
    const known: Dependent[] = [];
    let unmapped = false;
    for (const uid of dependents) {
      const node = graph.node(uid);
      if (node === undefined) continue;
      const mapping = kinds.mapping(node.identity.apiVersion, node.identity.kind, graph.resourceAt(node.id));
      if (mapping === undefined) unmapped = true;
      else known.push({ target: targetOf(node.identity, mapping), identity: node.identity });
    }
    const released = await this.#release(owner, known);
    return unmapped ? 'failed' : released;
  }

  /** Releases dependents that a list showed. */
  found(owner: Uid, dependents: readonly Target[]): Promise<Exclude<Released, 'unasked'>> {
    return this.#release(
      owner,
      dependents.map((target) => ({ target, identity: identityOf(target) })),
    );
  }

  /** After a request without an answer nothing more is sent. The next round reads the owner before it continues (designs/0011). */
  async #release(owner: Uid, dependents: readonly Dependent[]): Promise<Exclude<Released, 'unasked'>> {
    const inFlight = new Semaphore({ permits: MAX_IN_FLIGHT, maxWaiting: dependents.length + 1 });
    const answers = new UntilUnanswered();
    const { signal, support, onPathNotFound } = this.#context;
    const calls: PatchContext = { client: this.#context.through(answers.intercept), signal, support, onPathNotFound };
    const isOver = (): boolean => this.#context.stopping.aborted || answers.isOver;
    const outcomes = await Promise.all(
      dependents.map((dependent) =>
        inFlight.use(async () => !isOver() && (await this.#releaseOne(owner, dependent, calls))),
      ),
    );
    return outcomes.every(Boolean) ? 'all' : 'failed';
  }

  /** Whether the dependent no longer refers to the owner, or is proven not to exist (COL-121). */
  async #releaseOne(owner: Uid, { target, identity }: Dependent, calls: PatchContext): Promise<boolean> {
    const owners = [owner];
    const known = this.#knownReferences(target.uid);
    const action: RemoveReferencesAction = { action: 'removeReferences', target, identity, owners, known };
    const answer = await removeReferences(calls, action);
    let release = afterRemoveReferences({ target, owners, answer: answer.answer, latest: { state: 'unasked' } });
    if ('need' in release) {
      const latest = await readMetadata(calls, target);
      release = afterRemoveReferences({ target, owners, answer: answer.answer, latest });
    }
    // This request counts like one that was never sent: only the request that got no answer is reported.
    if (answer.error instanceof NotSentError) return false;
    if ('need' in release || release.release === 'failed') {
      const reason = 'writeRejected';
      const fields = { ...target, owner, error: answer.error?.message, decided: DECIDED, reason };
      this.#context.failures.warn('failed to orphan a dependent, will retry', fields);
      this.#tell(action, { verdict: 'requeue', reason, answered: reason });
      return false;
    }
    const answered = release.reason === 'patchAccepted' ? acceptedAs(answer, 'patchNotNeeded') : release.reason;
    tellPatch(this.#context, { target, change: 'removeReferences' }, { reason: DECIDED, answered });
    this.#tell(action, { verdict: 'forget', reason: DECIDED, answered });
    return true;
  }

  /** The references that the graph has now. None while the graph may not answer: a restored server may have given out the version twice. */
  #knownReferences(uid: Uid): RemoveReferencesAction['known'] {
    const { graph, trust } = this.#context;
    if (!trust.answers) return undefined;
    const node = graph.node(uid);
    if (node?.resourceVersion === undefined || !trust.answersFor(node.identity.apiVersion, node.identity.kind))
      return undefined;
    return { resourceVersion: node.resourceVersion, references: node.ownerReferences };
  }

  /** Reports the release of a dependent. The dependent was not queued, and nothing else was decided about it. */
  #tell(
    action: RemoveReferencesAction,
    { verdict, reason, answered }: Pick<CarriedOut, 'verdict' | 'reason'> & { readonly answered: Reason },
  ): void {
    const { onDecision } = this.#context;
    if (onDecision === undefined) return;
    const { identity } = action;
    const about = { uid: identity.uid, identity, queuedFor: undefined };
    const results = [{ action, answered }];
    onDecision({ ...about, verdict, reason, actions: [action], decided: DECIDED, results });
  }
}

function identityOf({ apiVersion, kind, namespace, name, uid }: Target): Identity {
  return { apiVersion, kind, namespace, name, uid };
}
