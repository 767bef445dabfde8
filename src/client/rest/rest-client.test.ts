import type { DeleteOptions } from './delete-options.ts';
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deleteOptionsFromQuery } from '../../api/deletion/delete-options.ts';
import { isObjectNotFound, newConflict, newNotFound, newTooManyRequests } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { requestMetrics } from './request-metrics.ts';
import { RestClient, type RestClientOptions } from './rest-client.ts';
import type { ApiWarning } from './warning-header.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };

function json(status: number, value: unknown, headers: HttpResponse['headers'] = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** A client of a server that sends `answers` in turn, and repeats the last one. */
function setUp(answers: readonly (HttpResponse | HttpHandler)[], options: Partial<RestClientOptions> = {}) {
  const clock = new FakeClock();
  const seen: HttpRequest[] = [];
  const handler: HttpHandler = (request) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)]!;
    seen.push(request);
    return typeof answer === 'function' ? answer(request) : Promise.resolve(answer);
  };
  const client = new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'kubegc/1', ...options });
  return { clock, seen, client, line: () => seen.map((r) => `${r.method} ${r.target}`) };
}

function bodyOf(request: HttpRequest | undefined): unknown {
  return request?.body && JSON.parse(Buffer.from(request.body).toString());
}

describe('RestClient helpers', () => {
  it('send what they are named after', async () => {
    const { client, seen, line } = setUp([json(200, { items: [] })]);
    const ref = { gvr: pods, namespace: 'ns', name: 'p' };
    await client.get(ref, { query: { resourceVersion: '0' } });
    await client.list({ gvr: pods });
    await client.create({ gvr: pods, namespace: 'ns' }, { metadata: { name: 'p' } });
    await client.update({ ...ref, subresource: 'status' }, { a: 1 });
    await client.patch(ref, { type: 'application/merge-patch+json', body: { b: 2 } });
    await client.delete(ref);
    expect(line()).toEqual([
      'GET /api/v1/namespaces/ns/pods/p?resourceVersion=0',
      'GET /api/v1/pods',
      'POST /api/v1/namespaces/ns/pods',
      'PUT /api/v1/namespaces/ns/pods/p/status',
      'PATCH /api/v1/namespaces/ns/pods/p',
      'DELETE /api/v1/namespaces/ns/pods/p',
    ]);
    expect(seen.map((r) => r.headers['content-type'])).toEqual([
      undefined,
      undefined,
      'application/json',
      'application/json',
      'application/merge-patch+json',
      undefined,
    ]);
    expect(bodyOf(seen[4])).toEqual({ b: 2 });
    expect(seen[5]?.body).toBeUndefined();
  });

  it('COL-170 delete with DeleteOptions as JSON', async () => {
    const { client, seen } = setUp([json(200, {})]);
    const preconditions = { uid: 'u', resourceVersion: '7' };
    await client.delete({ gvr: pods, namespace: 'ns', name: 'p' }, { preconditions, propagationPolicy: 'Background' });
    expect(bodyOf(seen[0])).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions,
      propagationPolicy: 'Background',
    });
    expect(seen[0]?.headers['content-type']).toBe('application/json');
  });

  it('delete with the options in the query, where the caller knows that they are read there', async () => {
    const { client, seen } = setUp([json(200, {})]);
    const options: DeleteOptions = {
      preconditions: { uid: 'u', resourceVersion: '7' },
      propagationPolicy: 'Foreground',
      gracePeriodSeconds: 0,
      dryRun: ['All'],
    };
    const ref = { gvr: pods, namespace: 'ns', name: 'p' };
    await client.deleted(ref, options, { optionsIn: 'query' });
    await client.deleted(ref, { preconditions: { uid: 'u' } }, { optionsIn: 'query' });
    await client.deleted(ref, options, { optionsIn: 'body' });
    const queries = seen.map(({ target }) => new URL(target, 'http://server').searchParams);
    // Our own server reads the intended values.
    expect(queries.map(deleteOptionsFromQuery)).toEqual([options, { preconditions: { uid: 'u' } }, {}]);
    expect(seen.map(bodyOf)).toEqual([undefined, undefined, { kind: 'DeleteOptions', apiVersion: 'v1', ...options }]);
    expect(seen.map(({ headers }) => headers['content-type'])).toEqual([undefined, undefined, 'application/json']);
  });

  it('read the answer to a DELETE no further than to see that it succeeded', async () => {
    const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details: { name: 'p' } };
    const otherOrder = { status: 'Success', kind: 'Status' };
    const waiting = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', finalizers: ['a/b'] } };
    const { client } = setUp([json(200, done), json(200, otherOrder), json(200, waiting), json(200, {})]);
    const ref = { gvr: pods, namespace: 'ns', name: 'p' };
    expect(await client.deleted(ref, {}, { optionsIn: 'body' })).toBe('success');
    expect(await client.deleted(ref, {}, { optionsIn: 'body' })).toEqual(otherOrder);
    expect(await client.deleted(ref, {}, { optionsIn: 'body' })).toEqual(waiting);
    expect(await client.deleted(ref, {}, { optionsIn: 'body' })).toEqual({});
  });

  it('refuse to act on one object without its name', async () => {
    const { client, seen } = setUp([json(200, {})]);
    const all = { gvr: pods, namespace: 'ns' };
    const patch = { type: 'application/merge-patch+json', body: {} } as const;
    for (const act of [
      () => client.delete(all),
      () => client.get(all),
      () => client.update(all, {}),
      () => client.patch(all, patch),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 400 });
    }
    expect(seen).toEqual([]);
  });
});

