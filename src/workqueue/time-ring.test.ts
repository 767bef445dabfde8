import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TimeRing } from './time-ring.ts';

describe('TimeRing', () => {
  it('returns the items in their order, whatever came and went before', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -40, max: 40 }), { maxLength: 40 }), (steps) => {
        const ring = new TimeRing();
        const model: number[] = [];
        let time = 0.5;
        for (const step of steps) {
          for (let i = 0; i < step; i++) {
            ring.pushBack(time);
            model.push(time++);
          }
          for (let i = step; i < 0; i++) expect(ring.popFront()).toBe(model.shift() ?? Number.NaN);
          expect(ring.length).toBe(model.length);
        }
      }),
    );
  });
});
