import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ring } from './ring.ts';

describe('Ring', () => {
  it('refuses elements beyond its bound and stays as it was', () => {
    const ring = new Ring<number>({ bound: 2 });
    expect([ring.pushBack(1), ring.pushBack(2), ring.pushBack(3), ring.pushFront(0)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([...ring]).toEqual([1, 2]);
  });

  it('behaves like an array used as a deque', () => {
    const op = fc.constantFrom('pushBack', 'pushFront', 'popFront', 'popBack', 'clear');
    const often = fc.oneof({ weight: 3, arbitrary: fc.constant('pushBack') }, { weight: 3, arbitrary: op });
    fc.assert(
      fc.property(fc.array(often, { maxLength: 120 }), (ops) => {
        const ring = new Ring<number>({ bound: 40 });
        const model: number[] = [];
        ops.forEach((kind, i) => {
          if (kind === 'pushBack' && ring.pushBack(i)) model.push(i);
          else if (kind === 'pushFront' && ring.pushFront(i)) model.unshift(i);
          else if (kind === 'popFront') expect(ring.popFront()).toBe(model.shift());
          else if (kind === 'popBack') expect(ring.popBack()).toBe(model.pop());
          else if (kind === 'clear') {
            ring.clear();
            model.length = 0;
          }
          expect([...ring]).toEqual(model);
          expect(ring.length).toBe(model.length);
          expect(ring.at(0)).toBe(model[0]);
          expect(ring.at(model.length)).toBeUndefined();
          expect(ring.length).toBeLessThanOrEqual(40);
        });
      }),
    );
  });
});
