import { expect, it } from 'vitest';
import { FakeClock } from '../../base/fake-clock.ts';
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

it('BETTER-9 keeps no more than ten thousand, the last ones', () => {
  const ends = new AcceptedEnds(new FakeClock());
  for (let i = 0; i <= 10_000; i++) ends.note(`u${i}`, { resourceVersion: '1', by: 'finalizer' });
  expect(['u0', 'u1', 'u10000'].map((uid) => ends.of(uid)?.by)).toEqual([undefined, 'finalizer', 'finalizer']);
});
