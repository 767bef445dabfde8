import { openSync, readSync } from 'node:fs';
import { startTestServer } from '../../src/apiserver/test/test-server.ts';
import {
  type HostileRequest,
  longWork,
  ordinary,
  refused,
  tooManyElements,
  tooManyMembers,
  tooManyValues,
} from '../../test/apiserver/hostile-requests.ts';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';

/**
 * TURNS: the longest turn of the event loop, by processor time of its thread, while a request is answered that is made to keep the server
 * busy; against the longest turn of the create of an ordinary ConfigMap of as many bytes in the same encoding. One row for each encoding.
 * Each request has three servers in turn, and the shortest of its longest turns counts, because the machine interrupts the others.
 */
const GOOD = 100;
const GREAT = 50;
const ROUNDS = 3;

type Encoding = Parameters<typeof ordinary>[0];

const requests: readonly (readonly [string, HostileRequest])[] = [
  ...tooManyValues,
  ...tooManyMembers,
  ...tooManyElements,
  ...longWork,
  ...refused.map(([name, request]) => [name, request] as const),
];

export const run: Benchmark = async ({ smoke }) => {
  const results: BenchResult[] = [];
  for (const encoding of ['JSON', 'YAML', 'protobuf'] as const) {
    const all = requests.filter(([, request]) => encodingOf(request) === encoding);
    let worst = { name: '', turn: 0, bytes: 0 };
    for (const [name, request] of smoke ? all.slice(0, 2) : all) {
      const turn = await longestTurn(request, smoke ? 1 : ROUNDS);
      if (turn > worst.turn) worst = { name, turn, bytes: request.body.length };
    }
    const baseline = await longestTurn(ordinary(encoding, worst.bytes), smoke ? 1 : ROUNDS);
    results.push({
      id: `TURNS (${encoding})`,
      workload: `${all.length} requests; the worst is ${worst.name}, ${worst.bytes.toLocaleString('en')} bytes`,
      metric: `ms CPU of the longest turn, of ${worst.name}`,
      value: worst.turn,
      baseline: { what: 'an ordinary create of as many bytes', value: baseline },
      ratio: baseline / worst.turn,
      level: levelOf(worst.turn, { good: GOOD, great: GREAT, better: 'less' }),
      demands: { good: `<= ${GOOD} ms`, great: `<= ${GREAT} ms` },
    });
  }
  return results;
};

function encodingOf({ type }: HostileRequest): Encoding {
  if (type.endsWith('yaml')) return 'YAML';
  return type.endsWith('protobuf') ? 'protobuf' : 'JSON';
}

/** Shortest of the longest turns of several servers, ms. */
async function longestTurn(request: HostileRequest, rounds: number): Promise<number> {
  let shortest = Infinity;
  for (let round = 0; round < rounds; round++) shortest = Math.min(shortest, await longestTurnOnce(request));
  return shortest;
}

async function longestTurnOnce({ method, path, type, body, before }: HostileRequest): Promise<number> {
  const server = await startTestServer();
  if (before !== undefined) await server.post(before.path, before.object);
  await nextTurn();
  let longest = 0;
  const progress = { done: false };
  let start = threadCpuMs();
  const answer = server
    .request(method, path, { body, headers: { 'content-type': type } })
    .finally(() => (progress.done = true));
  while (!progress.done) {
    await nextTurn();
    const now = threadCpuMs();
    longest = Math.max(longest, now - start);
    start = now;
  }
  const { status } = await answer;
  await server.server.stop();
  server.store.close();
  if (status < 200 || status >= 500) throw new Error(`${method} ${path} was answered with ${status}`);
  return longest;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

const scheduled = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const figures = Buffer.alloc(64);
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Processor time of the main thread so far, without the threads that compile and collect garbage. */
function threadCpuMs(): number {
  // The kernel counts a thread when it leaves its processor, otherwise only every 4 ms.
  Atomics.wait(pause, 0, 0, 0.01);
  const length = readSync(scheduled, figures, 0, figures.length, 0);
  return Number.parseInt(figures.toString('latin1', 0, length)) / 1e6;
}
