import { beforeEach, describe, expect, it } from 'vitest';
import { newForbidden } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { TransportError } from '../../client/http/transport.ts';
import { TroubleLog } from './trouble-log.ts';

let clock: FakeClock;
let logger: MemoryLogger;
let log: TroubleLog;
beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  log = new TroubleLog({ clock, logger });
});

const refused = (): Error => new TransportError('refused', 'connect ECONNREFUSED');
const forbidden = (): Error => newForbidden({ group: '', resource: 'secrets' }, '', 'no');
const lines = (): Record<string, unknown>[] =>
  logger.lines.map(({ level, message, fields }) => ({ level, message, ...fields }));
const resources = Array.from({ length: 60 }, (_, i) => `r${i}`);

describe('TroubleLog', () => {
  it('COL-048 says once that the server is away, with the number of its watches, and once that it is back', () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      for (const resource of resources) log.failed(resource, refused());
      clock.advance(5000);
    }
    expect(lines()).toEqual([
      {
        level: 'warn',
        message: 'the API server does not answer; its watches are tried again',
        watches: 60,
        resources: 'r0, r1, r2, r3, r4',
        error: 'connect ECONNREFUSED',
      },
    ]);
    for (const resource of resources) log.recovered(resource);
    expect(lines().slice(1)).toEqual([{ level: 'info', message: 'the API server answers again', afterSeconds: 15 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('says it again once a minute while it lasts', () => {
    log.failed('a', refused());
    clock.advance(1000);
    for (let second = 0; second < 600; second++) {
      log.failed('a', refused());
      clock.advance(1000);
    }
    expect(lines()).toHaveLength(11);
  });

  it('logs no trouble that is over before its first line', () => {
    log.failed('a', refused());
    clock.advance(999);
    log.recovered('a');
    clock.advance(100_000);
    expect([lines(), clock.pendingTimers]).toEqual([[], 0]);
  });

  it('logs each cause by itself; a watch has the newest one', () => {
    log.failed('a', forbidden());
    log.failed('b', refused());
    log.failed('c', refused());
    clock.advance(1000);
    expect(lines().map(({ watches }) => watches)).toEqual([1, 2]);
    log.failed('b', forbidden());
    log.failed('c', forbidden());
    expect(lines().at(-1)?.message).toBe('the API server answers again');
    for (const resource of ['a', 'b', 'c']) log.recovered(resource);
    expect(lines().at(-1)?.message).toBe('watches resumed');
  });

  it('COL-048 an answer that begins is no recovery where the watch fails after it, however often', () => {
    for (let second = 0; second < 600; second++) {
      log.failed('a', forbidden());
      log.failed('b', refused());
      clock.advance(500);
      log.answered('a');
      log.answered('b');
      clock.advance(500);
    }
    // One line per minute and cause.
    expect(lines().filter(({ level }) => level === 'warn')).toHaveLength(20);
    expect(lines().filter(({ level }) => level === 'info')).toEqual([]);
  });

  it('COL-048 a watch that was answered and shows nothing works when it has not failed for five seconds', () => {
    for (const resource of ['a', 'b']) log.failed(resource, forbidden());
    clock.advance(2000);
    log.answered('a');
    clock.advance(4000);
    log.answered('b');
    log.answered('c');
    clock.advance(4999);
    expect(lines().map(({ level }) => level)).toEqual(['warn']);
    clock.advance(1);
    expect(lines().slice(1)).toEqual([{ level: 'info', message: 'watches resumed', afterSeconds: 11 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('COL-048 and that at whatever fraction of a millisecond it was answered', () => {
    for (let i = 1; i <= 2000; i++) {
      log.failed('a', forbidden());
      clock.advance(1000 + 1 / i);
      log.answered('a');
      clock.advance(i / 7);
      log.answered('b');
      clock.advance(5001 - i / 7);
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('COL-048 a watch that fails for another reason does not work again', () => {
    log.failed('a', forbidden());
    clock.advance(1000);
    log.failed('a', new Error('no object'));
    clock.advance(1000);
    expect(lines().map(({ level }) => level)).toEqual(['warn', 'warn']);
    log.failed('a', refused());
    clock.advance(1000);
    expect(lines().map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    log.recovered('a');
    expect(lines().at(-1)?.message).toBe('the API server answers again');
  });

  it('a resource that is not watched any more has not recovered', () => {
    log.failed('a', forbidden());
    clock.advance(1000);
    log.forget('a');
    expect([lines().length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('leaves no timer behind when it is stopped', () => {
    log.failed('a', forbidden());
    log.failed('b', refused());
    log.answered('b');
    log.stop();
    clock.advance(100_000);
    expect([lines(), clock.pendingTimers]).toEqual([[], 0]);
  });
});
