import { describe, expect, it } from 'vitest';
import { POD_TTL } from '../../api/meta/annotations.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { decideJobTtl, decidePodTtl, type FinishedJob } from './ttl-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const job = (over: {
  ttl?: number;
  type?: string;
  status?: string;
  at?: string | null;
  terminating?: boolean;
  managedBy?: string;
}): FinishedJob => ({
  metadata: { name: 'j', namespace: 'n', ...(over.terminating ? { deletionTimestamp: formatTime(START) } : {}) },
  spec: {
    ...(over.ttl === undefined ? {} : { ttlSecondsAfterFinished: over.ttl }),
    ...(over.managedBy ? { managedBy: over.managedBy } : {}),
  },
  status: {
    conditions: [
      {
        type: over.type ?? 'Complete',
        status: (over.status ?? 'True') as 'True',
        lastTransitionTime: over.at === undefined ? formatTime(START) : over.at,
      },
      { type: 'Failed', status: 'True', lastTransitionTime: formatTime(START + 99_000) },
    ],
  },
});

describe('the time of a Job after it finished', () => {
  it('LIFE-080 LIFE-081 runs from the first condition that says that it is finished', () => {
    expect(decideJobTtl(job({ ttl: 10 }), START)).toEqual({
      verdict: 'wait',
      reason: 'notExpired',
      untilMs: START + 10_000,
    });
    expect(decideJobTtl(job({ ttl: 10 }), START + 10_000)).toMatchObject({
      verdict: 'delete',
      expiredAtMs: START + 10_000,
    });
    expect(decideJobTtl(job({ ttl: 10, type: 'Suspended' }), START)).toMatchObject({ untilMs: START + 109_000 });
    expect(decideJobTtl(job({ ttl: 10, status: 'False' }), START)).toMatchObject({ untilMs: START + 109_000 });
  });

  it('LIFE-081 is over at once when it is 0, and never when there is none', () => {
    expect(decideJobTtl(job({ ttl: 0 }), START).verdict).toBe('delete');
    expect(decideJobTtl(job({}), START + 1e12)).toEqual({ verdict: 'nothing', reason: 'noTtl' });
  });

  it('LIFE-082 only defers for an end in the future', () => {
    const future = formatTime(START + 60_000);
    expect(decideJobTtl(job({ ttl: 0, at: future }), START)).toMatchObject({
      verdict: 'wait',
      untilMs: START + 60_000,
    });
  });

  it('LIFE-080 is an error without a time', () => {
    expect(decideJobTtl(job({ ttl: 0, at: null }), START).verdict).toBe('error');
  });

  it('LIFE-083 LIFE-087 does not matter for a Job on its way out, and does for one that others manage', () => {
    expect(decideJobTtl(job({ ttl: 0, terminating: true }), START)).toEqual({
      verdict: 'nothing',
      reason: 'terminating',
    });
    expect(decideJobTtl(job({ ttl: 0, managedBy: 'example.com/x' }), START).verdict).toBe('delete');
  });
});

describe('the time of a bare pod after it finished', () => {
  const pod = (over: Partial<Pod['metadata'] & object> = {}, phase = 'Succeeded', ttl = '5'): Pod => ({
    metadata: { name: 'p', annotations: { [POD_TTL]: ttl }, creationTimestamp: formatTime(START), ...over },
    status: {
      phase,
      containerStatuses: [1000, 3000].map((ms) => ({
        name: 'c',
        ready: false,
        restartCount: 0,
        image: '',
        imageID: '',
        state: { terminated: { exitCode: 0, finishedAt: formatTime(START + ms) } },
      })),
    },
  });
  it('LIFE-067 runs from the end of its last container', () => {
    expect(decidePodTtl(pod(), START)).toMatchObject({ verdict: 'wait', untilMs: START + 8000 });
    expect(decidePodTtl(pod(), START + 8000).verdict).toBe('delete');
  });

  it('LIFE-067 does not run for a pod that runs, has a controller, or an annotation that is no number', () => {
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }];
    expect(decidePodTtl(pod({}, 'Running'), START + 1e9).verdict).toBe('nothing');
    expect(decidePodTtl(pod({ ownerReferences }), START + 1e9)).toEqual({ verdict: 'nothing', reason: 'owned' });
    expect(decidePodTtl(pod({}, 'Failed', '5s'), START + 1e9)).toEqual({ verdict: 'nothing', reason: 'noTtl' });
  });
});
