import { expect, it } from 'vitest';
import type { Decision } from '../collector/workers/decision.ts';
import { explainDecision } from './explain-decision.ts';

const identity = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'default', name: 'web', uid: 'u' };
const target = { ...identity, resource: 'replicasets' };
const preconditions = { uid: 'u', resourceVersion: '1' };
const decision: Decision = {
  uid: 'u',
  identity,
  queuedFor: 'ownerGone',
  verdict: 'forget',
  reason: 'ownersAbsent',
  actions: [
    { action: 'delete', target, identity, policy: 'Background', preconditions, classified: [], basis: 'graph' },
  ],
};

it('says why in a sentence, and of what object, what was done, and the name of the reason', () => {
  expect(explainDecision(decision)).toEqual({
    message: 'None of its owners exists.',
    fields: {
      object: 'ReplicaSet.apps default/web',
      uid: 'u',
      because: 'ownerGone',
      did: 'delete (Background)',
      reason: 'ownersAbsent',
    },
  });
});

it('says nothing was done when nothing was, and that the object comes again', () => {
  const cluster = { ...identity, apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n1' };
  expect(
    explainDecision({ ...decision, identity: cluster, queuedFor: undefined, verdict: 'requeue', actions: [] }).fields,
  ).toEqual({
    object: 'Node n1',
    uid: 'u',
    did: 'nothing',
    reason: 'ownersAbsent',
    again: true,
  });
});

it('names each action in words', () => {
  const actions: Decision['actions'] = [
    { action: 'unblockReferences', target, references: [], resourceVersion: '1', all: [] },
    { action: 'removeReferences', target, identity, owners: ['a', 'b'] },
    { action: 'removeFinalizer', target, finalizer: 'orphan', known: undefined },
    { action: 'noteAbsentOwner', identity },
    { action: 'enqueueBlockingDependents', owner: 'u' },
    { action: 'emitVirtualDelete', identity },
  ];
  expect(explainDecision({ ...decision, identity: undefined, queuedFor: undefined, actions }).fields).toEqual({
    uid: 'u',
    did: 'unblock 0 references, remove 2 references, remove finalizer orphan, note that ReplicaSet web is absent, look at its blocking dependents, forget it',
    reason: 'ownersAbsent',
  });
});
