import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { accountOf, TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';
import { isObjectNotFound } from '../../api/status-error.ts';
import type { Service } from '../../base/service.ts';
import { Informer, keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { updateExactly } from '../kit/update-exactly.ts';
import { decideTokenSecret } from './token-secret-reconcile.ts';

const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' };
const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' };
const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };

export interface TokenSecretControllerOptions extends ControllerContext {
  /** Stored in each Secret in addition to the token. */
  readonly rootCaPem: string;
  /** Issues a token that the server accepts for this account while the Secret contains it. */
  readonly issue: (order: {
    readonly namespace: string;
    readonly account: { readonly name: string; readonly uid: string };
    readonly secret: string;
  }) => string;
}

/** Fills Secrets of type `kubernetes.io/service-account-token`, and deletes them with their accounts (LIFE-680). */
export class TokenSecretController implements Service {
  readonly #options: TokenSecretControllerOptions;
  readonly #secrets: Informer;
  readonly #accounts: Informer;

  constructor(options: TokenSecretControllerOptions) {
    const { client, clock, random, logger } = options;
    this.#options = options;
    const common = { client, clock, random, logger };
    this.#secrets = new Informer({ ...common, gvr: SECRETS, fieldSelector: `type=${TOKEN_SECRET_TYPE}` });
    this.#accounts = new Informer({ ...common, gvr: ACCOUNTS });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, metrics } = this.#options;
    const loop = new ReconcileLoop({
      name: 'serviceaccount_tokens',
      clock,
      logger,
      metrics,
      caches: [this.#secrets, this.#accounts],
      workers: WORKERS,
      sync: (key, stop) => this.#sync(key, stop),
    });
    const look = (secret: KubeObject): void => loop.trigger(keyOf(secret));
    this.#secrets.addHandler({ added: look, updated: (_, secret) => look(secret) });
    this.#accounts.addHandler({
      deleted: ({ metadata }) => {
        for (const secret of this.#secrets.list()) {
          if (secret.metadata?.namespace === metadata?.namespace && accountOf(secret) === metadata?.name) look(secret);
        }
      },
    });
    await loop.run(signal);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, logger, rootCaPem, issue } = this.#options;
    const [namespace = '', name = ''] = key.split('/');
    const secret = this.#secrets.get(key);
    const decision = decideTokenSecret(secret, {
      account: secret === undefined ? undefined : await this.#account(namespace, accountOf(secret), signal),
      rootCaPem,
      token: (account) => issue({ namespace, account, secret: name }),
    });
    if (decision.verdict === 'nothing' || secret === undefined) return SETTLED;
    const result = await (decision.verdict === 'update'
      ? updateExactly(client, { gvr: SECRETS, object: decision.object, signal })
      : deleteExactly(client, {
          gvr: SECRETS,
          object: secret,
          content: 'irrelevant',
          reason: decision.reason,
          signal,
        }));
    if (result === 'changed') return { next: 'back-off' };
    const { verdict, reason } = decision;
    logger.debug('token of a service account', { namespace, name, verdict, reason });
    return SETTLED;
  }

  /** A missing object is read live, because only the server can prove its absence. */
  async #account(namespace: string, name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    const known = this.#accounts.get(`${namespace}/${name}`);
    if (known !== undefined) return known;
    try {
      return await this.#options.client.get({ gvr: ACCOUNTS, namespace, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    }
  }
}
