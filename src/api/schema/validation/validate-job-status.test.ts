import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../meta/object-meta.ts';
import { validateJobStatus } from './validate-job-status.ts';

const START = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:01:00Z';
const is = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
const complete = { ...is('SuccessCriteriaMet', 'Complete'), startTime: START, completionTime: LATER, succeeded: 1 };
const failed = { ...is('FailureTarget', 'Failed'), startTime: START, failed: 1 };
const job = (status: object, spec: object = {}): KubeObject => ({ metadata: { name: 'j' }, spec, status });
const problems = (next: object, previous: object = { startTime: START }, spec: object = {}) =>
  validateJobStatus(job(next, spec), job(previous, spec)).map(({ field, message }) => `${field}: ${message}`);

describe('LIFE-507 the status of a Job', () => {
  it.each([
    ['nothing yet', {}, {}],
    ['a start', { startTime: START, active: 2, ready: 1 }, {}],
    ['an interim condition', { startTime: START, ...is('FailureTarget'), terminating: 1 }, { startTime: START }],
    ['success', complete, { startTime: START, ...is('SuccessCriteriaMet') }],
    ['failure', failed, { startTime: START, ...is('FailureTarget') }],
    ['the same once more', complete, complete],
    ['an object from before these checks, with another field changed', { ...is('Complete'), ready: 0 }, is('Complete')],
  ])('may be %s', (_, next, previous) => {
    expect(problems(next, previous)).toEqual([]);
  });

  it('may start at another time when the Job is resumed', () => {
    const resumed = { startTime: LATER, conditions: [{ type: 'Suspended', status: 'False' }] };
    expect(problems(resumed, { startTime: START, ...is('Suspended') })).toEqual([]);
    expect(problems(resumed, { startTime: START })).toHaveLength(1);
  });

  it('may lose its start while the Job is suspended', () => {
    expect(problems({}, { startTime: START }, { suspend: true })).toEqual([]);
  });

  it.each<[string, object, object, string]>([
    [
      'Complete without its interim condition',
      { ...complete, ...is('Complete') },
      {},
      'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    ],
    [
      'Complete without a start',
      { ...complete, startTime: undefined },
      {},
      'status.startTime: Required value: startTime is required for finished job',
    ],
    [
      'Complete without a completion',
      { ...complete, completionTime: null },
      {},
      'status.completionTime: Required value: completionTime is required for Complete jobs',
    ],
    [
      'Complete with active pods',
      { ...complete, active: 1 },
      {},
      'status.active: Invalid value: 1: active>0 is invalid for finished job',
    ],
    [
      'Complete with uncounted pods',
      { ...complete, uncountedTerminatedPods: { succeeded: ['u'], failed: [] } },
      {},
      'status.uncountedTerminatedPods: Invalid value: {"succeeded":["u"]}: uncountedTerminatedPods needs to be empty for finished job',
    ],
    [
      'Complete with terminating pods',
      { ...complete, terminating: 2 },
      {},
      'status.terminating: Invalid value: 2: terminating>0 is invalid for finished job',
    ],
    [
      'Failed without its interim condition',
      { ...failed, ...is('Failed') },
      {},
      'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    ],
    [
      'Failed without a start',
      { ...failed, startTime: undefined },
      {},
      'status.startTime: Required value: startTime is required for finished job',
    ],
    [
      'completed before it started',
      { ...complete, startTime: LATER, completionTime: START },
      {},
      `status.completionTime: Invalid value: "${START}": completionTime cannot be set before startTime`,
    ],
    [
      'completed at another time',
      { ...complete, completionTime: '2026-01-01T00:02:00Z' },
      complete,
      'status.completionTime: Invalid value: "2026-01-01T00:02:00Z": completionTime cannot be mutated',
    ],
    [
      'completed without the condition',
      { startTime: START, completionTime: LATER },
      { startTime: START },
      `status.completionTime: Invalid value: "${LATER}": cannot set completionTime when there is no Complete=True condition`,
    ],
    [
      'started at another time',
      { startTime: LATER },
      { startTime: START },
      'status.startTime: Required value: startTime cannot be removed for unsuspended job',
    ],
    [
      'with more ready pods than active ones',
      { active: 1, ready: 2 },
      {},
      'status.ready: Invalid value: 2: cannot set more ready pods than active',
    ],
    [
      'with fewer failures',
      { failed: 1 },
      { failed: 2 },
      'status.failed: Invalid value: 1: cannot decrease the failed counter',
    ],
    [
      'with fewer successes',
      { succeeded: 1 },
      { succeeded: 2 },
      'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    ],
  ])('may not be %s', (_, next, previous, problem) => {
    expect(problems(next, previous)).toEqual([problem]);
  });

  it.each([
    ['Failed', failed, { ...failed, ...is('FailureTarget') }],
    ['FailureTarget', is('FailureTarget'), is()],
    ['Complete', complete, { ...complete, completionTime: undefined, ...is('SuccessCriteriaMet') }],
  ])('keeps %s, which is final', (type, previous, next) => {
    expect(problems(next, previous)).toEqual([
      `status.conditions: Invalid value: cannot disable the terminal ${type}=True condition`,
    ]);
  });

  it('keeps SuccessCriteriaMet', () => {
    expect(problems(is(), is('SuccessCriteriaMet'))[0]).toBe(
      'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    );
  });

  it.each([
    ['Complete', 'Failed', { ...complete, ...is('SuccessCriteriaMet', 'Complete', 'FailureTarget', 'Failed') }],
    ['SuccessCriteriaMet', 'FailureTarget', is('SuccessCriteriaMet', 'FailureTarget')],
  ])('is not both %s and %s', (one, other, next) => {
    expect(problems(next, {})).toContain(
      `status.conditions: Invalid value: cannot set ${one}=True and ${other}=true conditions`,
    );
  });

  it('counts fewer successes when an indexed Job was made smaller', () => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2 };
    expect(problems({ succeeded: 1 }, { succeeded: 2 }, spec)).toEqual([]);
    expect(problems({ succeeded: 1 }, { succeeded: 2 }, { ...spec, parallelism: 1 })).toHaveLength(1);
  });
});
