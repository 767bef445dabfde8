import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { accountOf, INVALID_SINCE, TOKEN_SECRET_TYPE, TOKEN_TRACKING } from '../../api/meta/token-secret.ts';
import { isConflict, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { PODS } from '../pods/pod-object.ts';
import {
  decideLegacyToken,
  type LegacyTokenFacts,
  type ServiceAccount,
  trackedSince,
} from './legacy-token-reconcile.ts';
import { secretsOfPod } from './pod-secrets.ts';

const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' };
const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' };
const TRACKING = {
  gvr: { group: '', version: 'v1', resource: 'configmaps' },
  namespace: 'kube-system',
  name: TOKEN_TRACKING,
};
const CONTROLLER = 'legacy-serviceaccount-token-cleaner-controller';
const DAY_MS = 86_400_000;
const NEXT_PASS: SyncOutcome = { next: 'later', afterMs: DAY_MS };
/** The only key: one pass over all Secrets. */
const ALL = 'all';

export interface LegacyTokenCleanerOptions extends SharedContext {
  /** `--legacy-service-account-token-clean-up-period`; default 365 days. */
  readonly cleanUpPeriodMs?: number;
}

interface Pass {
  /** Names of the Secrets that pods use, by namespace, as far as they were read. */
  readonly usedIn: Map<string, ReadonlySet<string>>;
  /** Epoch ms. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Once a day, refuses tokens in Secrets that nobody uses, and later deletes them (`legacy-serviceaccount-token-cleaner-controller`,
 * LIFE-681). Secrets and pods are read by lists, because a watch of all day would cost more than one pass.
 */
export class LegacyTokenCleanerController implements Service {
  readonly #context: LegacyTokenCleanerOptions;
  readonly #accounts: SharedCache<ServiceAccount>;
  readonly #loop: ReconcileLoop;
  readonly #periodMs: number;
  readonly #deletions: Counter;

  constructor(options: LegacyTokenCleanerOptions) {
    const { clock, logger, metrics, informers, cleanUpPeriodMs = 365 * DAY_MS } = options;
    this.#context = options;
    this.#periodMs = cleanUpPeriodMs;
    this.#accounts = informers.of<ServiceAccount>(ACCOUNTS);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'legacy_service_account_tokens',
      clock,
      logger,
      metrics,
      caches: [this.#accounts],
      workers: 1,
      sync: (_, signal) => this.#pass(signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#loop.trigger(ALL);
    await this.#loop.run(signal);
  }

  async #pass(signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#context;
    const since = await this.#trackedSince(signal);
    if (since === undefined) {
      logger.warn(
        'no legacy token is cleaned up: the ConfigMap with the first day of tracking is missing or unreadable',
        {
          name: TRACKING.name,
        },
      );
      return NEXT_PASS;
    }
    const now = clock.now();
    if (now < since + this.#periodMs) return NEXT_PASS;
    const usedIn = new Map<string, ReadonlySet<string>>();
    const fieldSelector = `type=${TOKEN_SECRET_TYPE}`;
    const { items } = await client.list<KubeObject>({ gvr: SECRETS }, { query: { fieldSelector }, signal });
    let isComplete = true;
    for (const secret of items) {
      try {
        const outcome = await this.#process(secret, { usedIn, now, signal });
        isComplete &&= outcome === 'done';
      } catch (error) {
        // An overloaded server says how long to wait before the next request.
        if (signal.aborted || (error instanceof StatusError && error.code === 429)) throw error;
        // One Secret that cannot be changed must not keep the later ones from their turn.
        isComplete = false;
        const { namespace, name } = secret.metadata ?? {};
        const { message } = StatusError.from(error);
        logger.warn('a token of a service account is not cleaned up, will retry', { namespace, name, error: message });
      }
    }
    return isComplete ? NEXT_PASS : { next: 'back-off' };
  }

  async #process(secret: KubeObject, { usedIn, now, signal }: Pass): Promise<'done' | 'changed'> {
    const { namespace = '', name = '' } = secret.metadata ?? {};
    const account = this.#accounts.get(`${namespace}/${accountOf(secret)}`);
    const facts: LegacyTokenFacts = { account, use: 'unknown', now, periodMs: this.#periodMs };
    if (decideLegacyToken(secret, facts).verdict !== 'look') return 'done';
    const used = usedIn.get(namespace) ?? (await this.#secretsOfPods(namespace, signal));
    usedIn.set(namespace, used);
    return this.#perform(secret, { ...facts, use: used.has(name) ? 'used' : 'unused' }, signal);
  }

  async #trackedSince(signal: AbortSignal): Promise<number | undefined> {
    try {
      return trackedSince(await this.#context.client.get(TRACKING, { signal }));
    } catch (error) {
      if (isObjectNotFound(error, TRACKING.name)) return undefined;
      throw error;
    }
  }

  async #secretsOfPods(namespace: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { items } = await this.#context.client.list<KubeObject>({ gvr: PODS, namespace }, { signal });
    return new Set(items.flatMap((pod) => [...secretsOfPod(pod)]));
  }

  async #perform(secret: KubeObject, facts: LegacyTokenFacts, signal: AbortSignal): Promise<'done' | 'changed'> {
    const { client, logger } = this.#context;
    const { namespace = '', name = '' } = secret.metadata ?? {};
    const decision = decideLegacyToken(secret, facts);
    if (decision.verdict === 'invalidate') {
      const outcome = await this.#invalidate(secret, decision.since, signal);
      if (outcome === 'changed') return 'changed';
      if (outcome === 'done')
        logger.info('refuses an unused token of a service account from now on', { namespace, name });
      return 'done';
    }
    if (decision.verdict !== 'delete') return 'done';
    const result = await deleteExactly(client, { gvr: SECRETS, object: secret, reason: decision.reason, signal });
    this.#deletions.inc({ controller: CONTROLLER, resource: SECRETS.resource, reason: decision.reason, result });
    logger.info('deleted an unused token of a service account', { namespace, name, result });
    return result === 'changed' ? 'changed' : 'done';
  }

  /** The version is a precondition, because a use of the token changes the Secret. */
  async #invalidate(secret: KubeObject, since: string, signal: AbortSignal): Promise<'done' | 'gone' | 'changed'> {
    const { namespace = '', name = '', uid, resourceVersion } = secret.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, labels: { [INVALID_SINCE]: since } } };
    try {
      const target = { gvr: SECRETS, namespace, name };
      await this.#context.client.patch(target, { type: 'application/merge-patch+json', body }, { signal });
      return 'done';
    } catch (error) {
      if (isObjectNotFound(error, name)) return 'gone';
      if (isConflict(error)) return 'changed';
      throw error;
    }
  }
}