describe('RestClient.request', () => {
  it('COL-173 says who asks, also for a component', async () => {
    const { client, seen } = setUp([json(200, {})]);
    await client.request({ method: 'GET', path: '/version', headers: { 'x-extra': '1' } });
    await client.as('generic-garbage-collector').request({ method: 'GET', path: '/version' });
    expect(seen[0]?.headers).toEqual({ accept: 'application/json', 'user-agent': 'kubegc/1', 'x-extra': '1' });
    expect(seen[1]?.headers['user-agent']).toBe('kubegc/1/generic-garbage-collector');
  });

  it('throws the Status of a failing answer', async () => {
    const { client } = setUp([json(409, newConflict({ group: '', resource: 'pods' }, 'p').status)]);
    await expect(client.get({ gvr: pods, namespace: 'ns', name: 'p' })).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
  });

  it('COL-116 keeps a 404 for the path apart from one for the object', async () => {
    const text: HttpResponse = {
      status: 404,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('404 page not found'),
    };
    const { client } = setUp([json(404, newNotFound({ group: '', resource: 'pods' }, 'p').status), text]);
    const get = () => client.get({ gvr: pods, namespace: 'ns', name: 'p' }).catch((e: unknown) => e);
    expect(isObjectNotFound(await get(), 'p')).toBe(true);
    expect(isObjectNotFound(await get(), 'p')).toBe(false);
  });

  it('collects a body that comes in pieces, of errors too', async () => {
    async function* pieces(text: string) {
      for (const c of Buffer.from(text)) yield await Promise.resolve(Uint8Array.of(c));
    }
    const status = JSON.stringify(newNotFound({ group: '', resource: 'pods' }, 'ü').status);
    const { client } = setUp([
      { status: 200, headers: {}, body: pieces('{"a":"Größe"}') },
      { status: 404, headers: {}, body: pieces(status) },
    ]);
    expect((await client.request({ method: 'GET', path: '/' })).json()).toEqual({ a: 'Größe' });
    await expect(client.request({ method: 'GET', path: '/' })).rejects.toMatchObject({ details: { name: 'ü' } });
  });

  it('says when an answer is not JSON', async () => {
    const { client } = setUp([{ status: 200, headers: {}, body: Buffer.from('<html>') }]);
    await expect(client.list({ gvr: pods })).rejects.toMatchObject({ name: 'TransportError', code: 'protocol' });
  });

  it('surfaces warnings', async () => {
    const warnings: ApiWarning[] = [];
    const headers = { warning: ['299 - "policy/v1beta1 is \\"old\\""', '299 - "two", 299 agent "three"'] };
    const { client } = setUp([json(200, { items: [] }, headers)], { onWarning: (w) => warnings.push(w) });
    await client.list({ gvr: pods });
    expect(warnings).toEqual([
      { code: 299, agent: '-', text: 'policy/v1beta1 is "old"' },
      { code: 299, agent: '-', text: 'two' },
      { code: 299, agent: 'agent', text: 'three' },
    ]);
  });

  it('COL-190 counts attempts through an interceptor', async () => {
    const metrics = new MemoryMetrics();
    const { client } = setUp([json(200, { items: [] }), json(404, {}), () => Promise.reject(new Error('x'))], {
      interceptors: [requestMetrics(metrics, 'h:1')],
    });
    await client.list({ gvr: pods });
    await expect(client.list({ gvr: pods })).rejects.toThrow();
    await expect(client.list({ gvr: pods })).rejects.toThrow();
    const count = (code: string) => metrics.value('rest_client_requests_total', { code, method: 'GET', host: 'h:1' });
    expect([count('200'), count('404'), count('<error>')]).toEqual([1, 1, 1]);
  });
});

