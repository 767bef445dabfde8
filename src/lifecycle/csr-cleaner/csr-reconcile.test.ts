import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import { notAfterOf } from './csr-cleaner-controller.ts';
import { type CsrReason, decideCsr, type SigningRequest } from './csr-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const request = (type?: string, certificate?: string, at: string | null = formatTime(START)): SigningRequest => ({
  metadata: { name: 'r', creationTimestamp: formatTime(START) },
  status: {
    ...(certificate === undefined ? {} : { certificate }),
    conditions: type === undefined ? [] : [{ type, lastUpdateTime: at }],
  },
});

describe('when a signing request goes', () => {
  it.each<[string, SigningRequest, number | undefined, number, CsrReason]>([
    ['a', request('Approved', 'x'), undefined, HOUR, 'issued'],
    ['b', request('Denied'), undefined, HOUR, 'denied'],
    ['c', request('Failed'), undefined, HOUR, 'failed'],
    ['d', request(), undefined, 24 * HOUR, 'pending'],
    ['e', request('Approved', 'x'), START + 60_000, 60_000, 'expiredCertificate'],
    ['f', request('Approved'), undefined, 24 * HOUR, 'approvedNotIssued'],
  ])(
    'LIFE-100 LIFE-102 LIFE-104 row %s: waits for its limit, which is strict',
    (_, subject, notAfter, limit, reason) => {
      expect(decideCsr(subject, START, notAfter)).toEqual({ verdict: 'wait', reason, untilMs: START + limit + 1 });
      expect(decideCsr(subject, START + limit, notAfter).verdict).toBe('wait');
      expect(decideCsr(subject, START + limit + 1, notAfter)).toEqual({ verdict: 'delete', reason });
    },
  );

  it.each<[string, SigningRequest, number]>([
    ['issued', request('Approved', 'x'), 2],
    ['denied', request('Denied'), 3],
    ['failed', request('Failed'), 3],
    ['unanswered', request(), 4],
    ['approved, not issued', request('Approved'), 4],
  ])('LIFE-100 %s: the limit can be set', (_, subject, hours) => {
    const limits = { approvedMs: 2 * HOUR, deniedMs: 3 * HOUR, pendingMs: 4 * HOUR };
    expect(decideCsr(subject, START, undefined, limits)).toMatchObject({ untilMs: START + hours * HOUR + 1 });
  });

  it('LIFE-102 never, when the time was never set', () => {
    expect(decideCsr(request('Denied', undefined, null), START + 1e12, undefined).verdict).toBe('nothing');
  });

  it.each(['', 'bm8gUEVN', '%'])('LIFE-103 %j is no certificate that could expire', (certificate) => {
    expect(notAfterOf(certificate)).toBeUndefined();
  });
});
