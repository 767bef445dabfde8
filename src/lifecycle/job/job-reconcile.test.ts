import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { type Job, type JobSpec, type JobStatus, TRACKING_FINALIZER } from './job.ts';
import { decideJob } from './job-reconcile.ts';
import { NO_FAILURES } from './pod-back-off.ts';
import { isBeyondCounting } from './tracking-finalizer.ts';

const START = Date.UTC(2026, 0, 1);
const job = (spec: JobSpec = {}, status: JobStatus = {}, metadata: object = {}): Job => ({
  metadata: { name: 'j', namespace: 'n', uid: 'job', ...metadata },
  spec,
  status,
});
const pod = (uid: string, phase: string, over: { tracked?: boolean; terminating?: boolean } = {}): Pod => ({
  metadata: {
    name: uid,
    uid,
    ...(over.tracked === false ? {} : { finalizers: [TRACKING_FINALIZER] }),
    ...(over.terminating ? { deletionTimestamp: formatTime(START) } : {}),
  },
  status: { phase },
});
const NONE = { created: 0, discarded: 0, terminated: 0 };
const plan = (subject: Job, pods: Pod[]) => {
  const decided = decideJob(subject, { pods, now: START, backOff: NO_FAILURES });
  return { ...decided, status: decided.statusAfter(NONE) };
};

describe('counting the pods of a Job', () => {
  it('LIFE-352 notes an ended pod first, then takes its finalizer, then counts it', () => {
    const spec = { completions: 2 };
    const first = plan(job(spec), [pod('a', 'Succeeded')]);
    expect(first.status).toMatchObject({ uncountedTerminatedPods: { succeeded: ['a'] } });
    expect(first.status.succeeded ?? 0).toBe(0);
    expect(first.release.map(({ metadata }) => metadata?.uid)).toEqual(['a']);
    const again = plan(job(spec, first.status), [pod('a', 'Succeeded')]);
    expect(again.status.uncountedTerminatedPods).toEqual({ succeeded: ['a'] });
    expect(again.release.length).toBe(1);
    expect(again.status.succeeded ?? 0).toBe(0);
    expect(again.status.conditions).toBeUndefined();
    const released = plan(job(spec, first.status), [pod('a', 'Succeeded', { tracked: false })]);
    expect(released.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
    const gone = plan(job(spec, first.status), []);
    expect(gone.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
    expect(plan(job(spec, released.status), [pod('a', 'Succeeded', { tracked: false })]).status.succeeded).toBe(1);
  });

  it('LIFE-352 keeps at most 500 uids on their way', () => {
    const pods = Array.from({ length: 700 }, (_, index) => pod(`p${index}`, 'Succeeded'));
    const { status, release } = plan(job({ completions: 1000, parallelism: 1000 }), pods);
    expect(status.uncountedTerminatedPods?.succeeded?.length).toBe(500);
    expect(release.length).toBe(500);
  });

  it('LIFE-010 makes at most 500 pods at once', () => {
    expect(plan(job({ completions: 2000, parallelism: 2000 }), []).create.length).toBe(500);
  });

  it.each([
    ['counts as failed', {}, 1],
    ['waits for its phase with podReplacementPolicy Failed', { podReplacementPolicy: 'Failed' }, 0],
    ['waits for its phase with a pod failure policy', { podFailurePolicy: { rules: [] } }, 0],
  ])('LIFE-360 a running pod on its way out %s', (_, spec, want) => {
    const { status, create } = plan(job({ parallelism: 1, ...spec }), [pod('a', 'Running', { terminating: true })]);
    expect(status.uncountedTerminatedPods?.failed?.length ?? 0).toBe(want);
    // With a policy that waits, no pod is replaced earlier; without one, the Job waits only for the back-off.
    expect(create).toEqual([]);
    expect(status.terminating).toBe(1);
  });

  it('LIFE-357 ends only when nothing is uncounted, active or terminating', () => {
    const done = { startTime: formatTime(START), uncountedTerminatedPods: { succeeded: ['a'] } };
    const spec = { completions: 1 };
    expect(plan(job(spec, done), [pod('a', 'Succeeded')]).status.conditions).toMatchObject([
      { type: 'SuccessCriteriaMet' },
    ]);
    const finished = plan(job(spec, done), [pod('a', 'Succeeded', { tracked: false })]).status;
    expect(finished.conditions).toMatchObject([{ type: 'SuccessCriteriaMet' }, { type: 'Complete' }]);
    const held = [
      pod('a', 'Succeeded', { tracked: false }),
      pod('b', 'Running', { terminating: true, tracked: false }),
    ];
    expect(plan(job(spec, done), held).status.conditions?.length).toBe(1);
  });

  it('LIFE-355 of a terminating Job lose their finalizers in any phase, and none is made', () => {
    const leaving = job({ parallelism: 3 }, {}, { deletionTimestamp: formatTime(START) });
    const { create, release } = plan(leaving, [pod('a', 'Running'), pod('b', 'Failed')]);
    expect(create).toEqual([]);
    expect(release.length).toBe(2);
    expect(plan(leaving, []).create).toEqual([]);
  });

  it('LIFE-361 of a suspended Job are discarded without being counted', () => {
    const { discard, terminate, status } = plan(job({ suspend: true }), [pod('a', 'Running')]);
    expect(discard.length).toBe(1);
    expect(terminate).toEqual([]);
    expect(status.uncountedTerminatedPods).toEqual({});
  });
});

describe('LIFE-353 a pod that no Job will count', () => {
  const owned = (uid: string, over: object = {}): Pod => ({
    metadata: {
      ...pod('p', 'Running').metadata,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid, controller: true, ...over }],
    },
  });
  const finished = job({}, { conditions: [{ type: 'Failed', status: 'True' }] });
  it.each<[string, Pod, Job | undefined, boolean]>([
    ['has no controller', pod('p', 'Running'), undefined, true],
    ['has a Job that is gone', owned('job'), undefined, true],
    ['has a Job of another uid', owned('old'), job(), true],
    ['has a finished Job', owned('job'), finished, true],
    ['has a Job that goes on', owned('job'), job(), false],
    ['has a finished Job of somebody else', owned('job'), { ...finished, spec: { managedBy: 'example.com/x' } }, false],
    ['has a controller of another group', owned('job', { apiVersion: 'example.com/v1' }), undefined, false],
    ['has no such finalizer', pod('p', 'Running', { tracked: false }), undefined, false],
  ])('%s', (_, subject, itsJob, want) => {
    expect(isBeyondCounting(subject, () => itsJob)).toBe(want);
  });
});
