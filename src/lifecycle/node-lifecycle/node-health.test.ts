import { describe, expect, it } from 'vitest';
import type { Node, Taint } from '../pods/pod-object.ts';
import { decideTaints, nextHeartbeat, NOT_READY, silentConditions, UNREACHABLE, zoneRate } from './node-health.ts';

const AT = '2026-01-01T00:00:00Z';
const times = { gracePeriodMs: 50_000, startupGracePeriodMs: 60_000 };
const node = (ready?: string, taints: Taint[] = []): Node => ({
  metadata: { name: 'n', creationTimestamp: AT },
  spec: { taints },
  status: {
    conditions:
      ready === undefined
        ? []
        : ([
            { type: 'Ready', status: ready },
            { type: 'Mine', status: 'True' },
          ] as never),
  },
});
const silentFor = (object: Node, ms: number) =>
  silentConditions(object, { heartbeat: { seen: 'x', atMs: 0 }, now: ms, at: AT, times })?.map(
    ({ type, status, reason }) => `${type} ${status} ${reason ?? ''}`.trim(),
  );
const ours = (key: string): Taint => ({ key, effect: 'NoExecute' });

describe('node health', () => {
  it('LIFE-180 counts silence from the last change of the heartbeat, on our own clock', () => {
    const first = nextHeartbeat(undefined, 'a', 1000);
    expect(nextHeartbeat(first, 'a', 9000)).toBe(first);
    expect(nextHeartbeat(first, 'b', 9000)).toEqual({ seen: 'b', atMs: 9000 });
  });

  it('LIFE-180 marks a node that is silent for more than 50 s, and leaves the conditions of others', () => {
    expect(silentFor(node('True'), 50_000)).toBeUndefined();
    expect(silentFor(node('True'), 50_001)).toEqual([
      'Mine True',
      'Ready Unknown NodeStatusUnknown',
      'MemoryPressure Unknown NodeStatusNeverUpdated',
      'DiskPressure Unknown NodeStatusNeverUpdated',
      'PIDPressure Unknown NodeStatusNeverUpdated',
    ]);
  });

  it('LIFE-180 gives a node that never reported 60 s', () => {
    expect(silentFor(node(), 60_000)).toBeUndefined();
    expect(silentFor(node(), 60_001)?.[0]).toBe('Ready Unknown NodeStatusNeverUpdated');
  });

  it('LIFE-180 writes it once', () => {
    const heartbeat = { seen: 'x', atMs: 0 };
    const conditions = silentConditions(node('True'), { heartbeat, now: 60_000, at: AT, times }) ?? [];
    const marked: Node = { ...node(), status: { conditions } };
    expect(silentConditions(marked, { heartbeat, now: 90_000, at: AT, times })).toBeUndefined();
  });
});

describe('the taint of a node', () => {
  it('LIFE-181 is queued when a node is first not ready, swapped and removed at once', () => {
    expect(decideTaints(node('True'), AT).verdict).toBe('nothing');
    expect(decideTaints(node('False'), AT)).toMatchObject({ verdict: 'queue', taints: [{ key: NOT_READY }] });
    expect(decideTaints(node('Unknown'), AT)).toMatchObject({ verdict: 'queue', taints: [{ key: UNREACHABLE }] });
    expect(decideTaints(node('Unknown', [ours(NOT_READY)]), AT)).toMatchObject({
      verdict: 'set',
      reason: 'swap',
      taints: [{ key: UNREACHABLE, timeAdded: AT }],
    });
    expect(decideTaints(node('False', [ours(NOT_READY)]), AT).verdict).toBe('nothing');
    const kept = { key: 'mine', effect: 'NoExecute' };
    expect(decideTaints(node('True', [kept, ours(UNREACHABLE)]), AT)).toMatchObject({ verdict: 'set', taints: [kept] });
  });

  it.each([
    [0, 10, 10, 0.1],
    [2, 2, 100, 0.1],
    [5, 10, 100, 0.1],
    [6, 10, 100, 0.01],
    [6, 10, 50, 0],
  ])(
    'LIFE-181 with %i of %i nodes of a zone not ready, in a cluster of %i: %d a second',
    (notReady, nodes, clusterNodes, rate) => {
      expect(zoneRate({ notReady, nodes, clusterNodes })).toBe(rate);
    },
  );
});
