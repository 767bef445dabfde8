import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { DeleteAction } from './actions.ts';
import { afterDelete } from './after-delete.ts';
import { afterRemoveFinalizer } from './after-remove-finalizer.ts';
import { afterRemoveReferences } from './after-remove-references.ts';
import { afterFailedUnblock, afterUnblock } from './after-unblock.ts';
import type { LatestAnswer } from './facts.ts';
import { liveObjectOf, type LiveObject } from './live-object.ts';
import type { VersionedAnswerKind, WriteAnswerKind } from './write-answer-kind.ts';

const reference: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'o' };
const identity = { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'n', uid: 'n' };
const target = { apiVersion: 'v1', kind: 'Pod', resource: 'pods', namespace: 'ns', name: 'n', uid: 'n' };
const unasked: LatestAnswer = { state: 'unasked' };
const ANSWERS: readonly WriteAnswerKind[] = [
  'accepted',
  'absent',
  'conflict',
  'invalid',
  'unsupportedMediaType',
  'failed',
];

function found(change: Partial<LiveObject> = {}): LatestAnswer {
  const metadata = { uid: 'n', name: 'n', namespace: 'ns', resourceVersion: '13', ownerReferences: [reference] };
  return { state: 'found', target, object: { ...liveObjectOf(metadata), ...change } };
}

function deletion(change: Partial<DeleteAction> = {}): DeleteAction {
  return {
    action: 'delete',
    target,
    identity,
    policy: 'Background',
    preconditions: { uid: 'n', resourceVersion: '12' },
    classified: [reference],
    basis: 'live',
    ...change,
  };
}

describe('afterDelete', () => {
  it('COL-093 a proven absence becomes a virtual delete event, without a retry', () => {
    const gone = { verdict: 'forget', reason: 'objectAbsent', actions: [{ action: 'emitVirtualDelete', identity }] };
    expect(afterDelete(deletion(), 'absent')).toEqual(gone);
  });

  it('COL-094 every other failure is retried from the start', () => {
    for (const answer of ['invalid', 'unsupportedMediaType', 'failed'] as const) {
      expect(afterDelete(deletion(), answer)).toEqual({ verdict: 'requeue', reason: 'writeRejected', actions: [] });
    }
  });

  it.each(['graph', 'live'] as const)(
    'COL-098 COL-151 COL-152 after a conflict of a delete that rested on the %s all is read and decided anew',
    (basis) => {
      expect(afterDelete(deletion({ basis }), 'conflict')).toEqual({ next: 'redecide' });
    },
  );

  it('COL-156 only a proof emits a virtual delete event', () => {
    for (const answer of ANSWERS) {
      if (answer === 'absent') continue;
      const step = afterDelete(deletion(), answer);
      expect('verdict' in step ? step.actions : []).toEqual([]);
    }
  });
});

describe('afterRemoveReferences', () => {
  const after = (answer: VersionedAnswerKind, latest: LatestAnswer = unasked) =>
    afterRemoveReferences({ target, owners: ['o'], answer, latest });

  it.each([
    ['COL-160 accepted', 'accepted', unasked, { release: 'released', reason: 'patchAccepted' }],
    ['COL-120 absent is success', 'absent', unasked, { release: 'gone', reason: 'objectAbsent' }],
    ['COL-154 conflict', 'conflict', unasked, { release: 'failed', reason: 'writeRejected' }],
    ['COL-154 rejected', 'failed', unasked, { release: 'failed', reason: 'writeRejected' }],
    [
      'COL-161 another version, of which nothing was sent',
      'outdated',
      unasked,
      { release: 'failed', reason: 'referencesObjectChanged' },
    ],
    ['COL-161 no patch type is left', 'unsupportedMediaType', unasked, { release: 'failed' }],
    ['COL-155 422 is looked into', 'invalid', unasked, { need: 'latest', target }],
    [
      'BETTER-16 the reference is gone',
      'invalid',
      found({ ownerReferences: [] }),
      { release: 'released', reason: 'patchNotNeeded' },
    ],
    [
      'COL-155 another object has the name',
      'invalid',
      found({ uid: 'x' }),
      { release: 'gone', reason: 'objectReplaced' },
    ],
    [
      'BETTER-16 the object is gone',
      'invalid',
      { state: 'absent', target },
      { release: 'gone', reason: 'objectAbsent' },
    ],
    ['COL-129 the reference is still there', 'invalid', found(), { release: 'failed' }],
    ['COL-156 the read failed', 'invalid', { state: 'error', target }, { release: 'failed' }],
  ] as const)('%s', (_, answer, latest, expected) => {
    expect(after(answer, latest)).toMatchObject(expected);
  });
});

