import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { decidePodCertificateRequest } from './pod-certificate-reconcile.ts';

const POD_CERTIFICATE_REQUESTS: GroupVersionResource = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  resource: 'podcertificaterequests',
};
/** Interval of a pass over all requests, in addition to timers, in case a clock jumped. */
const RESYNC_MS = 300_000;
const CONTROLLER = 'podcertificaterequest-cleaner-controller';

/** Deletes PodCertificateRequests 15 minutes after their creation (`podcertificaterequest-cleaner-controller`, LIFE-106). */
export class PodCertificateCleanerController implements Service {
  readonly #context: SharedContext;
  readonly #requests: SharedCache;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: SharedContext) {
    const { clock, logger, metrics, informers } = context;
    this.#context = context;
    this.#requests = informers.of(POD_CERTIFICATE_REQUESTS);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'pod_certificate_cleaner',
      clock,
      logger,
      metrics,
      caches: [this.#requests],
      workers: 1,
      sync: (key, signal) => this.#sync(key, signal),
      resync: { everyMs: RESYNC_MS, keys: () => this.#requests.list().map(keyOf) },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#requests.addHandler({ added: (request: KubeObject) => this.#loop.trigger(keyOf(request)) });
    await this.#loop.run(signal);
    stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const request = this.#requests.get(key);
    const decision = decidePodCertificateRequest(request, clock.now());
    if (decision.verdict === 'wait') return { next: 'later', afterMs: decision.untilMs - clock.now() };
    if (decision.verdict === 'nothing' || request === undefined) return { next: 'settled' };
    const gvr = POD_CERTIFICATE_REQUESTS;
    // The age of an object never changes, so its version does not matter.
    const { reason } = decision;
    const result = await deleteExactly(client, { gvr, object: request, content: 'irrelevant', reason, signal });
    this.#deletions.inc({ controller: CONTROLLER, resource: gvr.resource, reason, result });
    logger.debug('deleted a pod certificate request', { name: key, reason, result });
    return { next: 'settled' };
  }
}
