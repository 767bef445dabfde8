import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Node, Pod } from '../pods/pod-object.ts';
import { decidePass, isTerminated, type PodGcFacts, statusPatchOf } from './podgc-reconcile.ts';

const START = Date.UTC(2026, 0, 1);
const pod = (
  name: string,
  over: { phase?: string; reason?: string; age?: number; node?: string; terminating?: boolean } = {},
): Pod => ({
  metadata: {
    name,
    uid: name,
    generation: 3,
    creationTimestamp: formatTime(START - (over.age ?? 0) * 1000),
    ...(over.terminating ? { deletionTimestamp: formatTime(START) } : {}),
  },
  spec: over.node === undefined ? {} : { nodeName: over.node },
  status: { phase: over.phase ?? 'Running', ...(over.reason === undefined ? {} : { reason: over.reason }) },
});
const node = (ready: string | undefined, taint?: string): Node => ({
  spec: taint === undefined ? {} : { taints: [{ key: taint, effect: 'NoExecute' }] },
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready as 'True' }] },
});
const pass = (pods: Pod[], over: Partial<PodGcFacts> = {}) =>
  decidePass({ pods, nodes: () => node('True'), threshold: 0, gone: new Set(), ...over });
const names = (pods: Pod[], over: Partial<PodGcFacts> = {}) =>
  pass(pods, over).deletions.map(({ pod: { metadata }, reason }) => `${metadata?.name ?? ''} ${reason}`);

describe('pod garbage collection, one pass', () => {
  it.each([
    ['Pending', false],
    ['Running', false],
    ['Unknown', false],
    ['Succeeded', true],
    ['Failed', true],
    ['', true],
  ])('LIFE-050 takes phase "%s" for terminated: %s', (phase, want) => {
    expect(isTerminated(pod('p', { phase }))).toBe(want);
  });

  it('LIFE-051 LIFE-052 deletes those beyond the threshold: evicted, then oldest, then by name', () => {
    const pods = [
      pod('young', { phase: 'Succeeded', age: 1 }),
      pod('b', { phase: 'Failed', age: 5 }),
      pod('a', { phase: 'Failed', age: 5 }),
      pod('evicted', { phase: 'Failed', reason: 'Evicted', age: 0 }),
      pod('running', { age: 99 }),
    ];
    expect(names(pods, { threshold: 1 })).toEqual(['evicted terminated', 'a terminated', 'b terminated']);
    expect(names(pods, { threshold: 4 })).toEqual([]);
  });

  it.each([0, -1])('LIFE-053 deletes no terminated pod with a threshold of %d, and does the rest', (threshold) => {
    const pods = [pod('done', { phase: 'Failed' }), pod('u', { terminating: true })];
    expect(names(pods, { threshold })).toEqual(['u unscheduled']);
  });

  const limits = { perNamespace: 0, ttlMs: 0, now: START, isOfUnfinishedJob: () => false };
  const inNamespace = (namespace: string, each: Pod): Pod => ({ ...each, metadata: { ...each.metadata, namespace } });

  it('LIFE-066 deletes those beyond the limit of each namespace, in the same order as those beyond the threshold', () => {
    const pods = [
      inNamespace('a', pod('young', { phase: 'Failed', age: 1 })),
      inNamespace('a', pod('old', { phase: 'Failed', age: 9 })),
      inNamespace('a', pod('evicted', { phase: 'Failed', reason: 'Evicted' })),
      inNamespace('a', pod('running', { age: 99 })),
      inNamespace('b', pod('other', { phase: 'Succeeded', age: 99 })),
    ];
    expect(names(pods, { limits: { ...limits, perNamespace: 1 } })).toEqual([
      'evicted terminated-in-namespace',
      'old terminated-in-namespace',
    ]);
    expect(names(pods, { threshold: 3, limits: { ...limits, perNamespace: 2 } })).toEqual(['evicted terminated']);
    expect(names(pods, { limits })).toEqual([]);
  });

  it('LIFE-066 deletes those whose TTL is over, except those of unfinished Jobs, and knows when the next one is', () => {
    const pods = [
      pod('b', { phase: 'Succeeded', age: 60 }),
      pod('evicted', { phase: 'Failed', reason: 'Evicted', age: 60 }),
      pod('of-job', { phase: 'Failed', age: 99 }),
      pod('next', { phase: 'Failed', age: 40 }),
      pod('last', { phase: 'Failed', age: 20 }),
      pod('running', { age: 99 }),
    ];
    const isOfUnfinishedJob = ({ metadata }: Pod) => metadata?.name === 'of-job';
    const over = { limits: { ...limits, ttlMs: 60_000, isOfUnfinishedJob } };
    expect(names(pods, over)).toEqual(['evicted terminated-long-ago', 'b terminated-long-ago']);
    expect(pass(pods, over).nextEndMs).toBe(START + 20_000);
    expect(pass(pods, { limits }).nextEndMs).toBeUndefined();
  });

  it('LIFE-055 counts and deletes what is terminating and terminal already', () => {
    const pods = [
      pod('a', { phase: 'Failed', terminating: true, node: 'n' }),
      pod('b', { phase: 'Failed', node: 'n' }),
    ];
    expect(names(pods, { threshold: 1 })).toEqual(['a terminated']);
  });

  it.each([
    ['not ready and tainted', node('False', 'node.kubernetes.io/out-of-service'), true],
    ['without a condition and tainted', node(undefined, 'node.kubernetes.io/out-of-service'), true],
    ['ready and tainted', node('True', 'node.kubernetes.io/out-of-service'), false],
    ['not ready', node('False'), false],
  ])('LIFE-056 force-deletes terminating pods of a node that is %s: %s', (_, facts, want) => {
    const pods = [pod('leaving', { node: 'n', terminating: true }), pod('staying', { node: 'n' })];
    expect(names(pods, { nodes: () => facts })).toEqual(want ? ['leaving out-of-service'] : []);
  });

  it('LIFE-057 LIFE-058 names missing nodes, and deletes their pods only once they are gone', () => {
    const pods = [pod('a', { node: 'n' }), pod('b', { node: 'n', phase: 'Succeeded', terminating: true }), pod('c')];
    const facts = { nodes: () => undefined };
    expect(pass(pods, facts)).toEqual({ deletions: [], missingNodes: ['n'] });
    expect(names(pods, { ...facts, gone: new Set(['n']) })).toEqual(['a orphaned', 'b orphaned']);
  });

  it('LIFE-059 LIFE-065 force-deletes what is terminating without a node, and nothing else without nodes', () => {
    expect(names([pod('a', { terminating: true }), pod('b')], { nodes: () => undefined })).toEqual(['a unscheduled']);
  });

  it('LIFE-060 LIFE-061 LIFE-063 patches only the status, with a condition where the node is gone', () => {
    const at = formatTime(START);
    expect(statusPatchOf({ pod: pod('a'), reason: 'unscheduled' }, at)).toEqual({
      metadata: { uid: 'a' },
      status: { phase: 'Failed' },
    });
    expect(statusPatchOf({ pod: pod('a'), reason: 'orphaned' }, at)).toEqual({
      metadata: { uid: 'a' },
      status: {
        phase: 'Failed',
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'DeletionByPodGC',
            message: 'PodGC: node no longer exists',
            lastTransitionTime: at,
            observedGeneration: 3,
          },
        ],
      },
    });
    expect(statusPatchOf({ pod: pod('a', { phase: 'Succeeded' }), reason: 'orphaned' }, at)).toBeUndefined();
  });
});
