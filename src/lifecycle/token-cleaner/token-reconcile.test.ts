import { describe, expect, it } from 'vitest';
import { decideToken } from './token-reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const token = (expiration?: string, type = 'bootstrap.kubernetes.io/token') => ({
  metadata: { name: 'bootstrap-token-x' },
  type,
  data: expiration === undefined ? {} : { expiration: Buffer.from(expiration).toString('base64') },
});

describe('LIFE-682 a bootstrap token', () => {
  it('is deleted at its expiration, and when that cannot be read', () => {
    expect(decideToken(token('2026-01-01T00:00:00Z'), NOW).verdict).toBe('delete');
    expect(decideToken(token('tomorrow'), NOW)).toEqual({ verdict: 'delete', reason: 'unreadable' });
    expect(decideToken(token('2026-01-01T00:00:01Z'), NOW)).toMatchObject({ verdict: 'wait', untilMs: NOW + 1000 });
  });

  it('without an expiration stays, as do all other secrets', () => {
    expect(decideToken(token(), NOW).verdict).toBe('nothing');
    expect(decideToken(token('2020-01-01T00:00:00Z', 'Opaque'), NOW).verdict).toBe('nothing');
  });
});
