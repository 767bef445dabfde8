import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../base/http-message.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { workClients, type WorkClientsOptions } from './work-clients.ts';

const ACCEPT = 'application/vnd.kubernetes.protobuf,application/json';

/** Clients over a server that answers everything, with the requests that reached it. */
function clientsWith(settings: Pick<WorkClientsOptions, 'rate' | 'contentType'>, leads = true) {
  const clock = new FakeClock();
  const sent: { readonly request: HttpRequest; readonly at: number }[] = [];
  const identified: string[] = [];
  const pass: Interceptor = (request, next) => next(request);
  const clients = workClients({
    ...settings,
    common: {
      transport: {
        send: (request) => {
          sent.push({ request, at: clock.monotonic() });
          return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{}') });
        },
        close: () => Promise.resolve(),
      },
      clock,
      userAgent: 'test',
    },
    clock,
    identity: {
      intercept: (request, next) => {
        identified.push(request.target);
        return next(request);
      },
    },
    mayWrite: () => leads,
    counted: pass,
  });
  return { ...clients, clock, sent, identified };
}

describe.each(['forCollector', 'forControllers'] as const)('the client %s', (which) => {
  it('COL-200 requests no protobuf with --kube-api-content-type=application/json', async () => {
    const { sent, ...clients } = clientsWith({ rate: undefined, contentType: 'application/json' });
    await clients[which].request({ method: 'GET', path: '/a', accept: ACCEPT });
    expect(sent.map(({ request }) => request.headers['accept'])).toEqual(['application/json']);
  });

  it('COL-200 requests protobuf otherwise', async () => {
    const { sent, ...clients } = clientsWith({
      rate: undefined,
      contentType: 'application/vnd.kubernetes.protobuf',
    });
    await clients[which].request({ method: 'GET', path: '/a', accept: ACCEPT });
    expect(sent.map(({ request }) => request.headers['accept'])).toEqual([ACCEPT]);
  });

  it('COL-214 sends no write while this process does not lead', async () => {
    const { sent, ...clients } = clientsWith(
      { rate: undefined, contentType: 'application/vnd.kubernetes.protobuf' },
      false,
    );
    await expect(clients[which].request({ method: 'DELETE', path: '/a' })).rejects.toMatchObject({ code: 'aborted' });
    expect(sent).toEqual([]);
  });
});

it('COL-174 the collector and the controllers share one rate', async () => {
  const { forCollector, forControllers, clock, sent } = clientsWith({
    rate: { qps: 1, burst: 1 },
    contentType: 'application/vnd.kubernetes.protobuf',
  });
  const both = [
    forCollector.request({ method: 'GET', path: '/collector' }),
    forControllers.request({ method: 'GET', path: '/controllers' }),
  ];
  await clock.advanceAsync(1000);
  await Promise.all(both);
  expect(sent.map(({ request, at }) => [request.target, at])).toEqual([
    ['/collector', 0],
    ['/controllers', 1000],
  ]);
});

it('each request of the controllers checks the cluster, and those of the collector leave it to the collector', async () => {
  const { forCollector, forControllers, identified } = clientsWith({
    rate: undefined,
    contentType: 'application/vnd.kubernetes.protobuf',
  });
  await forCollector.request({ method: 'GET', path: '/collector' });
  await forControllers.request({ method: 'GET', path: '/controllers' });
  expect(identified).toEqual(['/controllers']);
});
