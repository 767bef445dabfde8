import type { HttpRequest } from '../../base/http-message.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import type { Target } from '../decide/target.ts';
import { DeleteOptionsSupport } from './delete-options-support.ts';
import { PatchSupport } from './patch-support.ts';

/** The answers of a server, in order; the last answer is repeated. */
type Script = readonly { readonly status: number; readonly body: unknown }[];

export const target: Target = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'ns',
  name: 'a',
  uid: 'uid-a',
};

export const objectWith = (metadata: object) => ({
  status: 200,
  body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns', uid: 'uid-a', ...metadata } },
});

export const statusWith = (code: number, reason: string, more: object = {}) => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: code < 400 ? 'Success' : 'Failure', code, reason, ...more },
});

/** A context for the operations, and the requests that they sent: `METHOD content-type query body`. */
export function setUp(script: Script) {
  const sent: string[] = [];
  const times: number[] = [];
  const clock = new FakeClock();
  const stop = new AbortController();
  let pathsNotFound = 0;
  const handler = (request: HttpRequest) => {
    const answer = script[Math.min(sent.length, script.length - 1)] ?? { status: 500, body: 'no script' };
    const type = String(request.headers['content-type'] ?? '').replace('application/', '');
    const query = request.target.split('?')[1] ?? '';
    const parts = [request.method, type, query, Buffer.from(request.body ?? []).toString()];
    sent.push(parts.filter((part) => part !== '').join(' '));
    times.push(clock.monotonic());
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return Promise.resolve({ status: answer.status, headers: {}, body: Buffer.from(text) });
  };
  const context = {
    client: new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' }),
    signal: new AbortController().signal,
    onPathNotFound: () => {
      pathsNotFound++;
    },
    support: new PatchSupport(),
    deleteOptions: new DeleteOptionsSupport(),
    clock,
    random: seededRandom(1),
    stopping: stop.signal,
  };
  return { context, sent, times, clock, stop, pathsNotFound: () => pathsNotFound };
}
