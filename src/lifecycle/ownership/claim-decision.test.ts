import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { decideClaim } from './claim-decision.ts';

const owner = (terminating = false): KubeObject => ({
  metadata: {
    namespace: 'n',
    name: 'o',
    uid: 'own',
    ...(terminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
});
const candidate = ({ controller = '', terminating = false, namespace = 'n' }): KubeObject => ({
  metadata: {
    namespace,
    name: 'c',
    ...(terminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...(controller === ''
      ? {}
      : {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'o', uid: controller, controller: true },
          ],
        }),
  },
});

describe('LIFE-220 an owner decides about a candidate', () => {
  it.each([
    [1, { controller: 'other' }, true, false, 'ignore'],
    [1, { controller: 'other' }, false, false, 'ignore'],
    [2, { controller: 'own' }, true, false, 'keep'],
    [2, { controller: 'own' }, true, true, 'keep'],
    [2, { controller: 'own', terminating: true }, true, true, 'keep'],
    [3, { controller: 'own' }, false, true, 'ignore'],
    [4, { controller: 'own' }, false, false, 'release'],
    [4, { controller: 'own', terminating: true }, false, false, 'release'],
    [5, {}, false, false, 'ignore'],
    [6, {}, true, true, 'ignore'],
    [7, { terminating: true }, true, false, 'ignore'],
    [8, { namespace: 'elsewhere' }, true, false, 'ignore'],
    [9, {}, true, false, 'adopt'],
  ] as const)('row %i: %o, selected %s, owner terminating %s: %s', (_, given, matches, terminating, verdict) => {
    expect(decideClaim(owner(terminating), candidate(given), () => matches).verdict).toBe(verdict);
  });

  it('LIFE-223 a reference that is no controller does not stand in the way', () => {
    const object = candidate({ controller: 'own' });
    delete object.metadata!.ownerReferences![0]!.controller;
    expect(decideClaim(owner(), object, () => true).verdict).toBe('adopt');
  });
});
