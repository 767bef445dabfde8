import { describe, expect, it } from 'vitest';
import { HeldAbsences } from './held-absences.ts';

const pods = { apiVersion: 'v1', kind: 'Pod', resource: 'pods' };
const limit = { objects: 3, share: 0.5 };

function lacks(holds: HeldAbsences, missing: number): ReturnType<HeldAbsences['listed']> {
  if (holds.limitOf(pods) !== undefined && missing >= limit.objects) {
    holds.begin({ resource: pods, missing, known: missing });
  }
  return holds.listed(pods);
}

describe('COL-116 when too much vanishes from one list', () => {
  it('nothing is believed until a second list confirms it', () => {
    const holds = new HeldAbsences(limit);
    expect(lacks(holds, 5)).toBeUndefined();
    expect([holds.holds('v1', 'Pod'), holds.holds('v1', 'Secret'), holds.size]).toEqual([true, false, 1]);
    expect(lacks(holds, 5)).toBeUndefined();
    holds.ask(pods);
    expect(lacks(holds, 5)).toBe('confirmed');
    expect([holds.holds('v1', 'Pod'), holds.size]).toEqual([false, 0]);
  });

  it('a list that shows the objects again refutes it', () => {
    const holds = new HeldAbsences(limit);
    lacks(holds, 5);
    expect(lacks(holds, 1)).toBe('refuted');
    expect(lacks(holds, 5)).toBeUndefined();
    expect(holds.holds('v1', 'Pod')).toBe(true);
  });

  it('the hold ends with the watch of the resource', () => {
    const holds = new HeldAbsences(limit);
    lacks(holds, 5);
    holds.forget(pods);
    holds.ask(pods);
    expect([holds.size, lacks(holds, 2)]).toEqual([0, undefined]);
  });
});
