import { describe, expect, it } from 'vitest';
import { decideRootCa, type RootCaFacts } from './root-ca-reconcile.ts';

const rootCaPem = '-----BEGIN CERTIFICATE-----';
const active = { metadata: { name: 'n' }, status: { phase: 'Active' } };
const decide = (existing: RootCaFacts['existing'], namespace: RootCaFacts['namespace'] = active) =>
  decideRootCa({ namespace, existing, rootCaPem });
const made = (): NonNullable<RootCaFacts['existing']> => {
  const decision = decide(undefined);
  if (decision.verdict !== 'create') throw new Error('expected a create');
  return decision.object;
};

describe('decideRootCa (LIFE-481)', () => {
  it('creates it with the certificate and a description', () => {
    expect(made()).toMatchObject({
      metadata: { name: 'kube-root-ca.crt', annotations: { 'kubernetes.io/description': expect.any(String) } },
      data: { 'ca.crt': rootCaPem },
    });
  });

  it('leaves what is right alone', () => {
    expect(decide(made())).toEqual({ verdict: 'nothing', reason: 'up-to-date' });
  });

  it.each([
    { name: 'other certificate', change: { data: { 'ca.crt': 'x' } } },
    { name: 'a key too many', change: { data: { 'ca.crt': rootCaPem, more: 'x' } } },
    { name: 'no data', change: { data: undefined } },
    { name: 'no description', change: { metadata: { name: 'kube-root-ca.crt', labels: { mine: 'kept' } } } },
  ])('restores it: $name', ({ change }) => {
    const decision = decide({ ...made(), ...change });
    expect(decision).toMatchObject({ verdict: 'update', reason: 'changed' });
    if (decision.verdict === 'update' && change.metadata)
      expect(decision.object.metadata?.labels).toEqual({ mine: 'kept' });
  });

  it('writes nothing into a namespace that is going', () => {
    expect(decide(undefined, { ...active, status: { phase: 'Terminating' } })).toEqual({
      verdict: 'nothing',
      reason: 'namespace-not-active',
    });
  });
});
