import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { decideToken } from './token-reconcile.ts';

const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' };
const SETTLED: SyncOutcome = { next: 'settled' };
const WORKERS = 10;

/** Deletes bootstrap tokens that have expired (`token-cleaner-controller`, LIFE-682). */
export class TokenCleanerController implements Service {
  readonly #context: SharedContext;
  readonly #secrets: SharedCache;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: SharedContext) {
    const { clock, logger, metrics, informers } = context;
    this.#context = context;
    this.#secrets = informers.of(SECRETS, 'kube-system');
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'token_cleaner',
      clock,
      logger,
      metrics,
      caches: [this.#secrets],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const changed = (secret: KubeObject): void => this.#loop.trigger(keyOf(secret));
    const stop = this.#secrets.addHandler({ added: changed, updated: (_, secret) => changed(secret) });
    await this.#loop.run(signal);
    stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const secret = this.#secrets.get(key);
    const decision = decideToken(secret, clock.now());
    if (decision.verdict === 'wait') return { next: 'later', afterMs: decision.untilMs - clock.now() };
    if (decision.verdict === 'nothing' || secret === undefined) return SETTLED;
    const result = await deleteExactly(client, {
      gvr: SECRETS,
      object: secret,
      content: 'irrelevant',
      reason: decision.reason,
      signal,
    });
    const labels = { controller: 'token-cleaner-controller', resource: 'secrets', reason: decision.reason, result };
    this.#deletions.inc(labels);
    logger.info('deleted an expired bootstrap token', { name: key, reason: decision.reason, result });
    return SETTLED;
  }
}
