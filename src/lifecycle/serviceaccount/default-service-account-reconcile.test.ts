import { describe, expect, it } from 'vitest';
import { decideServiceAccount } from './default-service-account-reconcile.ts';

const active = { metadata: { name: 'n' }, status: { phase: 'Active' } };
const account = { metadata: { name: 'default' } };

describe('decideServiceAccount (LIFE-480)', () => {
  it.each([
    {
      name: 'missing in an active namespace',
      namespace: active,
      existing: undefined,
      expected: { verdict: 'create', reason: 'missing' },
    },
    { name: 'there', namespace: active, existing: account, expected: { verdict: 'nothing', reason: 'exists' } },
    {
      name: 'namespace terminating',
      namespace: { ...active, metadata: { name: 'n', deletionTimestamp: '2026-11-21T12:00:00Z' } },
      existing: undefined,
      expected: { verdict: 'nothing', reason: 'namespace-not-active' },
    },
    {
      name: 'namespace unknown',
      namespace: undefined,
      existing: undefined,
      expected: { verdict: 'nothing', reason: 'namespace-not-active' },
    },
  ])('$name', ({ namespace, existing, expected }) => {
    expect(decideServiceAccount(namespace, existing)).toMatchObject(expected);
  });
});
