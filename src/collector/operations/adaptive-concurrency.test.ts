import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { TransportError } from '../../client/http/transport.ts';
import { AdaptiveConcurrency } from './adaptive-concurrency.ts';

let clock: FakeClock;
let calls: AdaptiveConcurrency;
let waiting: { answer(response: Partial<HttpResponse>): void; fail(error: Error): void }[];
beforeEach(() => {
  clock = new FakeClock();
  calls = new AdaptiveConcurrency({ clock, ceiling: 4 });
  waiting = [];
});

const ok = { status: 200 };
function send(signal?: AbortSignal): Promise<HttpResponse> {
  const request = { method: 'GET', target: '/', headers: {}, ...(signal === undefined ? {} : { signal }) };
  return calls.intercept(
    request,
    () =>
      new Promise((resolve, reject) => {
        const answer = (response: Partial<HttpResponse>): void =>
          resolve({ status: 200, headers: {}, body: new Uint8Array(), ...response });
        waiting.push({ answer, fail: reject });
      }),
  );
}

describe('AdaptiveConcurrency', () => {
  it('BETTER-19 lets no more through than its limit; the others follow as answers come', async () => {
    const answered = Array.from({ length: 6 }, () => send());
    await clock.settle();
    expect([waiting.length, calls.underWay]).toEqual([4, 4]);
    for (let i = 0; i < 6; i++) {
      waiting[i]!.answer(ok);
      await clock.settle();
    }
    expect((await Promise.all(answered)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(calls.underWay).toBe(0);
  });

  it.each([
    { status: 429, headers: {}, limit: 2 },
    { status: 503, headers: { 'retry-after': '1' }, limit: 2 },
    { status: 503, headers: {}, limit: 4 },
    { status: 500, headers: {}, limit: 4 },
    { status: 404, headers: {}, limit: 4 },
  ])('BETTER-19 after $status $headers it is $limit', async ({ status, headers, limit }) => {
    const answered = send();
    await clock.settle();
    waiting[0]!.answer({ status, headers });
    expect((await answered).status).toBe(status);
    expect(calls.limit).toBe(limit);
  });

  it('BETTER-19 begins nothing before Retry-After is over', async () => {
    const refused = send();
    await clock.settle();
    waiting[0]!.answer({ status: 429, headers: { 'retry-after': '2' } });
    await refused;
    void send();
    await clock.advanceAsync(1999);
    expect(waiting).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(waiting).toHaveLength(2);
  });

  it('BETTER-19 a longer Retry-After holds back those too who wait for the end of a shorter one', async () => {
    const refused = [send(), send()];
    await clock.settle();
    waiting[0]!.answer({ status: 429, headers: { 'retry-after': '1' } });
    await clock.settle();
    void send();
    await clock.advanceAsync(900);
    waiting[1]!.answer({ status: 429, headers: { 'retry-after': '10' } });
    await Promise.all(refused);
    await clock.advanceAsync(9999);
    expect(waiting).toHaveLength(2);
    await clock.advanceAsync(1);
    expect(waiting).toHaveLength(3);
  });

  it('a caller that gives up in a pause that was prolonged holds nothing', async () => {
    const refused = [send(), send()];
    await clock.settle();
    waiting[0]!.answer({ status: 429, headers: { 'retry-after': '1' } });
    await clock.settle();
    const stop = new AbortController();
    const late = send(stop.signal);
    late.catch(() => undefined);
    await clock.settle();
    waiting[1]!.answer({ status: 429, headers: { 'retry-after': '10' } });
    await Promise.all(refused);
    await clock.advanceAsync(2000);
    stop.abort();
    await expect(late).rejects.toMatchObject({ code: 'aborted' });
    expect([calls.underWay, waiting.length]).toEqual([0, 2]);
  });

  it.each([
    { code: 'timeout', limit: 2 },
    { code: 'reset', limit: 4 },
    { code: 'aborted', limit: 4 },
  ] as const)('BETTER-19 after an error $code it is $limit, and the error is the caller’s', async ({ code, limit }) => {
    const failed = send();
    await clock.settle();
    waiting[0]!.fail(new TransportError(code, 'no'));
    await expect(failed).rejects.toMatchObject({ code });
    expect([calls.limit, calls.underWay]).toEqual([limit, 0]);
  });

  it('a caller that gives up while it waits holds nothing', async () => {
    for (let i = 0; i < 4; i++) void send();
    const stop = new AbortController();
    const late = send(stop.signal);
    stop.abort();
    await expect(late).rejects.toMatchObject({ code: 'aborted' });
    await clock.settle();
    for (const each of waiting.slice()) each.answer({ status: 429, headers: { 'retry-after': '5' } });
    await clock.settle();
    const paused = new AbortController();
    const another = send(paused.signal);
    await clock.settle();
    paused.abort();
    await expect(another).rejects.toMatchObject({ code: 'aborted' });
    expect([calls.underWay, waiting.length]).toEqual([0, 4]);
  });
});
