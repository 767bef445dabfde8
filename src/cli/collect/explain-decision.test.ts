import { expect, it } from 'vitest';
import type { Action } from '../../collector/decide/actions.ts';
import type { Reason } from '../../collector/types/reasons.ts';
import type { CarriedOut } from '../../collector/workers/decision.ts';
import { explainDecision } from './explain-decision.ts';

const identity = { apiVersion: 'apps/v1', kind: 'ReplicaSet', namespace: 'default', name: 'web', uid: 'u' };
const target = { ...identity, resource: 'replicasets' };
const preconditions = { uid: 'u', resourceVersion: '1' };
const deletion: Action = {
  action: 'delete',
  target,
  identity,
  policy: 'Background',
  preconditions,
  classified: [],
  basis: 'graph',
};
const decision: CarriedOut = {
  uid: 'u',
  identity,
  queuedFor: 'ownerGone',
  verdict: 'forget',
  reason: 'ownersAbsent',
  decided: 'ownersAbsent',
  actions: [deletion],
  results: [{ action: deletion, answered: 'deleteAccepted' }],
};
const object = 'ReplicaSet.apps default/web';
const about = { object, uid: 'u', because: 'ownerGone' };

it('says why in a sentence, and of what object, what was done, what the server said, and the name of the reason', () => {
  expect(explainDecision(decision)).toEqual({
    message: 'None of its owners exists.',
    fields: { ...about, did: 'delete (Background)', answered: 'deleteAccepted', reason: 'ownersAbsent' },
  });
});

it('says nothing was done when nothing was, and that the object comes again', () => {
  const cluster = { ...identity, apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n1' };
  const idle = { ...decision, identity: cluster, queuedFor: undefined, actions: [], results: [] } as const;
  expect(explainDecision({ ...idle, verdict: 'requeue' }).fields).toEqual({
    object: 'Node n1',
    uid: 'u',
    did: 'nothing',
    reason: 'ownersAbsent',
    again: true,
  });
});

it('does not say that was done what the server refused, and says what had been decided', () => {
  const results = [{ action: deletion, answered: 'writeRejected' as const }];
  const { message, fields } = explainDecision({ ...decision, verdict: 'requeue', reason: 'writeRejected', results });
  expect(message).toBe('The write was refused, or got no answer.');
  expect(fields).toEqual({
    ...about,
    did: 'nothing',
    tried: 'delete (Background)',
    answered: 'writeRejected',
    decided: 'ownersAbsent',
    reason: 'writeRejected',
    again: true,
  });
});

it('does not say that was done what somebody else had done before', () => {
  const gone: Action = { action: 'emitVirtualDelete', identity };
  const results = [
    { action: deletion, answered: 'objectAbsent' as const },
    { action: gone, answered: undefined },
  ];
  expect(explainDecision({ ...decision, results }).fields).toEqual({
    ...about,
    did: 'forget it',
    tried: 'delete (Background)',
    answered: 'objectAbsent',
    reason: 'ownersAbsent',
  });
});

it('names each action in words', () => {
  const results: [Action, Reason | undefined][] = [
    [{ action: 'unblockReferences', target, references: [], resourceVersion: '1', all: [] }, 'patchAccepted'],
    [{ action: 'removeReferences', target, identity, owners: ['a', 'b'], known: undefined }, 'patchAccepted'],
    [{ action: 'removeFinalizer', target, finalizer: 'orphan', known: undefined }, 'patchAccepted'],
    [{ action: 'noteAbsentOwner', identity }, undefined],
    [{ action: 'enqueueBlockingDependents', owner: 'u' }, undefined],
    [{ action: 'emitVirtualDelete', identity }, undefined],
  ];
  const { fields } = explainDecision({
    ...decision,
    results: results.map(([action, answered]) => ({ action, answered })),
  });
  expect(fields['did']).toBe(
    'unblock 0 references, remove 2 references, remove finalizer orphan, note that ReplicaSet web is absent, process its blocking dependents, forget it',
  );
});
