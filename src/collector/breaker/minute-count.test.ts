import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MinuteCount } from './minute-count.ts';

describe('MinuteCount', () => {
  it('CAS-074 counts what a list of times counts within the sixty seconds that end now', () => {
    const events = fc.array(fc.record({ passes: fc.integer({ min: 0, max: 90_000 }), takesBack: fc.boolean() }));
    fc.assert(
      fc.property(events, (steps) => {
        const count = new MinuteCount();
        let times: number[] = [];
        let now = 0;
        for (const { passes, takesBack } of steps) {
          now += passes;
          const second = Math.floor(now / 1000);
          times = times.filter((time) => second - Math.floor(time / 1000) < 60);
          const added = takesBack ? times.pop() : undefined;
          if (added !== undefined) {
            count.takeBack(added, now);
          } else {
            count.add(now);
            times.push(now);
          }
          expect(count.at(now)).toBe(times.length);
        }
      }),
    );
  });

  it('CAS-074 takes nothing back that does not count any more', () => {
    const count = new MinuteCount();
    count.add(1000);
    count.add(62_000);
    count.takeBack(1000, 62_000);
    expect(count.at(62_000)).toBe(1);
  });
});
