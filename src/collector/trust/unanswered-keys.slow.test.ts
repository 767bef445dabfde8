import { describe, expect, it } from 'vitest';
import { workKey, type WorkKey } from '../queues/work-key.ts';
import { UnansweredKeys } from './unanswered-keys.ts';

const keyOf = (i: number): WorkKey => workKey(`u${i}`, 'observed');

describe('UnansweredKeys', () => {
  it('COL-002 knows a key until it is settled', () => {
    const keys = new UnansweredKeys({ numRequeues: () => 1, inWork: () => [] });
    keys.note(keyOf(1), 3);
    keys.note(keyOf(1), 5);
    expect([keys.of(keyOf(1)), keys.of(workKey('u1', 'virtual'))]).toEqual([5, undefined]);
    keys.forget(keyOf(1));
    expect([keys.of(keyOf(1)), keys.size]).toEqual([undefined, 0]);
  });

  it('law 5: keeps no more than twice those that the queue knows to have failed, and none that is in work is lost', () => {
    const failed = new Set<WorkKey>();
    let inWork: WorkKey[] = [];
    const keys = new UnansweredKeys({ numRequeues: (key) => Number(failed.has(key)), inWork: () => inWork });
    for (let i = 0; i < 100; i++) failed.add(keyOf(i));
    for (let i = 0; i < 50_000; i++) {
      inWork = [keyOf(i)];
      keys.note(keyOf(i), i);
      expect(keys.of(keyOf(i))).toBe(i);
      expect(keys.size).toBeLessThanOrEqual(1000);
    }
    for (const key of failed) expect(keys.of(key)).toBeDefined();
  });
});
