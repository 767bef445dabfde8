import { createHash, timingSafeEqual } from 'node:crypto';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { quotedList } from '../../api/meta/quoted.ts';
import { formatTime } from '../../api/meta/time.ts';
import { INVALID_SINCE, LAST_USED } from '../../api/meta/token-secret.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Lru } from '../../base/collections/lru.ts';
import type { Random } from '../../base/random/random.ts';
import type { KeyValue, Store } from '../storage/interface.ts';
import { objectKey } from '../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../storage/stored-object.ts';
import {
  isSignedBy,
  parseCompact,
  publicJwk,
  signCompact,
  type SigningKey,
  type UnverifiedToken,
} from './json-web-signature.ts';
import { type LegacyClaims, legacyClaims, LEGACY_ISSUER, readLegacyClaims } from './legacy-token.ts';
import {
  type Binding,
  claimsOf,
  DELETION_LEEWAY_MS,
  type ObjectClaim,
  readClaims,
  type ServiceAccountClaims,
  serviceAccountGroups,
  timeProblem,
} from './service-account-claims.ts';
import { type TokenVerdict, type TokenVerifier, UNKNOWN_TOKEN } from './token-authenticator.ts';
import { EXTRA_CREDENTIAL_ID, type UserInfo, withAuthenticatedGroup } from './user-info.ts';

export interface ServiceAccountTokensOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly key: SigningKey;
  /** `iss` of every token. */
  readonly issuer: string;
  /** The default audiences of tokens, and the audiences that this server accepts. */
  readonly audiences: readonly string[];
}

export interface TokenOrder {
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly binding: Binding;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
}

/** Maximum number of tokens whose verified signature is cached. */
const REMEMBERED_TOKENS = 10_000;
const EXTRA = 'authentication.kubernetes.io';
const DAY_MS = 86_400_000;

type Kind = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes';

/**
 * Tokens of service accounts: issued for TokenRequest (API-377), and accepted as credentials (API-371). A token is valid while its bound
 * objects exist: each use reads the account, and the pod, secret or node it names, which must exist with the same uid. A deletion takes
 * effect at once, because only the signature check is cached.
 */
