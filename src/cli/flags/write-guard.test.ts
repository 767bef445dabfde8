import { expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { writeGuard } from './write-guard.ts';

const answer: HttpResponse = { status: 200, headers: {}, body: new Uint8Array() };

async function send(method: string, mayWrite: boolean): Promise<'sent' | 'refused'> {
  let sent = false;
  const next = () => {
    sent = true;
    return Promise.resolve(answer);
  };
  const outcome = writeGuard(() => mayWrite)({ method, target: '/api/v1/pods', headers: {} }, next);
  await outcome.catch((error: Error) =>
    expect(error.message).toBe(`${method} was not sent: this process does not lead`),
  );
  return sent ? 'sent' : 'refused';
}

it('COL-214 lets reads pass always, and anything else only while this process may act', async () => {
  for (const method of ['GET', 'HEAD']) {
    expect([await send(method, false), await send(method, true)]).toEqual(['sent', 'sent']);
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get']) {
    expect([await send(method, false), await send(method, true)]).toEqual(['refused', 'sent']);
  }
});

it('asks anew for each request', async () => {
  let leading = true;
  const guard = writeGuard(() => leading);
  const request = { method: 'DELETE', target: '/', headers: {} };
  await expect(guard(request, () => Promise.resolve(answer))).resolves.toBe(answer);
  leading = false;
  await expect(guard(request, () => Promise.resolve(answer))).rejects.toMatchObject({ code: 'aborted' });
});

it('COL-214 is asked once more when the request is sent', async () => {
  let leading = true;
  let waiting: HttpRequest | undefined;
  const next = (request: HttpRequest) => {
    waiting = request;
    return Promise.resolve(answer);
  };
  await writeGuard(() => leading)({ method: 'DELETE', target: '/', headers: {} }, next);
  expect(waiting?.refusal?.()).toBeUndefined();
  leading = false;
  expect(waiting?.refusal?.()).toMatchObject({ code: 'aborted' });
});

it('COL-214 COL-121 asks the sender of the request too, but no answer of the sender lets a write out while this process may not act', async () => {
  let leading = true;
  let over: Error | undefined;
  let waiting: HttpRequest | undefined;
  const next = (request: HttpRequest) => {
    waiting = request;
    return Promise.resolve(answer);
  };
  const guard = writeGuard(() => leading);
  const request = { method: 'PATCH', target: '/', headers: {}, refusal: () => over };
  await guard(request, next);
  expect(waiting?.refusal?.()).toBeUndefined();
  over = new Error('not any more');
  expect(waiting?.refusal?.()).toBe(over);
  await expect(guard(request, next)).rejects.toBe(over);
  over = undefined;
  leading = false;
  expect(waiting?.refusal?.()).toMatchObject({ code: 'aborted' });
});
