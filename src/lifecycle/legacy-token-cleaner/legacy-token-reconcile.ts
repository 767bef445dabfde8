import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { ACCOUNT_UID, INVALID_SINCE, LAST_USED, TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';

const DAY_MS = 86_400_000;

/** A ServiceAccount with the Secrets that were made for it. */
export interface ServiceAccount extends KubeObject {
  secrets?: readonly { readonly name?: string }[] | null;
}

export interface LegacyTokenFacts {
  /** The account of that name; undefined if there is none. */
  readonly account: ServiceAccount | undefined;
  /** Whether a pod of the namespace uses the Secret. */
  readonly use: 'used' | 'unused' | 'unknown';
  /** Epoch ms. */
  readonly now: number;
  /** A token that was not used for this time is refused, and is deleted after the same time again. */
  readonly periodMs: number;
}

type LegacyTokenDecision =
  | {
      readonly verdict: 'nothing';
      readonly reason: 'otherType' | 'young' | 'terminating' | 'usedLately' | 'unreadable' | 'notGenerated' | 'mounted';
    }
  /** The pods of its namespace decide. */
  | { readonly verdict: 'look'; readonly reason: 'unused' }
  | { readonly verdict: 'invalidate'; readonly reason: 'unused'; readonly since: string }
  /** Refused, but not for the whole period. */
  | { readonly verdict: 'nothing'; readonly reason: 'invalid' }
  | { readonly verdict: 'delete'; readonly reason: 'unused' };

/**
 * Epoch ms since which the use of every token has been noted: the beginning of the day after the one in the ConfigMap. Undefined if the
 * ConfigMap does not say.
 */
export function trackedSince(tracking: KubeObject): number | undefined {
  const since = (tracking['data'] as Readonly<Record<string, string>> | undefined)?.['since'] ?? '';
  const day = parseDay(since);
  return day === undefined ? undefined : day + DAY_MS;
}

/** Decides about a Secret once uses have been noted for the whole period (LIFE-681). Days are compared, as labels have no time. */
export function decideLegacyToken(
  secret: KubeObject,
  { account, use, now, periodMs }: LegacyTokenFacts,
): LegacyTokenDecision {
  const { name = '', creationTimestamp, deletionTimestamp, labels = {} } = secret.metadata ?? {};
  if (secret['type'] !== TOKEN_SECRET_TYPE) return { verdict: 'nothing', reason: 'otherType' };
  const limit = now - periodMs;
  if ((parseTime(creationTimestamp ?? '') ?? now) >= limit) return { verdict: 'nothing', reason: 'young' };
  if (deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const lastDay = dayOf(limit);
  const lastUsed = labels[LAST_USED];
  if (lastUsed !== undefined) {
    if (parseDay(lastUsed) === undefined) return { verdict: 'nothing', reason: 'unreadable' };
    if (lastUsed >= lastDay) return { verdict: 'nothing', reason: 'usedLately' };
  }
  if (!isGenerated(secret, name, account)) return { verdict: 'nothing', reason: 'notGenerated' };
  if (use === 'used') return { verdict: 'nothing', reason: 'mounted' };
  if (use === 'unknown') return { verdict: 'look', reason: 'unused' };
  const invalidSince = labels[INVALID_SINCE] ?? '';
  if (parseDay(invalidSince) === undefined) return { verdict: 'invalidate', reason: 'unused', since: dayOf(now) };
  return invalidSince >= lastDay ? { verdict: 'nothing', reason: 'invalid' } : { verdict: 'delete', reason: 'unused' };
}

/** True if the account lists the Secret, as old versions of Kubernetes made it; a Secret that a person made is not listed. */
function isGenerated({ metadata }: KubeObject, name: string, account: ServiceAccount | undefined): boolean {
  if (account === undefined) return false;
  const uid = metadata?.annotations?.[ACCOUNT_UID] ?? '';
  if (uid !== '' && uid !== account.metadata?.uid) return false;
  return (account.secrets ?? []).some((reference) => reference.name === name);
}

/** `2026-11-27`, UTC. */
function dayOf(epochMs: number): string {
  return formatTime(epochMs).slice(0, 10);
}

/** The beginning of the day in epoch ms. */
function parseDay(text: string): number | undefined {
  return parseTime(`${text}T00:00:00Z`);
}
