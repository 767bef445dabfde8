import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { webhookTarget } from './client-config.ts';
import type { ServiceResolver } from './service-resolver.ts';
import { WebhookCallError } from './webhook-call-error.ts';
import { MAX_CALLS, MAX_WAITING_CALLS, type WebhookCall, WebhookClient } from './webhook-client.ts';

/** Tests the limits of the client over plain HTTP; `test/admission` proves the TLS part with real certificates. */
const nowhere: ServiceResolver = { resolve: () => Promise.reject(new WebhookCallError('service', 'no services here')) };
const call: WebhookCall = { body: { hello: 1 }, timeoutMs: 5_000, announceTimeout: true, maxAnswerBytes: 1_000 };

describe('the client for webhooks', () => {
  let server: Server;
  let waiting: (() => void)[];
  let url: string;
  let answerText: string;
  let client: WebhookClient;

  beforeEach(async () => {
    waiting = [];
    answerText = '{"ok":true}';
    server = createServer((_request, response) => {
      waiting.push(() => response.end(answerText));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    client = new WebhookClient({ clock: systemClock, services: nowhere });
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const failureOf = (promise: Promise<unknown>): Promise<WebhookCallError> =>
    promise.then(
      () => {
        throw new Error('it succeeded');
      },
      (error: unknown) => {
        if (error instanceof WebhookCallError) return error;
        throw error;
      },
    );
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };

  it(`has ${MAX_CALLS} calls under way to one webhook; the others wait`, async () => {
    const calls = Array.from({ length: MAX_CALLS + 5 }, () => client.post({ url }, call));
    await until(() => waiting.length === MAX_CALLS);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(waiting).toHaveLength(MAX_CALLS);
    waiting.splice(0, 5).forEach((finish) => finish());
    await until(() => waiting.length === MAX_CALLS);
    waiting.forEach((finish) => finish());
    expect(await Promise.all(calls)).toEqual(calls.map(() => ({ ok: true })));
  });

  it(`refuses the call that would be the ${MAX_WAITING_CALLS + 1}st to wait`, async () => {
    const calls = Array.from({ length: MAX_CALLS + MAX_WAITING_CALLS }, () =>
      client.post({ url }, call).catch((error: unknown) => error),
    );
    await until(() => waiting.length === MAX_CALLS);
    const { failure } = await failureOf(client.post({ url }, call));
    expect(failure).toBe('overload');
    client.close();
    await Promise.all(calls);
  });

  it('gives up when the time is over, also while it waits for its turn', async () => {
    const clock = new FakeClock();
    const timed = new WebhookClient({ clock, services: nowhere });
    const calls = Array.from({ length: MAX_CALLS + 1 }, () => failureOf(timed.post({ url }, call)));
    await until(() => waiting.length === MAX_CALLS);
    clock.advance(5_000);
    const failures = await Promise.all(calls);
    expect(new Set(failures.map(({ failure }) => failure))).toEqual(new Set(['timeout']));
    expect(failures.at(-1)?.message).toMatch(/\?timeout=5s": context deadline exceeded$/);
    expect(clock.pendingTimers).toBe(0);
    timed.close();
  });

  it.each([
    ['x'.repeat(1_001), 'answer', 'the answer is larger than 1000 bytes'],
    ['{"a":', 'answer', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    ['<html>', 'answer', "json parse error: invalid character '<' looking for beginning of value"],
    ['', 'answer', '0-length response with status code: 200'],
  ])('takes no answer like %.10s…', async (text, failure, message) => {
    answerText = text;
    const posted = failureOf(client.post({ url }, call));
    await until(() => waiting.length === 1);
    waiting[0]?.();
    const error = await posted;
    expect(error.failure).toBe(failure);
    expect(error.message).toContain(message);
  });

  it.each([
    ['https://h:8443//failing', '/failing'],
    ['https://h:8443/a/./b/../c/', '/a/c'],
    ['https://h:8443', '/'],
    ['https://h:8443///', '/'],
  ])('API-350 posts to %s with the path %s, as client-go cleans it', (address, path) => {
    expect(webhookTarget({ url: address })?.path).toBe(path);
  });

  it('API-350 cleans the path of a service in the same way', () => {
    const target = (path: string): string | undefined =>
      webhookTarget({ service: { namespace: 'n', name: 's', path } })?.path;
    expect([target('/a//b/'), target('a'), target('')]).toEqual(['/a/b', '/a', '/']);
  });

  it('names the service that cannot be resolved, and says when there is nothing to call', async () => {
    const service = { namespace: 'n', name: 's' };
    const unresolved = await failureOf(client.post({ service }, call));
    expect(unresolved.message).toBe('Post "https://s.n.svc:443/?timeout=5s": no services here');
    const nothing = await failureOf(client.post({}, call));
    expect(nothing.message).toBe('webhook configuration must have either service or URL');
  });
});
