import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedDiscovery } from './shared-discovery.ts';

interface Run {
  readonly begunAt: number;
  readonly end: (outcome: 'ok' | 'fails') => void;
}

const { signal } = new AbortController();

describe('SharedDiscovery', () => {
  it('runs one at a time and gives nobody one that began before they asked, whatever fails', async () => {
    const step = fc.constantFrom('ask', 'ask', 'microtask', 'ok', 'fails');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        let time = 0;
        let mostAtOnce = 0;
        const underWay: Run[] = [];
        const discovery = new SharedDiscovery(
          () =>
            new Promise<number>((resolve, reject) => {
              const begunAt = time;
              const end: Run['end'] = (outcome) =>
                outcome === 'ok' ? resolve(begunAt) : reject(new Error(String(begunAt)));
              underWay.push({ begunAt, end });
              mostAtOnce = Math.max(mostAtOnce, underWay.length);
            }),
        );
        const early: number[] = [];
        const answers: Promise<void>[] = [];
        const ask = (): void => {
          const askedAt = time;
          const check = (begunAt: number): void => void (begunAt < askedAt && early.push(askedAt));
          answers.push(discovery.next(signal).then(check, (error: Error) => check(Number(error.message))));
        };
        for (const name of steps) {
          time++;
          if (name === 'ask') ask();
          else if (name === 'microtask') await Promise.resolve();
          else underWay.shift()?.end(name);
        }
        const settled = Promise.all(answers).then(() => 'settled');
        for (let rounds = 0; rounds < 10; rounds++) {
          underWay.shift()?.end('ok');
          await new Promise<void>((resolve) => {
            setImmediate(resolve);
          });
        }
        expect(await Promise.race([settled, 'still waiting'])).toBe('settled');
        expect([mostAtOnce <= 1, early]).toEqual([true, []]);
      }),
    );
  });

  it('shares: ten who ask during one get the next together', async () => {
    let begun = 0;
    const discovery = new SharedDiscovery(() => Promise.resolve(++begun));
    const answers = await Promise.all(Array.from({ length: 11 }, () => discovery.next(signal)));
    expect(answers).toEqual([1, ...Array.from({ length: 10 }, () => 2)]);
  });
});
