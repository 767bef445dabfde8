import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Service } from '../../base/service.ts';
import { Informer, keyOf } from '../../client/reflector/informer.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import { keepsClaim } from './claim-users.ts';
import { CLAIM_FINALIZER, decideProtection } from './protection-reconcile.ts';

const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
const SETTLED: SyncOutcome = { next: 'settled' };
/** A pod that only the list showed may go without an event, so the claim is then processed again. */
const ONLY_LIVE: SyncOutcome = { next: 'later', afterMs: 15_000 };

export interface ClaimProtectionSettings {
  /** Finished pods protect no claim (LIFE-155). By default they do, as in kube-controller-manager. */
  readonly ignoreFinishedPods?: boolean;
}

/** Pods of one namespace, watched as long as a claim there waits for them. */
interface PodWatch {
  readonly stop: AbortController;
  readonly informer: Informer;
  readonly running: Promise<void>;
  readonly waiting: Set<string>;
}

/**
 * Protects claims that pods use from deletion (LIFE-151..154). When a claim is deleted, its users are read by a list of its namespace's
 * pods. Pods are watched only while a claim waits, because all pods of a cluster are too many to cache for that.
 */
export class ClaimProtectionController implements Service {
  readonly #context: ControllerContext & ClaimProtectionSettings;
  readonly #claims: Informer;
  readonly #loop: ReconcileLoop;
  readonly #pods = new Map<string, PodWatch>();
  readonly #ended = new Set<Promise<void>>();

  constructor(context: ControllerContext & ClaimProtectionSettings) {
    const { client, clock, random, logger, metrics } = context;
    this.#context = context;
    this.#claims = new Informer({ client, clock, random, logger, gvr: CLAIMS });
    this.#loop = new ReconcileLoop({
      name: 'pvcprotection',
      clock,
      logger,
      metrics,
      caches: [this.#claims],
      workers: 1,
      sync: (key, stop) => this.#sync(key, stop),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (claim: KubeObject): void => this.#loop.trigger(keyOf(claim));
    this.#claims.addHandler({ added: look, updated: (_, claim) => look(claim), deleted: look });
    await this.#loop.run(signal);
    for (const { stop } of this.#pods.values()) stop.abort();
    await Promise.all([...this.#ended, ...[...this.#pods.values()].map(({ running }) => running)]);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const [namespace = '', name = ''] = key.split('/');
    const claim = this.#claims.get(key);
    let decision = decideProtection(claim, CLAIM_FINALIZER, 'unknown');
    if (decision.verdict === 'look' && claim !== undefined) {
      // The wait begins before the list, so that the watch sees later changes.
      this.#wait(namespace, key);
      const use = (await this.#isUsed(claim, namespace, signal)) ? 'used' : 'unused';
      decision = decideProtection(claim, CLAIM_FINALIZER, use);
    }
    if (decision.verdict === 'wait' && claim !== undefined) {
      const watched = this.#pods.get(namespace)?.informer.list() ?? [];
      return this.#usesAny(claim, watched) ? SETTLED : ONLY_LIVE;
    }
    if (decision.verdict === 'update') {
      const { client, logger } = this.#context;
      const result = await updateExactly(client, { gvr: CLAIMS, object: decision.object, signal });
      if (result === 'changed') return { next: 'back-off' };
      logger.debug('protection of a claim', { namespace, name, reason: decision.reason });
    }
    this.#waitNoMore(namespace, key);
    return SETTLED;
  }

  async #isUsed(claim: KubeObject, namespace: string, signal: AbortSignal): Promise<boolean> {
    const { items } = await this.#context.client.list<Pod>({ gvr: PODS, namespace }, { signal });
    return this.#usesAny(claim, items);
  }

  #usesAny(claim: KubeObject, pods: readonly Pod[]): boolean {
    const { ignoreFinishedPods = false } = this.#context;
    return pods.some((pod) => keepsClaim(pod, claim, { ignoreFinishedPods }));
  }

  #wait(namespace: string, key: string): void {
    const there = this.#pods.get(namespace);
    if (there !== undefined) {
      there.waiting.add(key);
      return;
    }
    const { client, clock, random, logger } = this.#context;
    const stop = new AbortController();
    const waiting = new Set([key]);
    const pods = new Informer({ client, clock, random, logger, gvr: PODS, namespace });
    const look = (): void => {
      for (const each of waiting) this.#loop.trigger(each);
    };
    pods.addHandler({ updated: look, deleted: look });
    // Changes between the list and the first list of the watch cause no event.
    pods.waitForSync(stop.signal).then(look, () => undefined);
    this.#pods.set(namespace, { stop, informer: pods, waiting, running: pods.run(stop.signal) });
  }

  #waitNoMore(namespace: string, key: string): void {
    const there = this.#pods.get(namespace);
    if (there === undefined) return;
    there.waiting.delete(key);
    if (there.waiting.size > 0) return;
    this.#pods.delete(namespace);
    there.stop.abort();
    const ended = there.running.finally(() => this.#ended.delete(ended));
    this.#ended.add(ended);
  }
}
