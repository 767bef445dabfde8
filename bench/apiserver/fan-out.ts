import { join } from 'node:path';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';
import { Load } from './load.ts';
import { startNaiveFanOut } from './naive-fan-out.ts';

/**
 * P11: the server's cost of sending one change to one watcher, over TLS; one watcher in ten has a selector. The CPU of the writes alone is
 * measured first and taken off. The baseline is a server that encodes each event for each watcher.
 *
 * Writers, readers and server share two cores here, so the rate is as asked for as long as they keep up, and the delay from the moment a
 * write is sent to the moment a watcher has its event is that of a full machine.
 */
const path = '/api/v1/namespaces/default/configmaps';
const NEWLINE = 0x0a;

interface Side {
  readonly writes: Load;
  readonly streams: Load;
  readonly cpuMicros: () => number;
  write(index: number): Promise<number>;
  /** Called once, when the writes that are measured alone are done: where each watch begins. */
  watchPaths(): Promise<(index: number) => string>;
}

const body = (index: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `object-${index % 100}`, labels: { bench: 'yes' } },
      data: { sent: String(performance.now()), filler: 'x'.repeat(600) },
    }),
  );

/** Sends at a rate of `perSecond`; what is late is sent at once. Resolves with the seconds until the last answer. */
async function writeAt(side: Side, count: number, perSecond: number): Promise<number> {
  const started = performance.now();
  const underWay: Promise<unknown>[] = [];
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.ceil(((performance.now() - started) / 1000) * perSecond));
    for (; sent < due; sent++) {
      underWay.push(
        side.write(sent).then((status) => {
          if (status !== 200) throw new Error(`a write answered ${status}`);
        }),
      );
    }
    await new Promise((settle) => setTimeout(settle, 1));
  }
  await Promise.all(underWay);
  return (performance.now() - started) / 1000;
}

interface Watchers {
  /** All events of all watchers have come. */
  readonly seen: Promise<void>;
  readonly lags: readonly number[];
  close(): void;
}

async function watch(side: Side, watchers: number, events: number): Promise<Watchers> {
  const lags: number[] = [];
  const watchPath = await side.watchPaths();
  const streams = await Promise.all(
    Array.from({ length: watchers }, (_, index) => side.streams.open('GET', watchPath(index))),
  );
  const seen = Promise.all(
    streams.map(
      (stream, index) =>
        new Promise<void>((settle, reject) => {
          let found = 0;
          stream.on('data', (chunk: Buffer) => {
            for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) found++;
            if (index === 0) {
              for (const [, sent] of chunk.toString('latin1').matchAll(/"sent":"([\d.]+)"/g)) {
                lags.push(performance.now() - Number(sent));
              }
            }
            if (found > events) reject(new Error(`${found} events, expected ${events}`));
            if (found === events) settle();
          });
          stream.on('error', reject);
          stream.on('end', () => reject(new Error(`a watch ended after ${found} of ${events} events`)));
        }),
    ),
  ).then(() => undefined);
  seen.catch(() => undefined);
  return { seen, lags, close: () => streams.forEach((stream) => stream.destroy()) };
}

interface Cost {
  readonly microsPerDelivery: number;
  readonly writesPerSecond: number;
  readonly lagP99: number;
}

async function deliveryCost(side: Side, watchers: number, writes: { count: number; perSecond: number }): Promise<Cost> {
  const atRest = side.cpuMicros();
  await writeAt(side, writes.count, writes.perSecond);
  const alone = side.cpuMicros() - atRest;
  const watching = await watch(side, watchers, writes.count);
  const before = side.cpuMicros();
  const seconds = await writeAt(side, writes.count, writes.perSecond);
  await watching.seen;
  const together = side.cpuMicros() - before;
  watching.close();
  const lags = watching.lags.toSorted((left, right) => left - right);
  return {
    microsPerDelivery: (together - alone) / (writes.count * watchers),
    writesPerSecond: writes.count / seconds,
    lagP99: lags[Math.floor(lags.length * 0.99)] ?? Number.NaN,
  };
}

async function currentVersion(load: Load): Promise<string> {
  const answer = await load.open('GET', `${path}?limit=1`);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const { metadata } = JSON.parse(Buffer.concat(chunks).toString()) as { metadata: { resourceVersion: string } };
  return metadata.resourceVersion;
}

export const run: Benchmark = async ({ smoke }) => {
  const server = new ServerProcess();
  await server.ready;
  const naive = await startNaiveFanOut(join(server.directory, 'data'));
  const results: BenchResult[] = [];
  try {
    for (const watchers of smoke ? [20] : [100, 1_000]) {
      const writes = smoke
        ? { count: 300, perSecond: 1_000 }
        : { count: watchers > 100 ? 1_000 : 5_000, perSecond: 1_000 };
      const [ourWrites, ourStreams] = [new Load(server.kubeconfig, 32), new Load(server.kubeconfig, watchers)];
      const [theirWrites, theirStreams] = [
        new Load(server.kubeconfig, 32, naive.port),
        new Load(server.kubeconfig, watchers, naive.port),
      ];
      for (let index = 0; index < 100; index++) await ourWrites.send('POST', path, body(index));
      const ours: Side = {
        writes: ourWrites,
        streams: ourStreams,
        cpuMicros: () => server.cpuMicros,
        write: (index) => ourWrites.send('PUT', `${path}/object-${index % 100}`, body(index)),
        watchPaths: async () => {
          const from = `${path}?watch=true&resourceVersion=${await currentVersion(ourWrites)}`;
          return (index) => `${from}${index % 10 === 9 ? '&labelSelector=bench%3Dyes' : ''}`;
        },
      };
      const theirs: Side = {
        writes: theirWrites,
        streams: theirStreams,
        cpuMicros: () => naive.cpuMicros(),
        write: (index) => theirWrites.send('PUT', '/', body(index)),
        watchPaths: async () => () => '/',
      };
      const cost = await deliveryCost(ours, watchers, writes);
      const baseline = await deliveryCost(theirs, watchers, writes);
      results.push({
        id: `P11 ${watchers}`,
        workload: `${watchers} watchers, ${writes.perSecond} writes/s asked, ${cost.writesPerSecond.toFixed(0)} reached`,
        metric: `µs server CPU a delivery (${cost.writesPerSecond.toFixed(0)} writes/s, lag p99 ${cost.lagP99.toFixed(1)} ms)`,
        value: cost.microsPerDelivery,
        baseline: { what: 'encoding for each watcher', value: baseline.microsPerDelivery },
        ratio: cost.microsPerDelivery / baseline.microsPerDelivery,
        level: levelOf(cost.microsPerDelivery, { good: 2.5, great: 1.2, better: 'less' }),
        demands: { good: '<= 2.5 µs', great: '<= 1.2 µs' },
      });
      for (const load of [ourWrites, ourStreams, theirWrites, theirStreams]) load.close();
    }
  } finally {
    naive.stop();
    await server.stop();
  }
  return results;
};
