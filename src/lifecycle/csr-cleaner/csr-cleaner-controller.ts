import { X509Certificate } from 'node:crypto';
import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import type { Compatibility } from '../kit/compatibility.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { type CsrLifetimes, decideCsr, type SigningRequest } from './csr-reconcile.ts';

export const SIGNING_REQUESTS: GroupVersionResource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
};
export interface CsrTimes extends CsrLifetimes {
  /** Interval of passes over all requests; 1 h. */
  readonly pollIntervalMs?: number;
}

interface CsrCleanerOptions extends SharedContext, CsrTimes {
  readonly compat?: Compatibility;
}

/** Interval of a pass over all requests, in addition to timers, in case a clock jumped. */
const RESYNC_MS = 3_600_000;

/**
 * Deletes CertificateSigningRequests when they are due, and with `compat: 'strict'` in the first pass after that
 * (`certificatesigningrequest-cleaner-controller`, LIFE-101).
 */
export class CsrCleanerController implements Service {
  readonly #context: CsrCleanerOptions;
  readonly #requests: SharedCache<SigningRequest>;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;

  constructor(context: CsrCleanerOptions) {
    const { clock, logger, metrics, informers, pollIntervalMs = RESYNC_MS } = context;
    this.#context = context;
    this.#requests = informers.of<SigningRequest>(SIGNING_REQUESTS);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'csr_cleaner',
      clock,
      logger,
      metrics,
      caches: [this.#requests],
      workers: 1,
      sync: (key, signal) => this.#sync(key, signal),
      resync: { everyMs: pollIntervalMs, keys: () => this.#requests.list().map(keyOf) },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (request: SigningRequest): void => this.#loop.trigger(keyOf(request));
    if (this.#context.compat !== 'strict') {
      this.#requests.addHandler({ added: look, updated: (_, request) => look(request) });
    }
    await this.#loop.run(signal);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const request = this.#requests.get(key);
    const now = clock.now();
    const decision = decideCsr(request, now, notAfterOf(request?.status?.certificate), this.#context);
    if (decision.verdict === 'nothing' || request === undefined) return { next: 'settled' };
    if (decision.verdict === 'wait') {
      const isStrict = this.#context.compat === 'strict';
      return isStrict ? { next: 'settled' } : { next: 'later', afterMs: decision.untilMs - now };
    }
    const { reason } = decision;
    const result = await deleteExactly(client, { gvr: SIGNING_REQUESTS, object: request, reason, signal });
    this.#deletions.inc({
      controller: 'certificatesigningrequest-cleaner-controller',
      resource: SIGNING_REQUESTS.resource,
      reason,
      result,
    });
    logger.debug('deleted a signing request', { name: key, reason, result });
    return { next: result === 'changed' ? 'back-off' : 'settled' };
  }
}

/** Epoch ms at which the first certificate of a base64 PEM text expires; undefined if it cannot be parsed (LIFE-103). */
export function notAfterOf(certificate: string | undefined): number | undefined {
  if (certificate === undefined || certificate === '') return undefined;
  try {
    const ends = Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
    return Number.isNaN(ends) ? undefined : ends;
  } catch {
    return undefined;
  }
}
