import { Client, Pool } from 'undici';
import {
  createCertificateAuthority,
  issueServingCertificate,
} from '../../src/apiserver/authentication/certificates.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { bearerToken } from '../../src/client/http/connect-options.ts';
import { http1Transport } from '../../src/client/http/http1-transport.ts';
import { http2Transport } from '../../src/client/http/http2-transport.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import type { Transport } from '../../src/client/http/transport.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { type Counts, startCountingResponder } from './counting-responder.ts';

/**
 * P20: what a DELETE as the collector sends it costs the client, over TLS to a server in another process. The baseline is
 * undici's `dispatch`, the cheapest client that Node has, with `reset: false`, because otherwise it closes the connection
 * after every DELETE with a body.
 */
const inFlight = 64;
const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const preconditions = { uid: '6c0d3e0e-5d2f-4f5b-9d55-0d6ecb0f6c11', resourceVersion: '123456' };
const deleteOptions = { preconditions, propagationPolicy: 'Background' } as const;
const answer = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { name: 'leaf', kind: 'configmaps', uid: preconditions.uid },
});

interface Contender {
  readonly name: string;
  /** Deletes one object and reads the answer as JSON. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

function productClient(name: string, transport: Transport): Contender {
  const client = new RestClient({ transport, clock: systemClock, userAgent: 'kubegc/bench', defaultTimeoutMs: 60_000 });
  return {
    name,
    async remove(object) {
      const status = await client.delete<{ status: string }>(
        { gvr, namespace: 'default', name: object },
        deleteOptions,
      );
      if (status.status !== 'Success') throw new Error(`${name} was answered ${JSON.stringify(status)}`);
    },
    close: () => client.close(),
  };
}

function undiciDispatch(origin: string, ca: string): Contender {
  const connect = { ca };
  const pool = new Pool(origin, {
    connections: inFlight,
    connect,
    keepAliveTimeout: 600_000,
    factory: (at, options) => new Client(at, options),
  });
  const headers = {
    accept: 'application/json',
    'user-agent': 'kubegc/bench',
    'content-type': 'application/json',
    authorization: 'Bearer token',
  };
  return {
    name: 'undici dispatch',
    remove: (object) =>
      new Promise((settle, reject) => {
        const chunks: Buffer[] = [];
        let status = 0;
        pool.dispatch(
          {
            path: `/api/v1/namespaces/default/configmaps/${object}`,
            method: 'DELETE',
            body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions }),
            headers,
            reset: false,
          },
          {
            onRequestStart: () => undefined,
            onResponseStart: (_controller, statusCode) => void (status = statusCode),
            onResponseData: (_controller, chunk) => void chunks.push(chunk),
            onResponseEnd() {
              const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString();
              const read = JSON.parse(text) as { status: string };
              if (status === 200 && read.status === 'Success') settle();
              else reject(new Error(`undici was answered ${status}: ${text}`));
            },
            onResponseError: (_controller, error) => reject(error),
          },
        );
      }),
    close: () => pool.close(),
  };
}

/** µs of this process's CPU for each of `count` deletions from `inFlight` closed loops. */
async function measure(contender: Contender, count: number): Promise<number> {
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) await contender.remove(`leaf-${next++}`);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, loop));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 500 : 10_000;
  const rounds = smoke ? 2 : 7;
  const source = { clock: systemClock, random: systemRandom };
  const authority = await createCertificateAuthority(source);
  const responder = await startCountingResponder({ ...(await issueServingCertificate(authority, source)), answer });
  const server = `https://127.0.0.1:${responder.port}`;
  const connect = { server, caPem: authority.certPem, credentials: bearerToken('token') };
  const baseline = undiciDispatch(server, authority.certPem);
  const contenders = [
    productClient('http/1.1', http1Transport(connect)),
    productClient('http/2', http2Transport({ ...connect, clock: systemClock })),
  ];
  const all = [baseline, ...contenders];
  try {
    const connections = new Map<string, number>();
    let counts: Counts = { connections: 0, answered: 0 };
    const micros = new Map<string, number[]>(all.map(({ name }) => [name, []]));
    // The first round opens the connections and is not counted as a cost; the others take turns.
    for (let round = 0; round <= rounds; round++) {
      for (const contender of all) {
        const spent = await measure(contender, count);
        if (round > 0) micros.get(contender.name)?.push(spent);
        const now = await responder.counts();
        if (now.answered - counts.answered !== count) throw new Error(`${contender.name}: the server saw too few`);
        const opened = (connections.get(contender.name) ?? 0) + now.connections - counts.connections;
        if (opened > inFlight)
          throw new Error(`${contender.name} opened ${opened} connections for ${inFlight} in flight`);
        connections.set(contender.name, opened);
        counts = now;
      }
    }
    const base = micros.get(baseline.name) ?? [];
    return contenders.map(({ name }): BenchResult => {
      const ours = micros.get(name) ?? [];
      const ratio = median(ours.map((value, round) => value / (base[round] ?? Number.NaN)));
      return {
        id: `P20 (${name})`,
        workload: `${rounds} x ${count} DELETE with preconditions over TLS, ${inFlight} in flight`,
        metric: `µs client CPU/request, ${connections.get(name)} connections`,
        value: median(ours),
        baseline: { what: `undici dispatch, ${connections.get(baseline.name)} connections`, value: median(base) },
        ratio,
        level: levelOf(ratio, { good: 1.5, great: 1.1, better: 'less' }),
        demands: { good: '<= 1.5x', great: '<= 1.1x' },
      };
    });
  } finally {
    await Promise.all(all.map((contender) => contender.close()));
    responder.stop();
  }
};