export class ServiceAccountTokens implements TokenVerifier {
  readonly audiences: readonly string[];
  readonly issuer: string;
  readonly #options: ServiceAccountTokensOptions;
  readonly #verified = new Lru<string, ServiceAccountClaims>({ capacity: REMEMBERED_TOKENS });

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.audiences = options.audiences;
    this.issuer = options.issuer;
  }

  issue(order: TokenOrder): string {
    const { key, issuer, clock, random, audiences } = this.#options;
    const forServer = order.audiences.every((audience) => audiences.includes(audience));
    const made = { issuer, now: clock.now(), id: random.uuid() };
    return signCompact(key, claimsOf({ ...order, forServer }, made));
  }

  /**
   * A token for a Secret of type `kubernetes.io/service-account-token`. It is valid while the Secret contains it and its account exists.
   */
  issueLegacy(order: { readonly namespace: string; readonly account: ObjectClaim; readonly secret: string }): string {
    return signCompact(this.#options.key, legacyClaims(order));
  }

  /** The public keys, with which other parties verify tokens (API-378). */
  get jwks(): readonly object[] {
    return [publicJwk(this.#options.key)];
  }

  verify(token: string, wanted: readonly string[] = this.audiences): TokenVerdict | Promise<TokenVerdict> {
    const parsed = parseCompact(token);
    // The token is not of this issuer, so another verifier may know it.
    if (parsed === undefined) return UNKNOWN_TOKEN;
    if (parsed.claims['iss'] === LEGACY_ISSUER) return this.#verifyLegacy(token, parsed, wanted);
    if (parsed.claims['iss'] !== this.issuer) return UNKNOWN_TOKEN;
    const digest = createHash('sha256').update(token).digest('base64');
    let claims = this.#verified.get(digest);
    if (claims === undefined) {
      const read = this.#read(parsed);
      if ('outcome' in read) return read;
      claims = read;
      this.#verified.set(digest, claims);
    }
    return this.#judge(claims, wanted);
  }

  #read(parsed: UnverifiedToken): ServiceAccountClaims | TokenVerdict {
    const problem = this.#signatureProblem(parsed);
    if (problem !== undefined) return refused(problem);
    return readClaims(parsed.claims) ?? refused('service account token claims could not be validated');
  }

  #signatureProblem(parsed: UnverifiedToken): string | undefined {
    const { key } = this.#options;
    if (parsed.keyId !== undefined && parsed.keyId !== key.id) return 'invalid signature, no keys found';
    return isSignedBy(key, parsed) ? undefined : 'invalid signature';
  }

  async #verifyLegacy(token: string, parsed: UnverifiedToken, wanted: readonly string[]): Promise<TokenVerdict> {
    const signature = this.#signatureProblem(parsed);
    if (signature !== undefined) return refused(signature);
    const claims = readLegacyClaims(parsed.claims);
    if (claims === undefined) return refused('sub claim is invalid');
    // These tokens have no audience, so they are valid for this server.
    const audiences = this.audiences.filter((audience) => wanted.includes(audience));
    if (audiences.length === 0) {
      return refused(
        `token audiences ${quotedList(this.audiences)} is invalid for the target audiences ${quotedList(wanted)}`,
      );
    }
    const problem = await this.#legacyProblem(token, claims);
    if (problem !== undefined) return refused(problem);
    const { namespace, account, username } = claims;
    const groups = serviceAccountGroups(namespace);
    const uid = account.uid === undefined ? {} : { uid: account.uid };
    return { outcome: 'authenticated', user: withAuthenticatedGroup({ username, ...uid, groups }), audiences };
  }

  async #legacyProblem(token: string, { namespace, account, secret }: LegacyClaims): Promise<string | undefined> {
    const { kv } = await this.#options.store.get(objectKey(SECRETS, namespace, secret));
    if (kv === undefined) return 'Token has been invalidated';
    const stored = new StoredObject(kv).object();
    if (stored.metadata?.deletionTimestamp) return 'Token has been invalidated';
    if (!holds(stored, token)) return "Token does not match server's copy";
    if (stored.metadata?.labels?.[INVALID_SINCE] !== undefined) {
      return `the token in secret ${namespace}/${secret} for service account ${namespace}/${account.name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${INVALID_SINCE}' label from the secret to temporarily allow use of this token`;
    }
    const found = await this.#find('serviceaccounts', namespace, account.name);
    if (found === undefined) return `serviceaccounts "${account.name}" not found`;
    if (found.deletionTimestamp) return `ServiceAccount ${namespace}/${account.name} has been deleted`;
    if (found.uid === account.uid) return this.#noteUse(kv, stored);
    return `ServiceAccount UID (${found.uid ?? ''}) does not match claim (${account.uid ?? ''})`;
  }

  /** Marks the secret with the day of its last use, so that administrators find unused ones. If this fails, the request continues. */
  async #noteUse(kv: KeyValue, secret: KubeObject): Promise<undefined> {
    const { store, clock } = this.#options;
    const [today, tomorrow] = [0, DAY_MS].map((ahead) => formatTime(clock.now() + ahead).slice(0, 10));
    const lastUsed = secret.metadata?.labels?.[LAST_USED];
    // Another server, whose clock is ahead, may have written the date of tomorrow.
    if (lastUsed === today || lastUsed === tomorrow) return undefined;
    const labels = { ...secret.metadata?.labels, [LAST_USED]: today ?? '' };
    const marked = { ...secret, metadata: { ...secret.metadata, labels } };
    await store.update(kv.key, encodeStored(marked), kv.modRevision).catch(() => undefined);
    return undefined;
  }

  async #judge(claims: ServiceAccountClaims, wanted: readonly string[]): Promise<TokenVerdict> {
    const audiences = claims.aud.filter((audience) => wanted.includes(audience));
    if (audiences.length === 0) {
      return refused(
        `token audiences ${quotedList(claims.aud)} is invalid for the target audiences ${quotedList(wanted)}`,
      );
    }
    const problem = timeProblem(claims, this.#options.clock.now()) ?? (await this.#bindingProblem(claims));
    if (problem !== undefined) return refused(problem);
    return { outcome: 'authenticated', user: userOf(claims), audiences };
  }

  async #bindingProblem(claims: ServiceAccountClaims): Promise<string | undefined> {
    const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io'];
    const account = await this.#find('serviceaccounts', namespace, serviceaccount.name);
    if (account === undefined) return `serviceaccounts "${serviceaccount.name}" not found`;
    if (account.uid !== serviceaccount.uid) {
      return `service account UID (${account.uid ?? ''}) does not match claim (${serviceaccount.uid ?? ''})`;
    }
    if (this.#isDeleted(account)) return `service account ${namespace}/${serviceaccount.name} has been deleted`;
    const bound: readonly (readonly [Kind, string, ObjectClaim | undefined, string])[] = [
      ['secrets', namespace, secret, 'secret'],
      ['pods', namespace, pod, 'pod'],
      // If there is a pod, the node is only informative.
      ['nodes', '', pod === undefined ? node : undefined, 'node'],
    ];
    for (const [kind, where, claim, word] of bound) {
      if (claim === undefined) continue;
      const found = await this.#find(kind, where, claim.name);
      if (found === undefined) return 'service account token has been invalidated';
      if (found.uid !== claim.uid) {
        return `${word} UID (${found.uid ?? ''}) does not match service account ${word} ref claim (${claim.uid ?? ''})`;
      }
      if (this.#isDeleted(found)) return 'service account token has been invalidated';
    }
    return undefined;
  }

  async #find(resource: Kind, namespace: string, name: string): Promise<ObjectMeta | undefined> {
    const stored = { group: '', resource, namespaced: resource !== 'nodes' };
    const { kv } = await this.#options.store.get(objectKey(stored, namespace, name));
    return kv === undefined ? undefined : new StoredObject(kv).metadata();
  }

  #isDeleted({ deletionTimestamp }: ObjectMeta): boolean {
    if (!deletionTimestamp) return false;
    return Date.parse(deletionTimestamp) < this.#options.clock.now() - DELETION_LEEWAY_MS;
  }
}

const SECRETS = { group: '', resource: 'secrets', namespaced: true };

function holds({ data }: KubeObject, token: string): boolean {
  const kept = Buffer.from((data as { token?: string } | undefined)?.token ?? '', 'base64');
  const given = Buffer.from(token);
  return kept.length === given.length && timingSafeEqual(kept, given);
}

function refused(reason: string): TokenVerdict {
  return { outcome: 'refused', reason };
}

function userOf(claims: ServiceAccountClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io'];
  const extra: Record<string, readonly string[]> = {};
  const tell = (word: string, { name, uid }: ObjectClaim): void => {
    extra[`${EXTRA}/${word}-name`] = [name];
    if (uid !== undefined && uid !== '') extra[`${EXTRA}/${word}-uid`] = [uid];
  };
  if (claims.jti !== '') extra[EXTRA_CREDENTIAL_ID] = [`JTI=${claims.jti}`];
  if (node !== undefined) tell('node', node);
  if (pod !== undefined) tell('pod', pod);
  return withAuthenticatedGroup({
    username: claims.sub,
    ...(serviceaccount.uid === undefined ? {} : { uid: serviceaccount.uid }),
    groups: serviceAccountGroups(namespace),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  });
}
