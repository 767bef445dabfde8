import { expect, it } from 'vitest';
import { BoundedLog } from './bounded-log.ts';
import { FakeClock } from '../time/fake-clock.ts';
import { MemoryLogger } from './memory-logger.ts';

it('says the first ones, then one in a while with the number of those it left out', () => {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const log = new BoundedLog({ logger, clock, burst: 2, everyMs: 1000 });
  for (let i = 0; i < 10; i++) log.warn('no', { i });
  clock.advance(999);
  log.warn('no', { i: 10 });
  clock.advance(1);
  log.warn('no', { i: 11 });
  log.warn('no', { i: 12 });
  expect(logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
    { i: 0 },
    { i: 1 },
    { i: 11, leftOut: 9 },
  ]);
  expect(logger.lines.filter(({ level }) => level === 'debug')).toHaveLength(10);
});

it('has its whole burst again after a pause', () => {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const log = new BoundedLog({ logger, clock, burst: 3, everyMs: 1000 });
  for (let i = 0; i < 3; i++) log.warn('no');
  clock.advance(60_000);
  for (let i = 0; i < 4; i++) log.warn('no');
  expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(6);
});
