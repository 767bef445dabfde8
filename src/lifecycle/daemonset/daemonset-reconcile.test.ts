import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Node, Pod } from '../pods/pod-object.ts';
import { daemonPod, type DaemonSet } from './daemon-set.ts';
import { type DaemonFacts, daemonSetStatus, planDaemons, planRollingUpdate } from './daemonset-reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const set = (rollingUpdate: object = {}, spec: object = {}): DaemonSet => ({
  metadata: { name: 'agent', namespace: 'n', uid: 'd', generation: 4 },
  spec: {
    template: { metadata: { labels: { app: 'agent' } }, spec: {} },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    ...spec,
  },
});
const node = (name: string, taints: Node['spec'] & object = {}): Node => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  spec: taints,
  status: { conditions: [{ type: 'Ready', status: 'True' }] } as never,
});
interface Shape {
  readonly phase?: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly of?: string;
  readonly born?: number;
  readonly scheduled?: boolean;
}
const pod = (name: string, on: string, shape: Shape = {}): Pod => {
  const { phase = 'Running', ready = true, terminating = false, of = 'new', born = 0, scheduled = true } = shape;
  const { metadata, spec } = daemonPod(set(), on, of);
  return {
    metadata: {
      ...metadata,
      name,
      uid: name,
      creationTimestamp: formatTime(NOW + born * 1000),
      ...(terminating ? { deletionTimestamp: formatTime(NOW) } : {}),
    },
    spec: { ...spec, ...(scheduled ? { nodeName: on } : {}) },
    status: {
      phase,
      conditions: ready ? [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(NOW) }] : [],
    },
  };
};
const facts = (nodes: readonly Node[], pods: readonly Pod[], over: Partial<DaemonFacts> = {}): DaemonFacts => ({
  set: set(),
  nodes,
  pods,
  hash: 'new',
  inBackOff: () => false,
  now: NOW,
  ...over,
});
const going = (plan: ReturnType<typeof planDaemons>) =>
  plan.delete.map(({ pod: { metadata }, reason }) => `${metadata?.name ?? ''}: ${reason}`);

describe('the pods of a DaemonSet', () => {
  it('LIFE-641 are one on every node that fits', () => {
    const nodes = [node('a'), node('b'), node('c', { taints: [{ key: 'k', effect: 'NoSchedule' }] } as never)];
    expect(planDaemons(facts(nodes, [pod('p', 'a')]))).toEqual({ create: ['b'], delete: [] });
  });

  it('LIFE-641 go from a node that repels them, and stay on one that only takes no more', () => {
    const repelling = node('a', { taints: [{ key: 'k', effect: 'NoExecute' }] } as never);
    expect(going(planDaemons(facts([repelling], [pod('p', 'a')])))).toEqual(['p: does not fit']);
    const closed = node('a', { taints: [{ key: 'k', effect: 'NoSchedule' }] } as never);
    expect(planDaemons(facts([closed], [pod('p', 'a')]))).toEqual({ create: [], delete: [] });
  });

  it('LIFE-641 are replaced when they end, a failed one when the back-off allows', () => {
    const failed = [pod('p', 'a', { phase: 'Failed' })];
    expect(going(planDaemons(facts([node('a')], failed)))).toEqual(['p: failed']);
    expect(going(planDaemons(facts([node('a')], failed, { inBackOff: () => true })))).toEqual([]);
    expect(going(planDaemons(facts([node('a')], [pod('p', 'a', { phase: 'Succeeded' })])))).toEqual(['p: succeeded']);
  });

  it('LIFE-641 of several on a node the oldest stays', () => {
    const pods = [pod('young', 'a', { born: 9 }), pod('old', 'a', { born: 1 })];
    expect(going(planDaemons(facts([node('a')], pods)))).toEqual(['young: surplus']);
  });

  it('LIFE-641 on their way out are replaced only when they are gone', () => {
    expect(planDaemons(facts([node('a')], [pod('p', 'a', { terminating: true })]))).toEqual({ create: [], delete: [] });
  });

  it('LIFE-642 that wait for a node which is gone are deleted', () => {
    const waiting = pod('p', 'gone', { scheduled: false });
    expect(going(planDaemons(facts([node('a')], [waiting, pod('q', 'a')])))).toEqual(['p: node is gone']);
    expect(going(planDaemons(facts([node('a')], [pod('p', 'gone'), pod('q', 'a')])))).toEqual([]);
  });

  it('LIFE-643 are at most 250 in one sync', () => {
    const nodes = Array.from({ length: 300 }, (_, index) => node(`n${index}`));
    expect(planDaemons(facts(nodes, [])).create.length).toBe(250);
  });
});

describe('a rolling update of a DaemonSet', () => {
  const nodes = [node('a'), node('b'), node('c')];
  const old = { of: 'old' };

  it('LIFE-641 takes one available pod at a time, and those that are not available at once', () => {
    const all = nodes.map(({ metadata }) => pod(`p-${metadata?.name ?? ''}`, metadata?.name ?? '', old));
    expect(going(planRollingUpdate(facts(nodes, all)))).toEqual(['p-a: other revision']);
    const broken = [all[0]!, pod('p-b', 'b', { ...old, ready: false }), all[2]!];
    expect(going(planRollingUpdate(facts(nodes, broken)))).toEqual(['p-b: other revision', 'p-a: other revision']);
  });

  it('LIFE-641 waits while a new pod is not available', () => {
    const pods = [pod('p-a', 'a', { ready: false }), pod('p-b', 'b', old), pod('p-c', 'c', old)];
    expect(planRollingUpdate(facts(nodes, pods))).toEqual({ create: [], delete: [] });
  });

  it('LIFE-641 makes new pods beside the old ones where it may surge', () => {
    const surging = { set: set({ maxSurge: 1, maxUnavailable: 0 }) };
    const pods = nodes.map(({ metadata }) => pod(`p-${metadata?.name ?? ''}`, metadata?.name ?? '', old));
    expect(planRollingUpdate(facts(nodes, pods, surging)).create).toEqual(['a']);
    const beside = [...pods, pod('new-a', 'a')];
    expect(planRollingUpdate(facts(nodes, beside, surging))).toMatchObject({
      create: ['b'],
      delete: [{ pod: { metadata: { name: 'p-a' } } }],
    });
  });
});

it('LIFE-641 the status counts nodes, not pods', () => {
  const nodes = [node('a'), node('b'), node('c', { taints: [{ key: 'k', effect: 'NoSchedule' }] } as never)];
  const pods = [pod('p', 'a'), pod('q', 'a', { born: 5 }), pod('r', 'c')];
  expect(daemonSetStatus(facts(nodes, pods))).toMatchObject({
    desiredNumberScheduled: 2,
    currentNumberScheduled: 1,
    numberMisscheduled: 1,
    numberReady: 1,
    numberAvailable: 1,
    numberUnavailable: 1,
    updatedNumberScheduled: 1,
    observedGeneration: 4,
  });
});
