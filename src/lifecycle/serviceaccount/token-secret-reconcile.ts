import type { KubeObject } from '../../api/meta/object-meta.ts';
import { ACCOUNT_UID, TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';

interface TokenSecret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

type TokenSecretDecision =
  | { readonly verdict: 'update'; readonly object: KubeObject; readonly reason: 'incomplete' }
  | { readonly verdict: 'delete'; readonly reason: 'accountGone' | 'otherAccount' }
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'otherType' | 'complete' };

interface TokenSecretFacts {
  /** The current account; undefined if there is none. */
  readonly account: KubeObject | undefined;
  readonly rootCaPem: string;
  /** Issues a token for this Secret. */
  token(account: { readonly name: string; readonly uid: string }): string;
}

/**
 * A Secret of that type gets the credentials that a pod needs, and is deleted with its account (LIFE-680, upstream
 * `pkg/controller/serviceaccount/tokens_controller.go`). Existing contents stay, except a changed certificate.
 */
export function decideTokenSecret(secret: TokenSecret | undefined, facts: TokenSecretFacts): TokenSecretDecision {
  if (secret === undefined) return { verdict: 'nothing', reason: 'gone' };
  if (secret.type !== TOKEN_SECRET_TYPE) return { verdict: 'nothing', reason: 'otherType' };
  const { account, rootCaPem } = facts;
  if (account === undefined) return { verdict: 'delete', reason: 'accountGone' };
  const { name = '', uid = '', namespace = '' } = account.metadata ?? {};
  const { annotations = {} } = secret.metadata ?? {};
  const boundTo = annotations[ACCOUNT_UID] ?? '';
  if (boundTo !== '' && boundTo !== uid) return { verdict: 'delete', reason: 'otherAccount' };
  const data = {
    ...secret.data,
    'ca.crt': encoded(rootCaPem),
    namespace: encoded(namespace),
    token: (secret.data?.['token'] ?? '') === '' ? encoded(facts.token({ name, uid })) : (secret.data?.['token'] ?? ''),
  };
  const complete = Object.entries(data).every(([key, value]) => secret.data?.[key] === value) && boundTo !== '';
  if (complete) return { verdict: 'nothing', reason: 'complete' };
  const metadata = { ...secret.metadata, annotations: { ...annotations, [ACCOUNT_UID]: uid } };
  return { verdict: 'update', reason: 'incomplete', object: { ...secret, metadata, data } };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
