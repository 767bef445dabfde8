import { describe, expect, it } from 'vitest';
import { CUSTOM_RESOURCE_CLEANUP } from '../../api/deletion/definition-delete.ts';
import type { Condition } from '../../api/meta/conditions.ts';
import type { Definition } from './definition.ts';
import {
  decideFinalizer,
  type FinalizerFacts,
  type FinalizerStep,
  withDeletionFailure,
} from './definition-finalizer.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

function definition(
  terminating: string | undefined,
  finalizers = [CUSTOM_RESOURCE_CLEANUP],
  established: Condition['status'] = 'True',
): Definition {
  const conditions: Condition[] = [{ type: 'Established', status: established }];
  if (terminating !== undefined) conditions.push({ type: 'Terminating', status: 'True', reason: terminating });
  return {
    metadata: {
      name: 'as.g.io',
      finalizers,
      ...(terminating === undefined ? {} : { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { group: 'g.io', scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions: [] },
    status: { acceptedNames: { plural: 'as', kind: 'A' }, conditions, storedVersions: ['v1'] },
  };
}

/** The step, in short. */
function told(step: FinalizerStep): string {
  if (step.step !== 'write') return step.step;
  const { metadata, status } = step.next;
  const terminating = status.conditions?.find(({ type }) => type === 'Terminating');
  return `write ${terminating?.status} ${terminating?.reason} [${metadata?.finalizers?.join(' ') ?? ''}]`;
}

const UNKNOWN: FinalizerFacts = { instances: 'unknown', overlap: 'none' };
const GONE: FinalizerFacts = { instances: 'gone', overlap: 'none' };
const BUILTIN: FinalizerFacts = { instances: 'unknown', overlap: 'builtin' };

describe('decideFinalizer', () => {
  it.each<[string, Definition, FinalizerFacts, string]>([
    ['lives', definition(undefined), UNKNOWN, 'none'],
    ['waits for others only', definition('InstanceDeletionCompleted', ['a.io/x']), GONE, 'none'],
    [
      'was just marked',
      definition('InstanceDeletionPending'),
      UNKNOWN,
      `write True InstanceDeletionInProgress [${CUSTOM_RESOURCE_CLEANUP}]`,
    ],
    ['is in progress', definition('InstanceDeletionInProgress'), UNKNOWN, 'deleteInstances'],
    [
      'failed before',
      definition('InstanceDeletionFailed'),
      UNKNOWN,
      `write True InstanceDeletionInProgress [${CUSTOM_RESOURCE_CLEANUP}]`,
    ],
    [
      'has lost its objects',
      definition('InstanceDeletionInProgress'),
      GONE,
      'write False InstanceDeletionCompleted []',
    ],
    [
      'is held by others too',
      definition('InstanceDeletionInProgress', ['a.io/x', CUSTOM_RESOURCE_CLEANUP]),
      GONE,
      'write False InstanceDeletionCompleted [a.io/x]',
    ],
    [
      'was never established',
      definition('InstanceDeletionPending', undefined, 'False'),
      UNKNOWN,
      'write False NeverEstablished []',
    ],
    [
      'has the name of a built-in resource',
      definition('InstanceDeletionPending'),
      BUILTIN,
      'write False OverlappingBuiltInResource []',
    ],
  ])('API-456 a definition that %s', (_what, state, facts, wanted) => {
    expect(told(decideFinalizer(state, facts, NOW))).toBe(wanted);
  });

  it('API-456 the words', () => {
    const messages = [
      decideFinalizer(definition('InstanceDeletionPending'), UNKNOWN, NOW),
      decideFinalizer(definition('InstanceDeletionInProgress'), GONE, NOW),
      decideFinalizer(definition('InstanceDeletionPending', undefined, 'False'), UNKNOWN, NOW),
    ].map((step) => (step.step === 'write' ? step.next.status.conditions?.at(-1)?.message : undefined));
    expect(messages).toEqual([
      'CustomResource deletion is in progress',
      'removed all instances',
      'resource was never established',
    ]);
    const failed = withDeletionFailure(definition('InstanceDeletionInProgress'), 'no room', NOW);
    expect(failed.status.conditions?.at(-1)).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionFailed',
      message: 'could not issue all deletes: no room',
    });
  });
});
