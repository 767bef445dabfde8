import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../api/meta/object-meta.ts';
import { describeChange, releasedOwners } from './change.ts';

const object = (metadata: ObjectMeta, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
  ...rest,
});
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u1' };
const deletionTimestamp = '2026-01-01T00:00:00Z';

describe('describeChange', () => {
  it.each<{ previous?: KubeObject; next?: KubeObject; words: string }>([
    { next: object({}), words: 'created' },
    {
      next: object({ ownerReferences: [owner], finalizers: ['a/b'] }),
      words: 'created (owned by Pod/o; finalizers a/b)',
    },
    { previous: object({}), words: 'removed' },
    { previous: object({ finalizers: ['a/b'] }), words: 'removed (finalizer a/b was the last)' },
    { previous: object({}), next: object({ deletionTimestamp }), words: 'is being deleted' },
    {
      previous: object({ finalizers: ['a/b'] }),
      next: object({ finalizers: ['a/b', 'foregroundDeletion'], deletionTimestamp, deletionGracePeriodSeconds: 30 }),
      words: 'is being deleted (waits for finalizer a/b, foregroundDeletion; grace period 30 s)',
    },
    {
      previous: object({ finalizers: ['a', 'b'], deletionTimestamp }),
      next: object({ finalizers: ['b'], deletionTimestamp }),
      words: 'finalizer a removed',
    },
    { previous: object({}), next: object({ finalizers: ['a'] }), words: 'finalizer a added' },
    { previous: object({ ownerReferences: [owner] }), next: object({}), words: 'released by owner Pod/o' },
    { previous: object({}), next: object({ ownerReferences: [owner] }), words: 'taken by owner Pod/o' },
    {
      previous: object({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      next: object({ ownerReferences: [{ ...owner, blockOwnerDeletion: false }] }),
      words: 'does not block Pod/o any more',
    },
    {
      previous: object({ resourceVersion: '1', labels: { a: '1' } }, { data: { a: '1' } }),
      next: object({ resourceVersion: '2', labels: { a: '2' } }, { data: { a: '2' } }),
      words: 'updated (data, metadata.labels)',
    },
  ])('says "$words"', ({ previous, next, words }) => {
    expect(describeChange(previous, next)).toBe(words);
  });
});

describe('releasedOwners', () => {
  it('names the owners whose references went, and none of an object that went', () => {
    const both = object({ ownerReferences: [owner, { ...owner, uid: 'u2' }] });
    expect(releasedOwners(both, object({ ownerReferences: [owner] }))).toEqual(['u2']);
    expect(releasedOwners(both, undefined)).toEqual([]);
    expect(releasedOwners(undefined, both)).toEqual([]);
  });
});
