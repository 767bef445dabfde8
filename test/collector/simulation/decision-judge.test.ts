import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/collector/workers/decision.ts';
import { wrongClaims } from './decision-judge.ts';
import { StoredObjects } from './stored-objects.ts';

const there = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'a', uid: 'u' };
const objects = new StoredObjects();
objects.set('/a', { ...there, metadata: {} });
objects.set('/b', { ...there, name: 'b', uid: 'v', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });

const never = { wasTerminating: () => false };
const decision = (more: Partial<Decision>): Decision => ({
  uid: 'u',
  identity: there,
  queuedFor: undefined,
  verdict: 'forget',
  reason: 'objectAbsent',
  actions: [],
  ...more,
});

describe('what a collector says, held against what is there', () => {
  it.each(['noteAbsentOwner', 'emitVirtualDelete'] as const)('COL-116 an absence is none: %s', (action) => {
    expect(wrongClaims(decision({ actions: [{ action, identity: there }] }), { objects, ...never })).toEqual([
      'Secret default/a counts as absent',
    ]);
  });

  it.each([
    { name: 'z' },
    { namespace: 'kube-public' },
    { kind: 'ConfigMap' },
    { apiVersion: 'v2' },
    { uid: 'another' },
  ])('COL-115 under other coordinates it is absent: %j', (other) => {
    const identity = { ...there, ...other };
    expect(
      wrongClaims(decision({ actions: [{ action: 'noteAbsentOwner', identity }] }), { objects, ...never }),
    ).toEqual([]);
  });

  it('COL-115 a cluster-scoped object is where it is, whatever namespace is said', () => {
    const role = { apiVersion: 'v1', kind: 'ClusterRole', namespace: '', name: 'r', uid: 'w' };
    const roles = new StoredObjects();
    roles.set('/r', { ...role, metadata: {} });
    const identity = { ...role, namespace: 'default' };
    expect(
      wrongClaims(decision({ actions: [{ action: 'noteAbsentOwner', identity }] }), { objects: roles, ...never }),
    ).toHaveLength(1);
  });

  it('COL-095 what counts as terminating is', () => {
    const terminating = { reason: 'alreadyTerminating' } as const;
    expect(wrongClaims(decision(terminating), { objects, ...never })).toEqual([
      'Secret default/a counts as terminating',
    ]);
    expect(wrongClaims(decision({ ...terminating, uid: 'v' }), { objects, ...never })).toEqual([]);
    expect(wrongClaims(decision({ ...terminating, uid: 'gone' }), { objects, ...never })).toEqual([]);
  });

  it('COL-055 designs/0011 what was terminating before a restore may count as that for a while, and nothing else', () => {
    const wasTerminating = (uid: string): boolean => uid === 'u';
    const say = (uid: string): string[] =>
      wrongClaims(decision({ uid, reason: 'alreadyTerminating' }), { objects: twins, wasTerminating });
    const twins = objects.copy();
    twins.set('/c', { ...there, name: 'c', uid: 'x', metadata: {} });
    expect(say('u')).toEqual([]);
    expect(say('x')).toEqual(['Secret default/c counts as terminating']);
    const identity = { action: 'noteAbsentOwner', identity: there } as const;
    expect(wrongClaims(decision({ actions: [identity] }), { objects, wasTerminating })).toHaveLength(1);
  });
});
