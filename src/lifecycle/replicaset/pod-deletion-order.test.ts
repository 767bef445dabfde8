import { expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { podsToDelete } from './pod-deletion-order.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

interface Shape {
  readonly node?: string;
  readonly phase?: string;
  readonly readySince?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly created?: number;
}

const pod = (
  name: string,
  { node = 'a', phase = 'Running', readySince, cost, restarts = 0, created = NOW - HOUR }: Shape,
): Pod => ({
  metadata: {
    name,
    uid: name,
    creationTimestamp: formatTime(created),
    ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
  },
  spec: { nodeName: node },
  status: {
    phase,
    ...(readySince === undefined
      ? {}
      : { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(readySince) }] }),
    containerStatuses: [{ name: 'c', restartCount: restarts } as never],
  },
});
const READY = { readySince: NOW - HOUR };

it.each<[string, Shape, Shape]>([
  ['is on no node', { node: '' }, READY],
  ['is pending', { phase: 'Pending' }, { phase: 'Running' }],
  ['is in an unknown phase', { phase: 'Unknown' }, { phase: 'Running' }],
  ['is not ready', {}, READY],
  ['costs less', { ...READY, cost: '-5' }, READY],
  ['is ready for less long', { readySince: NOW - 1000 }, READY],
  ['was restarted more often', { ...READY, restarts: 2 }, { ...READY, restarts: 1 }],
  ['is younger', { ...READY, created: NOW - 1000 }, READY],
])('LIFE-265 the pod goes first that %s', (_, first, second) => {
  for (const pods of [
    [pod('first', first), pod('second', second)],
    [pod('second', second), pod('first', first)],
  ]) {
    const going = podsToDelete(pods, { count: 1, related: [], now: NOW });
    expect(going.map(({ metadata }) => metadata?.name)).toEqual(['first']);
  }
});

it('LIFE-265 a cost that is no number of 32 bits counts as none', () => {
  const pods = [
    pod('a', { ...READY, cost: '-3000000000' }),
    pod('b', { ...READY, cost: '-1' }),
    pod('c', { ...READY, cost: '01' }),
  ];
  expect(podsToDelete(pods, { count: 1, related: [], now: NOW })[0]?.metadata?.name).toBe('b');
});

it('LIFE-265 the pod goes first whose node has more pods of the same controller', () => {
  const pods = [pod('alone', { ...READY, node: 'a' }), pod('crowded', { ...READY, node: 'b' })];
  const related = [...pods, pod('other', { ...READY, node: 'b' })];
  expect(podsToDelete(pods, { count: 1, related, now: NOW })[0]?.metadata?.name).toBe('crowded');
});

it('LIFE-265 all go when as many are too much', () => {
  const pods = [pod('a', READY), pod('b', {})];
  expect(podsToDelete(pods, { count: 2, related: [], now: NOW })).toEqual(pods);
});