describe('RestClient deadlines', () => {
  const never: HttpHandler = () => new Promise(() => {});

  it('give up after the timeout, by the client’s default or the request’s own', async () => {
    const { client, clock } = setUp([never], { defaultTimeoutMs: 100 });
    const byDefault = client.list({ gvr: pods });
    const own = client.list({ gvr: pods }, { timeoutMs: 50 });
    clock.advance(50);
    await expect(own).rejects.toMatchObject({ code: 'timeout' });
    clock.advance(50);
    await expect(byDefault).rejects.toMatchObject({ code: 'timeout' });
    void client.list({ gvr: pods }, { timeoutMs: 'none' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('cover a body that stops coming', async () => {
    const stuck: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
    const { client, clock } = setUp([{ status: 200, headers: {}, body: stuck }], { defaultTimeoutMs: 100 });
    const listed = client.list({ gvr: pods });
    await clock.settle();
    clock.advance(100);
    await expect(listed).rejects.toMatchObject({ code: 'timeout' });
  });

  it('follow the caller’s signal and leave nothing behind', async () => {
    const { client, clock } = setUp([never, json(200, { items: [] })], { defaultTimeoutMs: 100 });
    const controller = new AbortController();
    const listed = client.list({ gvr: pods }, { signal: controller.signal });
    controller.abort();
    await expect(listed).rejects.toMatchObject({ code: 'aborted' });
    const live = new AbortController();
    await client.list({ gvr: pods }, { signal: live.signal });
    expect([clock.pendingTimers, getEventListeners(live.signal, 'abort').length]).toEqual([0, 0]);
  });

  it('follow the signal of the client, unless they have their own', async () => {
    const { client, clock } = setUp([never, json(200, { items: [] }), json(200, { items: [] })], {
      defaultTimeoutMs: 100,
    });
    const controller = new AbortController();
    const component = client.abortedBy(controller.signal).as('component');
    const listed = component.list({ gvr: pods });
    controller.abort();
    await expect(listed).rejects.toMatchObject({ code: 'aborted' });
    await component.list({ gvr: pods }, { signal: new AbortController().signal });
    await component.abortedBy(undefined).list({ gvr: pods });
    expect(clock.pendingTimers).toBe(0);
  });

  it('for a stream end with its head, while the signal goes on', async () => {
    let send: (text: string) => void = () => {};
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          new Promise((resolve) => {
            send = (text) => resolve({ done: false, value: Buffer.from(text) });
          }),
      }),
    };
    const { client, clock } = setUp([{ status: 200, headers: {}, body }], { defaultTimeoutMs: 100 });
    const controller = new AbortController();
    const stream = await client.stream({ method: 'GET', path: '/x', signal: controller.signal });
    const chunks = stream.body[Symbol.asyncIterator]();
    const first = chunks.next();
    await clock.advanceAsync(1000);
    send('late');
    expect(Buffer.from((await first).value as Uint8Array).toString()).toBe('late');
    const second = chunks.next();
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('for a stream that fails report its Status', async () => {
    const { client, clock } = setUp(
      [json(410, { kind: 'Status', apiVersion: 'v1', reason: 'Expired', status: 'Failure' })],
      { defaultTimeoutMs: 5 },
    );
    await expect(client.stream({ method: 'GET', path: '/x' })).rejects.toMatchObject({ code: 410, reason: 'Expired' });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('RestClient retries', () => {
  const slowDown = (seconds: number): HttpResponse => json(429, newTooManyRequests('slow down', seconds).status);

  it('repeats nothing unless asked', async () => {
    const { client, seen } = setUp([slowDown(1), json(200, {})]);
    await expect(client.list({ gvr: pods })).rejects.toMatchObject({ code: 429 });
    expect(seen).toHaveLength(1);
  });

  it('waits as long as 429 and 503 say, up to the bound of attempts', async () => {
    const unavailable: HttpResponse = { status: 503, headers: { 'retry-after': '3' }, body: new Uint8Array() };
    const { client, clock, seen } = setUp([slowDown(2), unavailable, json(200, { items: [{}] })]);
    const listed = client.list({ gvr: pods }, { retry: { attempts: 2 } });
    await clock.advanceAsync(1999);
    expect(seen).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(seen).toHaveLength(2);
    await clock.advanceAsync(3000);
    expect((await listed).items).toEqual([{}]);
    const hopeless = setUp([slowDown(1)]);
    const failing = expect(hopeless.client.list({ gvr: pods }, { retry: { attempts: 1000 } })).rejects.toMatchObject({
      code: 429,
    });
    await hopeless.clock.advanceAsync(3_600_000);
    await failing;
    expect(hopeless.seen).toHaveLength(11);
  });

  it.each([
    ['a 429 that does not say when', json(429, { kind: 'Status', apiVersion: 'v1', status: 'Failure' })],
    ['a 500, even with Retry-After', json(500, {}, { 'retry-after': '1' })],
    ['a 409', json(409, {}, { 'retry-after': '1' })],
  ])('does not repeat after %s', async (_, answer) => {
    const { client, seen } = setUp([answer]);
    await expect(client.list({ gvr: pods }, { retry: { attempts: 5 } })).rejects.toThrow();
    expect(seen).toHaveLength(1);
  });

  it('stops waiting when aborted or out of time', async () => {
    const { client, clock, seen } = setUp([slowDown(30)], { defaultTimeoutMs: 10_000 });
    const controller = new AbortController();
    const aborted = client.list({ gvr: pods }, { retry: { attempts: 5 }, signal: controller.signal });
    const late = client.list({ gvr: pods }, { retry: { attempts: 5 } });
    await clock.settle();
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
    clock.advance(10_000);
    await expect(late).rejects.toMatchObject({ code: 'timeout' });
    expect(seen).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });
});
