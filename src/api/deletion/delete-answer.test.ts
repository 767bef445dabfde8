import { describe, expect, it } from 'vitest';
import { newConflict } from '../status-error.ts';
import { deleteAnswer, deleteStatusCode, deleteWarnings } from './delete-answer.ts';
import type { DeleteDecision } from './delete-decision.ts';
import { PODS, pod, resourceInfo, thing } from './fixtures.ts';

const removed: DeleteDecision = {
  outcome: 'remove',
  object: thing(),
  answer: 'removedObject',
  reason: 'noFinalizers',
};
const updated: DeleteDecision = { outcome: 'update', object: thing(), reason: 'waitsForFinalizers' };
const unchanged: DeleteDecision = { outcome: 'unchanged', object: thing(), reason: 'alreadyTerminating' };
const refused: DeleteDecision = {
  outcome: 'refuse',
  error: newConflict({ group: '', resource: 'x' }, 'n'),
  reason: 'uidMismatch',
};

describe('deleteStatusCode', () => {
  it.each([
    [removed, undefined, 200],
    [removed, true, 200],
    [removed, false, 200],
    [updated, undefined, 200],
    [updated, true, 200],
    [updated, false, 202],
    [unchanged, undefined, 200],
    [unchanged, true, 200],
    [unchanged, false, 202],
    [refused, false, 409],
  ] as const)('API-254 $outcome, orphanDependents %s', (decision, orphanDependents, want) => {
    const options = orphanDependents === undefined ? {} : { orphanDependents };
    expect(deleteStatusCode(decision, options)).toBe(want);
  });
});

describe('deleteAnswer', () => {
  const resource = resourceInfo();

  it('API-043 gone: a Status with the plural and the uid', () => {
    expect(deleteAnswer(removed, { resource, options: {} })).toEqual({
      code: 200,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'n', group: 'apps', kind: 'things', uid: 'uid-1' },
      },
    });
  });

  it('API-250 gone, of a type that returns objects: the object', () => {
    const object = pod();
    const decision: DeleteDecision = { ...removed, object };
    expect(deleteAnswer(decision, { resource: PODS, options: {} }).body).toBe(object);
  });

  it('API-249 still there: the object as written', () => {
    const stored = thing({ resourceVersion: '8' });
    expect(deleteAnswer(updated, { resource, options: {}, stored }).body).toBe(stored);
    expect(deleteAnswer(unchanged, { resource, options: {} }).body).toBe(unchanged.object);
  });

  it('API-257 the dry run without an answer: an empty object of the kind', () => {
    const decision: DeleteDecision = { ...removed, answer: 'emptyObject' };
    expect(deleteAnswer(decision, { resource, options: { dryRun: ['All'] } })).toEqual({
      code: 200,
      body: { kind: 'Thing', apiVersion: 'apps/v1', metadata: {} },
    });
  });

  it('COL-234 refused: the Status of the error', () => {
    expect(deleteAnswer(refused, { resource, options: {} })).toMatchObject({ code: 409, body: { reason: 'Conflict' } });
  });
});

describe('deleteWarnings', () => {
  const jobs = { group: 'batch', resource: 'jobs' };

  it('API-248 warns only for jobs, only when nothing was said', () => {
    expect(deleteWarnings(jobs, {})).toEqual([
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    ]);
    expect(deleteWarnings(jobs, { propagationPolicy: 'Orphan' })).toEqual([]);
    expect(deleteWarnings(jobs, { orphanDependents: false })).toEqual([]);
    expect(deleteWarnings({ group: 'batch', resource: 'cronjobs' }, {})).toEqual([]);
  });
});
