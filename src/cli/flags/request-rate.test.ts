import { expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { requestRate } from './request-rate.ts';

const answer: HttpResponse = { status: 200, headers: {}, body: new Uint8Array() };

it('COL-174 sends a burst at once and the rest at the rate', async () => {
  const clock = new FakeClock();
  const limit = requestRate({ qps: 20, burst: 30 }, clock);
  const sentAt: number[] = [];
  const next = () => {
    sentAt.push(clock.monotonic());
    return Promise.resolve(answer);
  };
  const all = Array.from({ length: 70 }, () => limit({ method: 'GET', target: '/', headers: {} }, next));
  await clock.advanceAsync(5000);
  await Promise.all(all);
  expect(sentAt.filter((at) => at === 0)).toHaveLength(30);
  expect(sentAt.slice(30)).toEqual(Array.from({ length: 40 }, (_, index) => (index + 1) * 50));
});

it('a request that is given up while it waits is not sent', async () => {
  const clock = new FakeClock();
  const limit = requestRate({ qps: 1, burst: 1 }, clock);
  const stop = new AbortController();
  let sent = 0;
  const next = () => {
    sent++;
    return Promise.resolve(answer);
  };
  await limit({ method: 'GET', target: '/', headers: {} }, next);
  const waiting = limit({ method: 'GET', target: '/', headers: {}, signal: stop.signal }, next);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
  expect(sent).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});

it('COL-174 a request that is given up while it waits leaves its place to the next one', async () => {
  const clock = new FakeClock();
  const limit = requestRate({ qps: 1, burst: 1 }, clock);
  const stop = new AbortController();
  const sentAt: number[] = [];
  const next = () => {
    sentAt.push(clock.monotonic());
    return Promise.resolve(answer);
  };
  await limit({ method: 'GET', target: '/', headers: {} }, next);
  const waiting = limit({ method: 'GET', target: '/', headers: {}, signal: stop.signal }, next);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
  const last = limit({ method: 'GET', target: '/', headers: {} }, next);
  await clock.advanceAsync(1000);
  expect(sentAt).toEqual([0, 1000]);
  await last;
});
