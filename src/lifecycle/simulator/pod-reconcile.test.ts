import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { EXIT_CODE, FAIL_AFTER, READY_AFTER, STOP_AFTER, SUCCEED_AFTER } from './pod-plan.ts';
import { decideSimulation, type SimulationDecision, type SimulationFacts } from './pod-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const facts = (over: Partial<SimulationFacts> = {}): SimulationFacts => ({
  mode: 'run',
  now: START,
  nodeRuns: true,
  place: () => ({ node: 'kubegc-0' }),
  ...over,
});

function pod(annotations: Record<string, string> = {}, over: { spec?: object; metadata?: object } = {}): Pod {
  return {
    metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1, annotations, ...over.metadata },
    spec: { nodeName: 'kubegc-0', containers: [{ name: 'c', image: 'nginx' }], restartPolicy: 'Never', ...over.spec },
    status: { phase: 'Pending' },
  };
}

/** The pod as the status of the decision leaves it. */
function after(subject: Pod, decision: SimulationDecision): Pod {
  if (decision.verdict !== 'status') throw new Error(`no status but ${decision.verdict}`);
  return { ...subject, status: decision.status };
}

const conditionOf = (subject: Pod, type: string) =>
  subject.status?.conditions?.find((condition) => condition.type === type);
const running = (annotations: Record<string, string> = {}, over: { spec?: object; metadata?: object } = {}): Pod => {
  const subject = pod(annotations, over);
  return after(subject, decideSimulation(subject, facts()));
};

