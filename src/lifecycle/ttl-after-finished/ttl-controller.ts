import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Counter, Histogram } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { PODS } from '../pods/pod-object.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { decideJobTtl, decidePodTtl, type TtlDecision } from './ttl-reconcile.ts';

export const JOBS: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'jobs' };

export interface TtlOptions extends SharedContext {
  /** `jobs` for finished Jobs, `pods` for bare pods with the annotation (LIFE-067). */
  readonly of: 'jobs' | 'pods';
  /** `--concurrent-ttl-after-finished-syncs`; default 5. */
  readonly workers?: number;
}

/** Deletes finished Jobs, and optionally pods, when their TTL has expired (`ttl-after-finished-controller`). */
export class TtlController implements Service {
  readonly #options: TtlOptions;
  readonly #gvr: GroupVersionResource;
  readonly #decide: (object: KubeObject | undefined, now: number) => TtlDecision;
  readonly #cache: SharedCache;
  readonly #loop: ReconcileLoop;
  readonly #delay: Histogram;
  readonly #deletions: Counter;

  constructor(options: TtlOptions) {
    const { clock, logger, metrics, informers, of } = options;
    this.#options = options;
    this.#gvr = of === 'jobs' ? JOBS : PODS;
    this.#decide = of === 'jobs' ? decideJobTtl : decidePodTtl;
    this.#cache = informers.of(this.#gvr);
    this.#delay = metrics.histogram({
      name: 'ttl_after_finished_controller_job_deletion_duration_seconds',
      help: 'The time it took to delete the job since it became eligible for deletion',
      buckets: Array.from({ length: 14 }, (_, index) => 0.1 * 2 ** index),
    });
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: of === 'jobs' ? 'ttl_jobs_to_delete' : 'ttl_pods_to_delete',
      clock,
      logger,
      metrics,
      caches: [this.#cache],
      workers: options.workers ?? 5,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const look = (object: KubeObject): void => {
      if (this.#decide(object, clock.now()).verdict !== 'nothing') this.#loop.trigger(keyOf(object));
    };
    this.#cache.addHandler({ added: look, updated: (_, object) => look(object) });
    await this.#loop.run(signal);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger, of } = this.#options;
    const cached = this.#decide(this.#cache.get(key), clock.now());
    if (cached.verdict !== 'delete') return this.#wait(cached);
    const [namespace = '', name = ''] = key.split('/');
    let live: KubeObject;
    try {
      live = await client.get({ gvr: this.#gvr, namespace, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return { next: 'settled' };
      throw error;
    }
    const decision = this.#decide(live, clock.now());
    if (decision.verdict !== 'delete') return this.#wait(decision);
    const result = await deleteExactly(client, {
      gvr: this.#gvr,
      object: live,
      ...(of === 'jobs' ? { propagationPolicy: 'Foreground' } : {}),
      reason: decision.reason,
      signal,
    });
    this.#deletions.inc({
      controller: 'ttl-after-finished-controller',
      resource: this.#gvr.resource,
      reason: decision.reason,
      result,
    });
    if (result === 'changed') return { next: 'back-off' };
    if (of === 'jobs' && result !== 'withheld')
      this.#delay.observe(Math.max(0, clock.now() - decision.expiredAtMs) / 1000);
    logger.debug('deleted after its time', { resource: this.#gvr.resource, namespace, name, result });
    return { next: 'settled' };
  }

  #wait(decision: Exclude<TtlDecision, { verdict: 'delete' }>): SyncOutcome {
    if (decision.verdict === 'error') throw new Error(decision.message);
    if (decision.verdict === 'nothing') return { next: 'settled' };
    return { next: 'later', afterMs: Math.max(1, decision.untilMs - this.#options.clock.now()) };
  }
}
