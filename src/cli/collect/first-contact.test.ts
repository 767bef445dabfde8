import { expect, it } from 'vitest';
import { newForbidden, newServiceUnavailable, newUnauthorized, type StatusError } from '../../api/status-error.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpResponse } from '../../base/http-message.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { seededRandom } from '../../base/random/random.ts';
import { KubeconfigError } from '../../client/kubeconfig/kubeconfig.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { TransportError } from '../../client/http/transport.ts';
import { firstContact } from './first-contact.ts';

const ok: HttpResponse = { status: 200, headers: {}, body: Buffer.from('{}') };
const refusal = ({ status, code }: StatusError): HttpResponse => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(status)),
});

function contact(...answers: readonly (HttpResponse | Error)[]) {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  const stop = new AbortController();
  let asked = 0;
  const send = (): Promise<HttpResponse> => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? ok;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const transport = { send, close: () => Promise.resolve() };
  const client = new RestClient({ transport, clock, userAgent: 'test' });
  const random = seededRandom(1);
  const server = 'https://server.example';
  const done = firstContact({ client, clock, random, logger, server, source: 'the context c' }, stop.signal);
  const outcome = done.then(
    () => 'answered' as const,
    (error: Error) => error,
  );
  return { clock, logger, stop, outcome, asked: () => asked };
}

const refused = new TransportError('refused', 'connect ECONNREFUSED 127.0.0.1:6443');

it.each([ok, refusal(newForbidden({ group: '', resource: '' }, '', 'no'))])(
  'any answer will do, also one that forbids: other paths may be allowed',
  async (answer) => {
    expect(await contact(answer).outcome).toBe('answered');
  },
);

it('a server that does not answer, or has no time, is asked again, with a line each time, less and less often', async () => {
  const { clock, logger, outcome, asked } = contact(refused, refused, refusal(newServiceUnavailable('starting')), ok);
  await clock.advanceAsync(10_000);
  expect(await outcome).toBe('answered');
  expect(asked()).toBe(4);
  expect(logger.lines.map(({ level, fields }) => [level, fields['error']])).toEqual([
    ['warn', 'connect ECONNREFUSED 127.0.0.1:6443'],
    ['warn', 'connect ECONNREFUSED 127.0.0.1:6443'],
    ['warn', 'starting'],
  ]);
  const long = contact(refused);
  await long.clock.advanceAsync(3600_000);
  expect(long.asked()).toBeGreaterThan(90);
  expect(long.asked()).toBeLessThan(130);
  long.stop.abort();
  expect(isAbortError(await long.outcome)).toBe(true);
  expect(long.clock.pendingTimers).toBe(0);
});

const handshake = (code: string, message: string): TransportError =>
  new TransportError('tls', message, { cause: Object.assign(new Error(message), { code }) });

it.each([
  [
    refusal(newUnauthorized()),
    'https://server.example does not know who asks: Unauthorized',
    'credentials of the context c',
  ],
  [
    new TransportError('tls', 'self-signed certificate'),
    'cannot trust https://server.example: self-signed certificate',
    'certificate authority of the context c',
  ],
  [
    handshake('ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'),
    'cannot speak TLS with https://server.example: wrong version number',
    'is its URL http://',
  ],
  [
    handshake('EPROTO', 'write EPROTO error:0A00010B:SSL routines:ssl3_get_record:wrong version number'),
    'cannot speak TLS with https://server.example: write EPROTO',
    'is its URL http://',
  ],
  [
    handshake('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tlsv13 alert certificate required'),
    'no TLS with https://server.example: tlsv13 alert certificate required',
    'client certificate of the context c',
  ],
  [
    new KubeconfigError('exec: not found'),
    'no credentials for https://server.example: exec: not found',
    'those of the context c',
  ],
])('is refused at once when patience does not help: %#', async (answer, message, advice) => {
  const { outcome, asked } = contact(answer);
  expect(await outcome).toMatchObject({
    name: 'CommandError',
    message: expect.stringContaining(message),
    advice: expect.stringContaining(advice),
  });
  expect(asked()).toBe(1);
});
