import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import { BOOTSTRAP_TOKEN_TYPE } from '../../api/meta/token-secret.ts';

type TokenDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'noToken' | 'neverExpires' }
  | { readonly verdict: 'wait'; readonly reason: 'valid'; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: 'expired' | 'unreadable' };

/** Decides about a Secret of `kube-system` (LIFE-682). A malformed time counts as past. `now` in epoch ms. */
export function decideToken(secret: KubeObject | undefined, now: number): TokenDecision {
  if (secret === undefined || secret.metadata?.deletionTimestamp) return { verdict: 'nothing', reason: 'gone' };
  if (secret['type'] !== BOOTSTRAP_TOKEN_TYPE) return { verdict: 'nothing', reason: 'noToken' };
  const encoded = (secret['data'] as Readonly<Record<string, string>> | undefined)?.['expiration'] ?? '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  if (text === '') return { verdict: 'nothing', reason: 'neverExpires' };
  const expires = parseTime(text);
  if (expires === undefined) return { verdict: 'delete', reason: 'unreadable' };
  return expires <= now
    ? { verdict: 'delete', reason: 'expired' }
    : { verdict: 'wait', reason: 'valid', untilMs: expires };
}
