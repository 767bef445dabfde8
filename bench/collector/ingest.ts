import { checkInvariants } from '../../src/collector/graph/check-consistency.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { Side, type Stepper } from './side.ts';
import { BaselineStream, ProductStream, type Stream } from './streams.ts';
import { randomUids, TREE, WatchTemplate, type Chunk, type Wire } from './trees.ts';

/** P01: ADDED frames of a watch to the graph and the queue, children first, while both graphs grow to the full size. */
export const run: Benchmark = async ({ smoke }) => [
  await ingest({ smoke, withManagedFields: false, good: 3, great: 5 }),
  await ingest({ smoke, withManagedFields: true, good: 7, great: 12 }),
];

interface Case {
  readonly smoke: boolean;
  readonly withManagedFields: boolean;
  readonly good: number;
  readonly great: number;
}

interface Options {
  readonly objects: number;
  readonly withManagedFields: boolean;
}

/** Frames of a chunk. */
const CHUNK = 8184;
/** Chunks of a step. */
const STEP = 4;

async function ingest({ smoke, withManagedFields, good, great }: Case): Promise<BenchResult> {
  const steps = smoke ? 2 : 30;
  const objects = steps * STEP * CHUNK;
  const options: Options = { objects, withManagedFields };
  const ours = new Side(import.meta.url, 'product', options);
  const theirs = new Side(import.meta.url, 'baseline', options);
  const cpu = { ours: 0, theirs: 0 };
  const ratios: number[] = [];
  let bytes = 0;
  for (let step = 0; step < steps; step++) {
    const product = await ours.step(step);
    const baseline = await theirs.step(step);
    if (product.report['queued'] !== baseline.report['queued'])
      throw new Error('the two queued different numbers of owners');
    bytes = product.report['bytes']!;
    cpu.ours += product.cpu;
    cpu.theirs += baseline.cpu;
    ratios.push(baseline.cpu / product.cpu);
  }
  await Promise.all([ours.stop(), theirs.stop()]);
  const ratio = median(ratios);
  return {
    id: `P01 (${bytes} B)`,
    workload: `${objects.toLocaleString('en')} ADDED frames of trees 1:1:10, children first`,
    metric: 'events/s CPU',
    value: objects / (cpu.ours / 1e6),
    baseline: { what: 'JSON.parse and Map/Set', value: objects / (cpu.theirs / 1e6) },
    ratio,
    level: levelOf(ratio, { good, great, better: 'more' }),
    demands: { good: `>= ${good}x`, great: `>= ${great}x` },
  };
}

class Ingest implements Stepper {
  readonly #stream: Stream;
  readonly #check: (ingested: number) => Record<string, number>;
  readonly #template: WatchTemplate;
  readonly #chunks: readonly Chunk[];
  #ingested = 0;

  constructor(stream: Stream, options: Options & { wire: Wire; check: (ingested: number) => Record<string, number> }) {
    const { objects, withManagedFields, wire } = options;
    this.#stream = stream;
    this.#check = options.check;
    const common = { uids: randomUids(objects), withManagedFields, resourceVersion: 0 };
    this.#template = new WatchTemplate({ ...common, wire, type: 'ADDED', size: CHUNK });
    this.#chunks = Array.from({ length: STEP }, () => this.#template.chunk());
  }

  prepare(step: number): void {
    this.#chunks.forEach((chunk, i) => {
      const first = (step * STEP + i) * CHUNK;
      for (let place = 0; place < CHUNK; place++) chunk.objects[place] = first + place;
      this.#template.write(chunk);
    });
  }

  work(): void {
    for (const chunk of this.#chunks) this.#stream.consume(chunk);
    this.#ingested += STEP * CHUNK;
  }

  report(): Record<string, number> {
    return { bytes: Math.round(this.#chunks[0]!.bytes.length / CHUNK), ...this.#check(this.#ingested) };
  }
}

/** A fast wrong run is a failure. */
function checkProduct({ graph, queue }: ProductStream, ingested: number): Record<string, number> {
  const { observed, virtual, references } = graph.counts;
  if (observed !== ingested || virtual !== 0) throw new Error(`${observed} observed, ${virtual} virtual nodes`);
  if (references !== (ingested / TREE) * (TREE - 1)) throw new Error(`${references} references`);
  if (ingested < 100_000 && checkInvariants(graph).length > 0) throw new Error('broken graph');
  return { queued: queue.len() };
}

function checkBaseline({ graph }: BaselineStream, ingested: number): Record<string, number> {
  if (graph.nodes.size !== ingested) throw new Error(`${graph.nodes.size} nodes`);
  return { queued: graph.queued };
}

export const sides = {
  product: (options: Options) => {
    const stream = new ProductStream();
    return new Ingest(stream, { ...options, wire: 'frames', check: (ingested) => checkProduct(stream, ingested) });
  },
  baseline: (options: Options) => {
    const stream = new BaselineStream();
    return new Ingest(stream, { ...options, wire: 'lines', check: (ingested) => checkBaseline(stream, ingested) });
  },
};
