import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { Relists } from './relists.ts';

it('COL-047 lists a resource anew whose answers differ, ever later while they go on to differ, at most once a minute', () => {
  const clock = new FakeClock();
  const listed: string[] = [];
  const relists = new Relists({ clock, list: (key) => void listed.push(`${clock.monotonic()} ${key}`) });
  const begin = clock.monotonic();
  const differ = (): number => {
    const from = clock.monotonic();
    relists.ask('pods');
    relists.ask('pods');
    for (const before = listed.length; listed.length === before;) clock.advance(1000);
    return clock.monotonic() - from;
  };
  expect(Array.from({ length: 8 }, differ)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect([listed.length, relists.size, clock.monotonic() > begin]).toEqual([8, 0, true]);
  clock.advance(400_000);
  expect(differ()).toBe(1000);
});

it('COL-047 lists nothing after it was stopped', () => {
  const clock = new FakeClock();
  const listed: string[] = [];
  const relists = new Relists({ clock, list: (key) => void listed.push(key) });
  relists.ask('pods', 10_000);
  relists.ask('secrets');
  relists.stop();
  clock.advance(100_000);
  expect([listed, clock.pendingTimers]).toEqual([[], 0]);
});
