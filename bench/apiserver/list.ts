import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, type Level, levelOf, median } from '../result.ts';
import { startByteSource } from './byte-source.ts';
import { Load } from './load.ts';
import { createPods, podsPath } from './pods.ts';

/** P10: lists of 100,000 Pods in their forms, against a process that sends as many bytes over TLS and makes none of them. */
const MiB = 1024 * 1024;
const metadataOf = (type: string): string => `application/${type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;

interface Form {
  readonly name: string;
  readonly accept: string;
  readonly query: string;
  readonly paged?: true;
  /** 5 unless given. A list of some milliseconds needs more of them, or its median is that of V8's compiler. */
  readonly rounds?: number;
  /** Objects of `all` that a correct answer has. */
  expected(all: number): number;
}

const forms: readonly Form[] = [
  { name: 'full JSON', accept: 'application/json', query: '', expected: (all) => all },
  { name: 'metadata JSON', accept: metadataOf('json'), query: '', expected: (all) => all },
  { name: 'metadata protobuf', accept: metadataOf('vnd.kubernetes.protobuf'), query: '', expected: (all) => all },
  { name: 'pages of 500', accept: 'application/json', query: 'limit=500', paged: true, expected: (all) => all },
  {
    name: 'label of 1 %',
    accept: 'application/json',
    query: 'labelSelector=rare%3Dyes',
    rounds: 25,
    expected: (all) => all / 100,
  },
];

interface Received {
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly ms: number;
  readonly objects: number;
  /** Bytes of each answer. */
  readonly sizes: readonly number[];
}

const uid = Buffer.from('"uid":"');
/** A field of 36 bytes with the number 5: the uid of ObjectMeta. */
const protobufUid = Buffer.from([0x2a, 36]);

function occurrences(bytes: Buffer, mark: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found++;
  return found;
}

async function receive(answer: IncomingMessage, onFirst: () => void): Promise<Buffer> {
  if (answer.statusCode !== 200) throw new Error(`the list answered ${answer.statusCode}`);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) {
    if (chunks.length === 0) onFirst();
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

async function list(load: Load, { accept, query, paged }: Form): Promise<Received> {
  const sizes: number[] = [];
  let [objects, firstByteMs, ms] = [0, 0, 0];
  for (let token: string | undefined = ''; token !== undefined;) {
    const started = performance.now();
    const next = token === '' ? '' : `&continue=${token}`;
    const answer = await load.open('GET', `${podsPath}?${query}${next}`, undefined, { accept });
    const body = await receive(answer, () => (firstByteMs ||= performance.now() - started));
    ms += performance.now() - started;
    sizes.push(body.length);
    objects += occurrences(body, accept.includes('protobuf') ? protobufUid : uid);
    token = paged ? /"continue":"([^"]+)"/.exec(body.toString('latin1', 0, 1024))?.[1] : undefined;
  }
  return { bytes: sizes.reduce((sum, size) => sum + size), firstByteMs, ms, objects, sizes };
}

async function drain(load: Load, sizes: readonly number[]): Promise<number> {
  let ms = 0;
  for (const size of sizes) {
    const started = performance.now();
    await receive(await load.open('GET', `/?bytes=${size}`), () => undefined);
    ms += performance.now() - started;
  }
  return ms;
}

/** The most resident bytes seen while `work` runs, over those before it. */
async function growth<T>(server: ServerProcess, work: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const before = server.residentBytes;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, server.residentBytes)), 5);
  try {
    const result = await work();
    return { result, grownBytes: Math.max(most, server.residentBytes) - before };
  } finally {
    clearInterval(timer);
  }
}

const lower = (left: Level, right: Level): Level =>
  [left, right].includes('below') ? 'below' : [left, right].includes('good') ? 'good' : 'great';

export const run: Benchmark = async ({ smoke }) => {
  const count = smoke ? 1_000 : 100_000;
  const server = new ServerProcess();
  await server.ready;
  const source = await startByteSource(join(server.directory, 'data'));
  const load = new Load(server.kubeconfig, 64);
  const bytes = new Load(server.kubeconfig, 1, source.port);
  const results: BenchResult[] = [];
  try {
    await createPods(load, count, 200);
    for (const form of forms) {
      const [times, baselines, growths, firsts]: number[][] = [[], [], [], []];
      let size = 0;
      for (let round = 0; round < (smoke ? 1 : (form.rounds ?? 5)); round++) {
        const { result, grownBytes } = await growth(server, () => list(load, form));
        const expected = form.expected(count);
        // A uid in the text of a Pod would be counted too; there is none.
        if (result.objects !== expected) throw new Error(`${form.name}: ${result.objects} of ${expected} objects`);
        // The baseline reads its answers as closely as the list does, because that costs the client something.
        baselines?.push((await growth(server, () => drain(bytes, result.sizes))).result);
        times?.push(result.ms);
        growths?.push(grownBytes);
        firsts?.push(result.firstByteMs);
        size = result.bytes;
      }
      const [value, baseline] = [median(times ?? []), median(baselines ?? [])];
      const [grown, first] = [median(growths ?? []), median(firsts ?? [])];
      const demands = { good: 3, great: 1.5, better: 'less' } as const;
      results.push({
        id: 'P10',
        workload: `${form.name} of ${count} Pods, ${(size / MiB).toFixed(1)} MiB`,
        metric: `ms for ${form.name} (${(size / MiB).toFixed(1)} MiB; first byte ${first.toFixed(1)} ms; grown by ${(grown / MiB).toFixed(0)} MiB)`,
        value,
        baseline: { what: 'sending as many bytes', value: baseline },
        ratio: value / baseline,
        level: lower(levelOf(value / baseline, demands), levelOf(grown / MiB, { good: 64, great: 16, better: 'less' })),
        demands: { good: '<= 3x and 64 MiB', great: '<= 1.5x and 16 MiB' },
      });
    }
  } finally {
    load.close();
    bytes.close();
    source.stop();
    await server.stop();
  }
  return results;
};