describe('LIFE-531 the simulated life of a pod', () => {
  it('gives a pod without a node the one that fits', () => {
    const decision = decideSimulation(pod({}, { spec: { nodeName: '' } }), facts());
    expect(decision).toEqual({ verdict: 'bind', reason: 'fits', node: 'kubegc-0' });
  });

  it('says once that no node fits', () => {
    const nowhere = facts({ place: () => ({ unschedulable: '0/1 nodes are available: no node fits the pod.' }) });
    const subject = pod({}, { spec: { nodeName: '' } });
    const marked = after(subject, decideSimulation(subject, nowhere));
    expect(conditionOf(marked, 'PodScheduled')).toMatchObject({ status: 'False', reason: 'Unschedulable' });
    expect(decideSimulation(marked, nowhere).verdict).toBe('nothing');
  });

  it.each([
    ['has a scheduling gate', { spec: { nodeName: '', schedulingGates: [{ name: 'g' }] } }],
    ['is of another scheduler', { spec: { nodeName: '', schedulerName: 'mine' } }],
    [
      'is on its way out without a node',
      { spec: { nodeName: '' }, metadata: { deletionTimestamp: formatTime(START) } },
    ],
  ])('leaves a pod alone that %s', (_, over) => {
    expect(decideSimulation(pod({}, over), facts()).verdict).toBe('nothing');
  });

  it('does no more than schedule in the mode of that name, and nothing on a node that does not run', () => {
    expect(decideSimulation(pod(), facts({ mode: 'schedule' })).verdict).toBe('nothing');
    expect(decideSimulation(pod(), facts({ nodeRuns: false })).verdict).toBe('nothing');
  });

  it('makes a pod Running and Ready, and then leaves it so', () => {
    const subject = running();
    expect(subject.status).toMatchObject({ phase: 'Running', startTime: formatTime(START) });
    for (const type of ['Ready', 'ContainersReady', 'Initialized', 'PodScheduled']) {
      expect(conditionOf(subject, type)).toMatchObject({ status: 'True', observedGeneration: 1 });
    }
    expect(decideSimulation(subject, facts({ now: START + 1e9 }))).toEqual({ verdict: 'nothing', reason: 'running' });
  });

  it('makes a pod ready later, or never', () => {
    const later = running({ [READY_AFTER]: '5s' });
    expect(conditionOf(later, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [c]',
    });
    expect(decideSimulation(later, facts())).toEqual({ verdict: 'wait', reason: 'runs', untilMs: START + 5000 });
    const now = START + 5000;
    expect(conditionOf(after(later, decideSimulation(later, facts({ now }))), 'Ready')?.status).toBe('True');
    const never = running({ [READY_AFTER]: 'never' });
    expect(decideSimulation(never, facts({ now: START + 1e9 })).verdict).toBe('nothing');
  });

  it('waits for readiness gates of others', () => {
    const subject = running({}, { spec: { readinessGates: [{ conditionType: 'example.com/ready' }] } });
    expect(conditionOf(subject, 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
    expect(conditionOf(subject, 'ContainersReady')?.status).toBe('True');
    const opened = {
      ...subject,
      status: {
        ...subject.status,
        conditions: [...(subject.status?.conditions ?? []), { type: 'example.com/ready', status: 'True' as const }],
      },
    };
    const ready = after(opened, decideSimulation(opened, facts()));
    expect(conditionOf(ready, 'Ready')?.status).toBe('True');
    expect(conditionOf(ready, 'example.com/ready')?.status).toBe('True');
  });

  it.each([
    [{ [SUCCEED_AFTER]: '3s' }, 'Succeeded', 0],
    [{ [SUCCEED_AFTER]: '3' }, 'Succeeded', 0],
    [{ [FAIL_AFTER]: '3s' }, 'Failed', 1],
    [{ [FAIL_AFTER]: '3s', [EXIT_CODE]: '42' }, 'Failed', 42],
  ])('ends a pod with %j as %s', (annotations, phase, exitCode) => {
    const subject = running(annotations);
    expect(decideSimulation(subject, facts())).toMatchObject({ verdict: 'wait', untilMs: START + 3000 });
    const ended = after(subject, decideSimulation(subject, facts({ now: START + 3000 })));
    expect(ended.status?.phase).toBe(phase);
    expect(ended.status?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(exitCode);
    expect(decideSimulation(ended, facts({ now: START + 9000 })).verdict).toBe('nothing');
  });

  it('lets the pods of a Job succeed after a second', () => {
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x', controller: true }];
    const subject = running({}, { metadata: { ownerReferences } });
    expect(after(subject, decideSimulation(subject, facts({ now: START + 1000 }))).status?.phase).toBe('Succeeded');
  });

  it('restarts what fails and may start again, each time later', () => {
    const subject = running({ [FAIL_AFTER]: '1s' }, { spec: { restartPolicy: 'OnFailure' } });
    const once = after(subject, decideSimulation(subject, facts({ now: START + 1000 })));
    expect(once.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 1 } },
    });
    expect(decideSimulation(once, facts({ now: START + 2000 }))).toMatchObject({
      verdict: 'wait',
      untilMs: START + 12_000,
    });
  });

  it('ends a pod that was active for too long', () => {
    const subject = running({}, { spec: { activeDeadlineSeconds: 10 } });
    const ended = after(subject, decideSimulation(subject, facts({ now: START + 10_000 })));
    expect(ended.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
  });

  it('on deletion writes the last status, then deletes', () => {
    const metadata = { deletionTimestamp: formatTime(START + 30_000), deletionGracePeriodSeconds: 30 };
    const subject = { ...running({}, { spec: { restartPolicy: 'Always' } }) };
    const leaving = { ...subject, metadata: { ...subject.metadata, ...metadata } };
    const stopped = after(leaving, decideSimulation(leaving, facts()));
    expect(stopped.status?.phase).toBe('Succeeded');
    expect(decideSimulation(stopped, facts())).toEqual({ verdict: 'delete', reason: 'stopped' });
    const held = { ...stopped, metadata: { ...stopped.metadata, deletionGracePeriodSeconds: 0 } };
    expect(decideSimulation(held, facts())).toEqual({ verdict: 'nothing', reason: 'letGo' });
  });

  it('takes the given time to stop, at most the grace period', () => {
    const leaving = (stop: string) => {
      const subject = running({ [STOP_AFTER]: stop });
      const end = { deletionTimestamp: formatTime(START + 30_000), deletionGracePeriodSeconds: 30 };
      return decideSimulation({ ...subject, metadata: { ...subject.metadata, ...end } }, facts());
    };
    expect(leaving('10s')).toEqual({ verdict: 'wait', reason: 'stops', untilMs: START + 10_000 });
    expect(leaving('10m')).toEqual({ verdict: 'wait', reason: 'stops', untilMs: START + 30_000 });
  });
});
