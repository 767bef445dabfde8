import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';

interface CsrCondition {
  readonly type: string;
  readonly lastUpdateTime?: string | null;
}

export interface SigningRequest extends KubeObject {
  status?: { readonly certificate?: string; readonly conditions?: readonly CsrCondition[] | null };
}

/** The reason why a request is deleted (LIFE-100). */
export type CsrReason = 'issued' | 'denied' | 'failed' | 'pending' | 'expiredCertificate' | 'approvedNotIssued';

type CsrDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'noLimit' }
  | { readonly verdict: 'wait'; readonly reason: CsrReason; readonly untilMs: number }
  | { readonly verdict: 'delete'; readonly reason: CsrReason };

const HOUR_MS = 3_600_000;

/** How long requests stay, as in kube-controller-manager unless given. */
export interface CsrLifetimes {
  /** Issued ones; 1 h. */
  readonly approvedMs?: number;
  /** Denied and failed ones; 1 h. */
  readonly deniedMs?: number;
  /** Those without a decision or a certificate; 24 h. */
  readonly pendingMs?: number;
}

/**
 * Decides when a CertificateSigningRequest is deleted (LIFE-100 to LIFE-104; `pkg/controller/certificates/cleaner`).
 * @param now epoch ms
 * @param notAfter epoch ms at which the first certificate expires; undefined if there is none that can be parsed
 */
export function decideCsr(
  request: SigningRequest | undefined,
  now: number,
  notAfter: number | undefined,
  { approvedMs = HOUR_MS, deniedMs = HOUR_MS, pendingMs = 24 * HOUR_MS }: CsrLifetimes = {},
): CsrDecision {
  if (request === undefined) return { verdict: 'nothing', reason: 'gone' };
  const { conditions, certificate = '' } = request.status ?? {};
  const list = conditions ?? [];
  const limits: { readonly reason: CsrReason; readonly atMs: number }[] = [];
  const limit = (reason: CsrReason, since: string | null | undefined, ms: number): void => {
    // An unset time is never old (LIFE-102). The comparison is strict, in whole seconds.
    const at = parseTime(since ?? '');
    if (at !== undefined) limits.push({ reason, atMs: at + ms });
  };
  for (const { type, lastUpdateTime } of list) {
    if (type === 'Approved' && certificate !== '') limit('issued', lastUpdateTime, approvedMs);
    if (type === 'Approved' && certificate === '') limit('approvedNotIssued', lastUpdateTime, pendingMs);
    if (type === 'Approved' && certificate !== '' && notAfter !== undefined) {
      limits.push({ reason: 'expiredCertificate', atMs: notAfter });
    }
    if (type === 'Denied') limit('denied', lastUpdateTime, deniedMs);
    if (type === 'Failed') limit('failed', lastUpdateTime, deniedMs);
  }
  if (list.length === 0) limit('pending', request.metadata?.creationTimestamp, pendingMs);
  const first = limits.toSorted((a, b) => a.atMs - b.atMs)[0];
  if (first === undefined) return { verdict: 'nothing', reason: 'noLimit' };
  if (first.atMs < now) return { verdict: 'delete', reason: first.reason };
  return { verdict: 'wait', reason: first.reason, untilMs: first.atMs + 1 };
}