describe('afterUnblock', () => {
  const action = deletion({ preconditions: { uid: 'n', resourceVersion: 'fromPatch' } });
  const patched = (change: Partial<LiveObject> = {}) => {
    const answer = found(change);
    return answer.state === 'found' ? answer.object : undefined;
  };

  it('COL-150 the delete rests on the object as patched', () => {
    expect(afterUnblock(action, patched())).toEqual({
      next: 'delete',
      action: { ...action, preconditions: { uid: 'n', resourceVersion: '13' } },
    });
  });

  it.each([
    ['no object was answered', undefined],
    ['other references came in between', patched({ ownerReferences: [reference, { ...reference, uid: 'p' }] })],
    ['another object was answered', patched({ uid: 'x' })],
    ['somebody else deletes it by now', patched({ deleting: true, finalizers: ['orphan'] })],
  ])('COL-152 nothing is deleted when %s', (_, object) => {
    expect(afterUnblock(action, object)).toMatchObject({ verdict: 'requeue', reason: 'patchedObjectChanged' });
  });

  it.each<[string, Partial<OwnerReference>]>([
    ['uid', { uid: 'p' }],
    ['name', { name: 'p' }],
    ['kind', { kind: 'Node' }],
    ['apiVersion', { apiVersion: 'v2' }],
    ['controller', { controller: true }],
    ['controller, which was absent', { controller: false }],
    ['blockOwnerDeletion', { blockOwnerDeletion: true }],
    ['blockOwnerDeletion, which was absent', { blockOwnerDeletion: false }],
  ])('COL-152 nothing is deleted when a reference has another %s', (_, change) => {
    const object = patched({ ownerReferences: [{ ...reference, ...change }] });
    expect(afterUnblock(action, object)).toMatchObject({ verdict: 'requeue', reason: 'patchedObjectChanged' });
  });

  it('COL-152 nothing is deleted when the references stand in another order', () => {
    const other = { ...reference, uid: 'p' };
    const of = deletion({ preconditions: action.preconditions, classified: [reference, other] });
    expect(afterUnblock(of, patched({ ownerReferences: [reference, other] }))).toHaveProperty('next');
    expect(afterUnblock(of, patched({ ownerReferences: [other, reference] }))).toHaveProperty('verdict');
  });

  it.each([
    ['absent', 'writeRejected'],
    ['conflict', 'writeRejected'],
    ['outdated', 'referencesObjectChanged'],
    ['invalid', 'writeRejected'],
    ['unsupportedMediaType', 'writeRejected'],
    ['failed', 'writeRejected'],
  ] as const)('COL-094 COL-163 after a patch that did not happen (%s) the key is retried: %s', (answer, reason) => {
    expect(afterFailedUnblock(answer)).toEqual({ verdict: 'requeue', reason, actions: [] });
  });
});

describe('afterRemoveFinalizer', () => {
  it.each([
    ['accepted', 'forget', 'patchAccepted'],
    ['absent', 'forget', 'objectAbsent'],
    ['conflict', 'requeue', 'finalizerConflictsExhausted'],
    ['outdated', 'requeue', 'finalizerObjectChanged'],
    ['invalid', 'requeue', 'writeRejected'],
    ['unsupportedMediaType', 'requeue', 'writeRejected'],
    ['failed', 'requeue', 'writeRejected'],
  ] as const)('COL-153 %s: %s', (answer, verdict, reason) => {
    expect(afterRemoveFinalizer(answer)).toEqual({ verdict, reason, actions: [] });
  });
});
