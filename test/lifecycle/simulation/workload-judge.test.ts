import { describe, expect, it } from 'vitest';
import type { StoreEvent } from '../../../src/apiserver/storage/interface.ts';
import { unsatisfied, wrongAtRest } from './rest-judge.ts';
import type { Stored } from './stored-workloads.ts';
import { WorkloadJudge } from './workload-judge.ts';

type Parts = {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
  readonly owner?: Stored;
  readonly finalizers?: readonly string[];
};

function object(kind: string, name: string, { metadata, spec, status, owner, finalizers }: Parts = {}): Stored {
  const { name: of = '', uid = '' } = owner?.metadata ?? {};
  const ownerReferences =
    owner === undefined ? [] : [{ apiVersion: 'v1', kind: owner.kind, name: of, uid, controller: true }];
  return {
    kind,
    metadata: {
      name,
      namespace: 'default',
      uid: `${kind}-${name}`,
      ownerReferences,
      finalizers: [...(finalizers ?? [])],
      ...metadata,
    },
    spec,
    status,
  } as Stored;
}

const RUNNING = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const rolling = { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
const deployment = object('Deployment', 'web', { spec: { replicas: 2, strategy: rolling } });
const replicaSet = (name: string, replicas: number) =>
  object('ReplicaSet', name, { owner: deployment, spec: { replicas } });
const pod = (name: string, owner: Stored, parts: Parts = {}) =>
  object('Pod', name, { owner, status: RUNNING, ...parts });

class Seen {
  readonly judge: WorkloadJudge;
  now = 0;

  constructor(options: { staleMs?: number; everyAnswerArrives?: boolean } = {}) {
    this.judge = new WorkloadJudge({ now: () => this.now, staleMs: 0, everyAnswerArrives: true, ...options });
  }

  put(...objects: readonly Stored[]): this {
    for (const each of objects) {
      const value = Buffer.from(JSON.stringify(each));
      const event = { type: 'PUT', key: `/registry/${each.kind}/${each.metadata?.name ?? ''}`, current: { value } };
      this.judge.observe([event as unknown as StoreEvent]);
    }
    return this;
  }

  gone(each: Stored): this {
    const event = { type: 'DELETE', key: `/registry/${each.kind}/${each.metadata?.name ?? ''}` };
    this.judge.observe([event as unknown as StoreEvent]);
    return this;
  }

  collectorDeletes({ metadata }: Stored): this {
    const body = Buffer.from(JSON.stringify({ preconditions: { uid: metadata?.uid } }));
    this.judge.collectorAsks({ method: 'DELETE', target: '/x', headers: {}, body });
    return this;
  }

  get wrong(): string[] {
    return this.judge.wrong.map((line) => line.slice(0, 8));
  }

  get atRest(): string[] {
    return wrongAtRest(this.judge.objects).map((line) => line.slice(0, 8));
  }
}

describe('the judge of rollouts', () => {
  it('LIFE-307 sees more replicas than a Deployment allows', () => {
    const seen = new Seen().put(deployment, replicaSet('a', 2), replicaSet('b', 1));
    expect(seen.wrong).toEqual([]);
    expect(seen.put(replicaSet('b', 2)).wrong).toEqual(['LIFE-307']);
  });

  it('LIFE-307 allows what a controller may have seen before, for a while', () => {
    const wide = object('Deployment', 'web', { spec: { replicas: 5, strategy: rolling } });
    const seen = new Seen({ staleMs: 1000 }).put(wide, replicaSet('a', 2), deployment);
    seen.now = 900;
    expect(seen.put(replicaSet('b', 3)).wrong).toEqual([]);
    seen.now = 2000;
    expect(seen.put(replicaSet('b', 4)).wrong).toEqual(['LIFE-307']);
  });

  it('LIFE-307 sees fewer available pods than a Deployment needs, unless a user disturbs them', () => {
    const a = replicaSet('a', 2);
    const whole = () => new Seen().put(deployment, a, pod('p', a), pod('q', a));
    expect(whole().gone(pod('p', a)).wrong).toEqual([]);
    expect(whole().gone(pod('p', a)).gone(pod('q', a)).wrong).toEqual(['LIFE-307']);
    const disturbed = whole();
    disturbed.judge.rollouts.disturb();
    expect(disturbed.gone(pod('p', a)).gone(pod('q', a)).wrong).toEqual([]);
  });

  it('LIFE-261 sees more pods than a ReplicaSet asks for, where every answer arrives', () => {
    const a = replicaSet('a', 1);
    expect(new Seen().put(deployment, a, pod('p', a), pod('q', a)).wrong).toEqual(['LIFE-261']);
    const lossy = new Seen({ everyAnswerArrives: false }).put(deployment, a, pod('p', a), pod('q', a));
    expect(lossy.wrong).toEqual([]);
  });
});

describe('the judge of Jobs', () => {
  const job = object('Job', 'j');
  const tracked = { finalizers: ['batch.kubernetes.io/job-tracking'], status: { phase: 'Succeeded' } };

  it('LIFE-352 sees a finalizer that goes before the pod is counted', () => {
    const done = { status: { phase: 'Succeeded' } };
    expect(new Seen().put(job, pod('p', job, tracked), pod('p', job, done)).wrong).toEqual(['LIFE-352']);
    const counting = object('Job', 'j', { status: { uncountedTerminatedPods: { succeeded: ['Pod-p'] } } });
    expect(new Seen().put(job, pod('p', job, tracked), counting, pod('p', job, done)).wrong).toEqual([]);
  });

  it('LIFE-352 sees a pod that is counted twice', () => {
    const counted = object('Job', 'j', { status: { succeeded: 2 } });
    expect(new Seen().put(job, pod('p', job, tracked), counted).wrong).toEqual(['LIFE-352']);
  });
});

describe('the judge of the collector', () => {
  it('COL-002 sees the deletion of an object whose owner lives', () => {
    const a = replicaSet('a', 1);
    expect(new Seen().put(deployment, a).collectorDeletes(a).wrong).toEqual(['COL-002 ']);
    expect(new Seen().put(a).collectorDeletes(a).wrong).toEqual([]);
  });

  it('LIFE-564 sees the deletion of an object whose owner was orphaned', () => {
    const a = replicaSet('a', 1);
    const seen = new Seen().put(deployment, a);
    seen.judge.deleted(deployment, 'Orphan');
    expect(seen.gone(deployment).collectorDeletes(a).wrong).toEqual(['LIFE-564']);
  });

  it('LIFE-564 allows it when a later deletion of the owner takes its dependents', () => {
    const a = replicaSet('a', 1);
    const seen = new Seen().put(deployment, a);
    seen.judge.deleted(deployment, 'Orphan');
    seen.judge.deleted(deployment, 'Background');
    expect(seen.gone(deployment).collectorDeletes(a).wrong).toEqual([]);
  });
});

describe('the judge of rest', () => {
  const a = (status: object = { replicas: 1 }) =>
    object('ReplicaSet', 'a', { spec: { replicas: 1, selector: { matchLabels: { app: 'a' } } }, status });

  it('LIFE-261 sees a number of pods that is not asked for', () => {
    const seen = new Seen().put(a({ replicas: 0 }));
    expect([...unsatisfied(seen.judge.objects).values()]).toHaveLength(1);
    expect(seen.atRest).toEqual(['LIFE-261']);
    expect(seen.put(a(), pod('p', a())).atRest).toEqual([]);
  });

  it('LIFE-220 sees an orphan that a living controller matches', () => {
    const orphan = object('Pod', 'o', { metadata: { labels: { app: 'a' } }, status: RUNNING });
    expect(new Seen().put(a(), pod('p', a()), orphan).atRest).toEqual(['LIFE-220']);
  });

  it('COL-001 sees what is left of an owner that is gone, and a deletion that does not end', () => {
    expect(new Seen().put(pod('p', a())).atRest).toEqual(['COL-001 ']);
    const leaving = object('Pod', 'p', { metadata: { deletionTimestamp: 'x' }, finalizers: ['hold'] });
    expect(wrongAtRest(new Seen().put(leaving).judge.objects)).toEqual([
      'Pod default/p (Pod-p) is being deleted and stays, with the finalizers hold',
    ]);
  });

  it('LIFE-354 sees the finalizer of a Job that will count no more', () => {
    const done = object('Job', 'j', { status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    const held = pod('p', done, { finalizers: ['batch.kubernetes.io/job-tracking'], status: { phase: 'Succeeded' } });
    expect(new Seen().put(done, held).atRest).toEqual(['LIFE-354']);
  });

  it('LIFE-302 sees a Deployment without a ReplicaSet of its template', () => {
    expect(new Seen().put(deployment).atRest).toEqual(['LIFE-302']);
  });
});
