import { expect, it } from 'vitest';
import { AcceptedDeletions } from './accepted-deletions.ts';

it('BETTER-9 an accepted deletion is known for ten seconds, by the version it rested on, and no longer than the history it is part of', () => {
  let now = 0;
  const deletions = new AcceptedDeletions();
  const note = (uid: string, resourceVersion: string): void =>
    deletions.note(uid, { resourceVersion, by: 'delete' }, now);
  const versionOf = (uid: string): string | undefined => deletions.of(uid, now)?.resourceVersion;
  note('a', '7');
  now += 9_999;
  note('b', '8');
  expect([versionOf('a'), versionOf('b'), versionOf('c')]).toEqual(['7', '8', undefined]);
  now += 1;
  expect([versionOf('a'), versionOf('b')]).toEqual([undefined, '8']);
  note('b', '9');
  expect(versionOf('b')).toBe('9');
  deletions.forgetAll();
  expect(versionOf('b')).toBeUndefined();
});

it('BETTER-9 knows the last two thousand at least, and no more than four thousand', () => {
  const deletions = new AcceptedDeletions();
  const known = (count: number): number =>
    Array.from({ length: count }, (_, i) => deletions.of(`u${i}`, 0)).filter((end) => end !== undefined).length;
  for (let i = 1; i <= 10_000; i++) {
    deletions.note(`u${i - 1}`, { resourceVersion: '1', by: 'finalizer' }, 0);
    if (i % 500 === 0 || i % 2048 < 2) expect([known(i) >= Math.min(i, 2048), known(i) <= 4096]).toEqual([true, true]);
    expect(deletions.of(`u${Math.max(0, i - 2048)}`, 0)?.by).toBe('finalizer');
  }
});

it('BETTER-9 keeps nothing that does not count any more, once it is asked to forget', () => {
  let now = 0;
  const deletions = new AcceptedDeletions();
  for (let i = 0; i < 3000; i++) deletions.note(`u${i}`, { resourceVersion: '1', by: 'delete' }, now);
  now += 9_999;
  deletions.forgetOld(now);
  expect([deletions.size, deletions.of('u2999', now)?.by]).toEqual([3000, 'delete']);
  now += 1;
  deletions.forgetOld(now);
  expect(deletions.size).toBe(0);
});
