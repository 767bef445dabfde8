import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { AcceptedEnds } from './accepted-ends.ts';

it('BETTER-9 an accepted end is known for ten seconds, by the version it rested on, and no longer than the history it is part of', () => {
  const clock = new FakeClock();
  const ends = new AcceptedEnds(clock);
  const note = (uid: string, resourceVersion: string): void => ends.note(uid, { resourceVersion, by: 'delete' });
  const versionOf = (uid: string): string | undefined => ends.of(uid)?.resourceVersion;
  note('a', '7');
  clock.advance(9_999);
  note('b', '8');
  expect([versionOf('a'), versionOf('b'), versionOf('c')]).toEqual(['7', '8', undefined]);
  clock.advance(1);
  expect([versionOf('a'), versionOf('b')]).toEqual([undefined, '8']);
  note('b', '9');
  expect(versionOf('b')).toBe('9');
  ends.forgetAll();
  expect(versionOf('b')).toBeUndefined();
});

it('BETTER-9 knows the last two thousand at least, and no more than four thousand', () => {
  const ends = new AcceptedEnds(new FakeClock());
  const known = (count: number): number =>
    Array.from({ length: count }, (_, i) => ends.of(`u${i}`)).filter((end) => end !== undefined).length;
  for (let i = 1; i <= 10_000; i++) {
    ends.note(`u${i - 1}`, { resourceVersion: '1', by: 'finalizer' });
    if (i % 500 === 0 || i % 2048 < 2) expect([known(i) >= Math.min(i, 2048), known(i) <= 4096]).toEqual([true, true]);
    expect(ends.of(`u${Math.max(0, i - 2048)}`)?.by).toBe('finalizer');
  }
});

it('BETTER-9 keeps nothing that does not count any more, once it is asked to let go', () => {
  const clock = new FakeClock();
  const ends = new AcceptedEnds(clock);
  for (let i = 0; i < 3000; i++) ends.note(`u${i}`, { resourceVersion: '1', by: 'delete' });
  clock.advance(9_999);
  ends.forgetOld();
  expect([ends.size, ends.of('u2999')?.by]).toEqual([3000, 'delete']);
  clock.advance(1);
  ends.forgetOld();
  expect(ends.size).toBe(0);
});
