import { describe, expect, it } from 'vitest';
import type { Identity } from '../types/identity.ts';
import type { Target } from '../decide/target.ts';
import { failedWriteFields, type WriteAction } from './failed-write.ts';

const place = { apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'a', uid: 'uid-a' };
const identity = place as unknown as Identity;
const target = { ...place, resource: 'secrets' } as unknown as Target;
const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'uid-o', blockOwnerDeletion: false };
const references = [reference, { ...reference, uid: 'uid-p' }];

describe('failedWriteFields', () => {
  const actions: { readonly action: WriteAction; readonly told: object }[] = [
    {
      action: {
        action: 'delete',
        target,
        identity,
        policy: 'Background',
        preconditions: { uid: target.uid, resourceVersion: '7' },
        classified: references,
        basis: 'graph',
      },
      told: { policy: 'Background', basis: 'graph', resourceVersion: '7' },
    },
    {
      action: {
        action: 'removeReferences',
        target,
        identity,
        owners: references.map(({ uid }) => uid) as unknown as Identity['uid'][],
        known: { resourceVersion: '7', references },
      },
      told: { owners: 'uid-o, uid-p' },
    },
    {
      action: { action: 'unblockReferences', target, references, resourceVersion: '7', all: references },
      told: { owners: 'uid-o, uid-p', resourceVersion: '7' },
    },
    {
      action: { action: 'removeFinalizer', target, finalizer: 'orphan', known: undefined },
      told: { finalizer: 'orphan' },
    },
  ];

  it.each(actions)('COL-094 has the object and what was tried, each in a field of its own: $action.action', (each) => {
    const fields = failedWriteFields(each.action);
    expect(fields).toEqual({ ...target, action: each.action.action, ...each.told });
    expect(Object.values(fields).every((value) => typeof value === 'string')).toBe(true);
  });
});
