import { describe, expect, it } from 'vitest';
import type { Pod, Taint, Toleration } from '../pods/pod-object.ts';
import { decideEviction } from './eviction-reconcile.ts';

const taint = (key: string, effect = 'NoExecute'): Taint => ({ key, effect });
const decide = (tolerations: Toleration[], taints: Taint[], { since = 0, now = 0, metadata = {} } = {}) =>
  decideEviction({ metadata, spec: { tolerations } } as Pod, { taints, since, now });

describe('LIFE-182 a pod on a tainted node', () => {
  it('leaves at once when it does not tolerate every NoExecute taint', () => {
    expect(decide([{ key: 'a', operator: 'Exists' }], [taint('a'), taint('b')])).toEqual({
      verdict: 'evict',
      reason: 'notTolerated',
    });
  });

  it('stays with a toleration without a time, and for other effects', () => {
    expect(decide([{ operator: 'Exists' }], [taint('a')]).verdict).toBe('stay');
    expect(decide([], [taint('a', 'NoSchedule')]).verdict).toBe('stay');
  });

  it('leaves after the shortest time of the taints; of one taint the first toleration counts', () => {
    const tolerations = [
      { key: 'a', operator: 'Exists', tolerationSeconds: 300 },
      { key: 'a', operator: 'Exists', tolerationSeconds: 5 },
      { key: 'b', operator: 'Exists', tolerationSeconds: 60 },
    ];
    expect(decide(tolerations, [taint('a')])).toMatchObject({ verdict: 'wait', untilMs: 300_000 });
    expect(decide(tolerations, [taint('a'), taint('b')])).toMatchObject({ verdict: 'wait', untilMs: 60_000 });
    expect(decide(tolerations, [taint('b')], { now: 60_000 })).toEqual({ verdict: 'evict', reason: 'timeOver' });
  });

  it('leaves at once with a time of 0 or less, and is left alone on its way out', () => {
    expect(decide([{ operator: 'Exists', tolerationSeconds: -1 }], [taint('a')]).verdict).toBe('evict');
    const least = -9223372036854775808n;
    expect(decide([{ operator: 'Exists', tolerationSeconds: least }], [taint('a')]).verdict).toBe('evict');
    expect(decide([], [taint('a')], { metadata: { deletionTimestamp: 'x' } })).toEqual({
      verdict: 'stay',
      reason: 'terminating',
    });
  });
});
