import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import type { Pod } from '../pods/pod-object.ts';
import { afterEnds, NO_FAILURES, remainingBackOff } from './pod-back-off.ts';

const START = Date.UTC(2026, 0, 1);
const ended = (seconds: number): Pod => ({
  status: {
    containerStatuses: [
      {
        name: 'c',
        ready: false,
        restartCount: 0,
        image: '',
        imageID: '',
        state: { terminated: { exitCode: 1, finishedAt: formatTime(START + seconds * 1000) } },
      },
    ],
  },
});

describe('LIFE-003 the pause before a Job makes a failed pod anew', () => {
  it('is 10 s, 20 s, 40 s, at most 10 min', () => {
    const pauses = [1, 2, 3, 7, 50].map((failures) => remainingBackOff({ failures, lastFailureAt: START }, START));
    expect(pauses).toEqual([10_000, 20_000, 40_000, 600_000, 600_000]);
    expect(remainingBackOff({ failures: 1, lastFailureAt: START }, START + 4000)).toBe(6000);
    expect(remainingBackOff(NO_FAILURES, START)).toBe(0);
  });

  it('never grows when the clock was set back', () => {
    expect(remainingBackOff({ failures: 1, lastFailureAt: START + 1e9 }, START)).toBe(10_000);
  });

  it('begins anew with a success', () => {
    const two = afterEnds(NO_FAILURES, { succeeded: [], failed: [ended(1), ended(2)] }, START);
    expect(two).toEqual({ failures: 2, lastFailureAt: START + 2000 });
    expect(afterEnds(two, { succeeded: [ended(3)], failed: [] }, START)).toEqual(NO_FAILURES);
    expect(afterEnds(two, { succeeded: [ended(3)], failed: [ended(4)] }, START)).toEqual({
      failures: 1,
      lastFailureAt: START + 4000,
    });
    expect(afterEnds(two, { succeeded: [], failed: [] }, START)).toEqual(two);
  });
});
