import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';
import { CUSTOM_RESOURCE_CLEANUP, decideDefinitionDelete } from './definition-delete.ts';
import type { DeleteOptions } from './delete-options.ts';
import { deepFreeze, EARLIER_TEXT, NOW, NOW_TEXT, resourceInfo } from './fixtures.ts';

const DEFINITIONS = resourceInfo({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

const established = { type: 'Established', status: 'True', lastTransitionTime: EARLIER_TEXT };

function definition(metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.g.io', uid: 'uid-d', resourceVersion: '5', generation: 2, ...metadata },
    spec: { group: 'g.io' },
    status: { storedVersions: ['v1'], conditions: [established] },
  };
}

function decide(metadata: Partial<ObjectMeta> = {}, options: DeleteOptions = {}) {
  const object = deepFreeze(definition(metadata));
  return decideDefinitionDelete({ object, options, resource: DEFINITIONS, now: NOW });
}

describe('first DELETE of a CustomResourceDefinition', () => {
  it.each<DeleteOptions>([
    {},
    { propagationPolicy: 'Orphan' },
    { propagationPolicy: 'Foreground' },
    { gracePeriodSeconds: 0 },
    { preconditions: { uid: 'uid-d', resourceVersion: '5' } },
  ])('API-456 marks it and adds the finalizer, whatever the policy: %j', (options) => {
    expect(decide({}, options)).toEqual({
      outcome: 'update',
      reason: 'definitionTerminating',
      object: {
        ...definition(),
        metadata: { ...definition().metadata, deletionTimestamp: NOW_TEXT, finalizers: [CUSTOM_RESOURCE_CLEANUP] },
        status: {
          storedVersions: ['v1'],
          conditions: [
            established,
            {
              type: 'Terminating',
              status: 'True',
              lastTransitionTime: NOW_TEXT,
              reason: 'InstanceDeletionPending',
              message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
            },
          ],
        },
      },
    });
  });

  it('API-456 keeps other finalizers and does not add its own twice', () => {
    const finalizers = ['a.io/x', CUSTOM_RESOURCE_CLEANUP];
    expect(decide({ finalizers })).toMatchObject({ object: { metadata: { finalizers } } });
    expect(decide({ finalizers: ['a.io/x'] })).toMatchObject({ object: { metadata: { finalizers } } });
  });

  it.each([
    [{ uid: 'other' }, 'uidMismatch', 'UID in precondition: other, UID in object meta: uid-d'],
    [
      { resourceVersion: '4' },
      'resourceVersionMismatch',
      'ResourceVersion in precondition: 4, ResourceVersion in object meta: 5',
    ],
  ])('API-242 refuses what is not meant: %j', (preconditions, reason, words) => {
    const decision = decide({}, { preconditions });
    expect(decision).toMatchObject({ outcome: 'refuse', reason, error: { code: 409 } });
    expect(decision.outcome === 'refuse' && decision.error.message).toBe(
      `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "as.g.io": precondition failed: ${words}`,
    );
  });

  it('API-240 refuses options that contradict each other', () => {
    expect(decide({}, { propagationPolicy: 'Orphan', orphanDependents: true })).toMatchObject({
      reason: 'invalidOptions',
    });
  });
});

describe('further DELETE of a CustomResourceDefinition', () => {
  const terminating = { deletionTimestamp: EARLIER_TEXT, finalizers: [CUSTOM_RESOURCE_CLEANUP] };

  it('API-456 is ordinary', () => {
    expect(decide(terminating, { propagationPolicy: 'Foreground' })).toMatchObject({
      outcome: 'update',
      reason: 'policySwitched',
      object: { metadata: { finalizers: [CUSTOM_RESOURCE_CLEANUP, 'foregroundDeletion'] } },
    });
    expect(decide({ ...terminating, deletionGracePeriodSeconds: 0 })).toMatchObject({ outcome: 'unchanged' });
  });
});
