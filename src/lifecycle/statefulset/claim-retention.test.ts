import { describe, expect, it } from 'vitest';
import { decideClaimReferences, isStaleClaim } from './claim-retention.ts';
import type { Claim, Retention, StatefulSet } from './stateful-set.ts';

const set = (whenScaled: Retention, whenDeleted: Retention): StatefulSet => ({
  metadata: { name: 'db', uid: 's' },
  spec: { persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } },
});
const pod = { metadata: { name: 'db-0', uid: 'p' } };
const claim = (...ownerReferences: object[]): Claim => ({
  metadata: { name: 'data-db-0', ownerReferences: ownerReferences as never },
});
const toSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's', controller: true };
const owners = ({ claim: { metadata } }: ReturnType<typeof decideClaimReferences>) =>
  (metadata?.ownerReferences ?? []).map(({ kind, uid }) => `${kind} ${uid}`);

describe('LIFE-612 the references of a claim', () => {
  it.each<[Retention, Retention, string[], string[]]>([
    ['Retain', 'Retain', [], []],
    ['Retain', 'Delete', ['StatefulSet s'], ['StatefulSet s']],
    ['Delete', 'Retain', [], ['Pod p']],
    ['Delete', 'Delete', ['StatefulSet s'], ['Pod p']],
  ])('scaled %s, deleted %s', (whenScaled, whenDeleted, inRange, condemned) => {
    const subject = set(whenScaled, whenDeleted);
    expect(owners(decideClaimReferences(subject, { claim: claim(), pod, condemned: false }))).toEqual(inRange);
    expect(owners(decideClaimReferences(subject, { claim: claim(), pod, condemned: true }))).toEqual(condemned);
  });

  it('are taken back when the policy retains', () => {
    const decided = decideClaimReferences(set('Retain', 'Retain'), { claim: claim(toSet), pod, condemned: false });
    expect([decided.verdict, owners(decided)]).toEqual(['update', []]);
  });
});

describe('LIFE-613 a claim of somebody else', () => {
  it.each<[string, object]>([
    ['another controller', { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true }],
    ['an earlier set of the name', { ...toSet, uid: 'before', controller: undefined }],
    ['an earlier pod of the name', { apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'before' }],
  ])('keeps its reference to %s and gets none of ours', (_, reference) => {
    const decided = decideClaimReferences(set('Delete', 'Delete'), { claim: claim(reference), pod, condemned: false });
    expect(decided.verdict).toBe('conflict');
    const scrubbed = decideClaimReferences(set('Delete', 'Delete'), {
      claim: claim(reference, toSet),
      pod,
      condemned: false,
    });
    expect([scrubbed.verdict, owners(scrubbed).length]).toEqual(['update', 1]);
  });
});

it('LIFE-614 a claim of an earlier pod of the name is stale', () => {
  const of = (uid: string) => claim({ apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid });
  expect([isStaleClaim(of('before'), pod), isStaleClaim(of('p'), pod), isStaleClaim(claim(), pod)]).toEqual([
    true,
    false,
    false,
  ]);
});
