import { readFileSync } from 'node:fs';
import { checkInvariants } from '../../src/collector/graph/check-consistency.ts';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';
import { Side, type Stepper } from './side.ts';
import { BaselineStream, ProductStream, type Stream } from './streams.ts';
import { randomUids, TREE, WatchTemplate, type Chunk, type Wire } from './trees.ts';

/**
 * P03: resident memory per object after a million were inserted, and after nine in ten of them were deleted and as many
 * others inserted in random order. Each graph is alone in its process; what the process had before is not counted.
 *
 * The level is that of the bytes, which are what somebody pays. The 4x and 6x beside them in the table are 200 and 130 B of a graph of
 * objects and Map/Set that took 791; how much that one takes depends on Node and on what it keeps (632 B with Node 20).
 */
const CHUNK = 8184;
const GOOD = 200;
const GREAT = 130;

interface Options {
  readonly objects: number;
}

export const run: Benchmark = async ({ smoke }) => {
  const objects = (smoke ? 3 : 122) * CHUNK;
  const ours = new Side(import.meta.url, 'product', { objects });
  const theirs = new Side(import.meta.url, 'baseline', { objects });
  const results: BenchResult[] = [];
  for (const [step, workload] of ['inserted', 'nine in ten of them replaced'].entries()) {
    const product = (await ours.step(step)).report;
    const baseline = (await theirs.step(step)).report;
    const value = product['residentBytes']! / objects;
    const naive = baseline['residentBytes']! / objects;
    results.push({
      id: step === 0 ? 'P03' : 'P03 (churned)',
      workload: `${objects.toLocaleString('en')} objects, ${workload}; ${Math.round(product['allocatedBytes']! / objects)} B allocated`,
      metric: 'B RSS/object',
      value,
      baseline: { what: 'objects and Map/Set', value: naive },
      ratio: naive / value,
      level: levelOf(value, { good: GOOD, great: GREAT, better: 'less' }),
      demands: { good: `<= ${GOOD} B`, great: `<= ${GREAT} B` },
    });
  }
  await Promise.all([ours.stop(), theirs.stop()]);
  return results;
};

class Churn implements Stepper {
  readonly #stream: Stream;
  readonly #options: ChurnOptions;
  readonly #added: WatchTemplate;
  readonly #deleted: WatchTemplate;
  readonly #chunk: { readonly added: Chunk; readonly deleted: Chunk };
  readonly #before: number;

  constructor(stream: Stream, options: ChurnOptions) {
    this.#stream = stream;
    this.#options = options;
    const { objects, wire } = options;
    const common = { uids: randomUids(objects * 2), withManagedFields: false, resourceVersion: 0, wire, size: CHUNK };
    this.#added = new WatchTemplate({ ...common, type: 'ADDED' });
    this.#deleted = new WatchTemplate({ ...common, type: 'DELETED' });
    this.#chunk = { added: this.#added.chunk(), deleted: this.#deleted.chunk() };
    // The code is compiled and every buffer of the harness is allocated before memory is measured for the first time.
    for (let round = 0; round < 4; round++) {
      this.#insert(range(0, CHUNK / TREE));
      this.#remove(range(0, CHUNK / TREE));
    }
    this.#before = residentBytes();
  }

  prepare(): void {}

  work(step: number): void {
    const trees = this.#options.objects / TREE;
    if (step === 0) {
      this.#insert(range(0, trees));
      return;
    }
    // Whole trees leave, nine in ten, in random order; others with new uids come in another.
    const leaving = shuffled(trees).filter((tree) => tree % 10 !== 0);
    const whole = leaving.length - (leaving.length % (CHUNK / TREE));
    this.#remove(leaving.slice(0, whole));
    this.#insert(leaving.slice(0, whole).map((tree) => trees + tree));
  }

  report(): Record<string, number> {
    return { residentBytes: residentBytes() - this.#before, ...this.#options.check() };
  }

  #insert(trees: Int32Array): void {
    this.#send(this.#added, this.#chunk.added, trees);
  }

  #remove(trees: Int32Array): void {
    this.#send(this.#deleted, this.#chunk.deleted, trees);
  }

  /** Events about all objects of these trees; as many as make whole chunks. */
  #send(template: WatchTemplate, chunk: Chunk, trees: Int32Array): void {
    const perChunk = CHUNK / TREE;
    for (let from = 0; from < trees.length; from += perChunk) {
      for (let i = 0; i < CHUNK; i++) chunk.objects[i] = trees[from + Math.floor(i / TREE)]! * TREE + (i % TREE);
      template.write(chunk);
      this.#stream.consume(chunk);
    }
  }
}

interface ChurnOptions extends Options {
  readonly wire: Wire;
  readonly check: () => Record<string, number>;
}

function range(from: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => from + i);
}

/** All numbers below `count` once, in an order that has nothing to do with the usual one. */
function shuffled(count: number): Int32Array {
  let step = 7919;
  while (count % step === 0) step++;
  return Int32Array.from({ length: count }, (_, i) => (i * step) % count);
}

function residentBytes(): number {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

export const sides = {
  product: (options: Options) => {
    const stream = new ProductStream({ queues: false });
    const { graph } = stream;
    const check = (): Record<string, number> => {
      const { observed, virtual, gone } = graph.counts;
      const { objects } = options;
      if (observed !== objects || virtual + gone > 0)
        throw new Error(`${observed} observed, ${virtual} virtual, ${gone} gone`);
      if (objects < 100_000 && checkInvariants(graph).length > 0) throw new Error('broken graph');
      return { allocatedBytes: graph.bytes.allocated };
    };
    return new Churn(stream, { ...options, wire: 'frames', check });
  },
  baseline: (options: Options) => {
    const stream = new BaselineStream();
    const check = (): Record<string, number> => {
      if (stream.graph.nodes.size !== options.objects) throw new Error(`${stream.graph.nodes.size} nodes`);
      return {};
    };
    return new Churn(stream, { ...options, wire: 'lines', check });
  },
};
