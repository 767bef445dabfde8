import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { Side, type Stepper } from './side.ts';
import { BaselineStream, ProductStream, type Stream } from './streams.ts';
import { randomUids, TREE, WatchTemplate, type Chunk, type Wire } from './trees.ts';

/**
 * P02: MODIFIED of objects the graph knows, in random order. 19 of 20 updates change nothing that matters (another resourceVersion); the
 * other one sets deletionTimestamp. No deletion is taken back (designs/0011): the 19 are of objects that are not being deleted.
 */
const CHUNK = 8184;
const STEP = 4;
const RELEVANT_EVERY = 20;
const GOOD = 4;
const GREAT = 8;

interface Options {
  readonly objects: number;
}

export const run: Benchmark = async ({ smoke }) => {
  const objects = (smoke ? 4 : 120) * CHUNK;
  const steps = smoke ? 2 : 30;
  const ours = new Side(import.meta.url, 'product', { objects });
  const theirs = new Side(import.meta.url, 'baseline', { objects });
  const cpu = { ours: 0, theirs: 0 };
  const ratios: number[] = [];
  for (let step = 0; step < steps; step++) {
    const product = await ours.step(step);
    const baseline = await theirs.step(step);
    if (product.report['deleting'] !== baseline.report['deleting'])
      throw new Error('the two noticed different deletions');
    cpu.ours += product.cpu;
    cpu.theirs += baseline.cpu;
    ratios.push(baseline.cpu / product.cpu);
  }
  await Promise.all([ours.stop(), theirs.stop()]);
  const ratio = median(ratios);
  const updates = steps * STEP * CHUNK;
  const result: BenchResult = {
    id: 'P02',
    workload: `${updates.toLocaleString('en')} MODIFIED of ${objects.toLocaleString('en')} objects in random order, 95% irrelevant`,
    metric: 'events/s CPU',
    value: updates / (cpu.ours / 1e6),
    baseline: { what: 'JSON.parse and Map/Set', value: updates / (cpu.theirs / 1e6) },
    ratio,
    level: levelOf(ratio, { good: GOOD, great: GREAT, better: 'more' }),
    demands: { good: `>= ${GOOD}x`, great: `>= ${GREAT}x` },
  };
  return [result];
};

class Updates implements Stepper {
  readonly #stream: Stream;
  readonly #options: UpdatesOptions;
  readonly #template: WatchTemplate;
  readonly #chunks: readonly Chunk[];
  /** 1 at the number of an object that is being deleted. */
  readonly #isDeleting: Uint8Array;
  #random = 1;

  constructor(stream: Stream, options: UpdatesOptions) {
    this.#stream = stream;
    this.#options = options;
    const { objects, wire } = options;
    this.#isDeleting = new Uint8Array(objects);
    const common = { uids: randomUids(objects), withManagedFields: false, wire, size: CHUNK };
    this.#template = new WatchTemplate({
      ...common,
      type: 'MODIFIED',
      resourceVersion: 500,
      deletedEvery: RELEVANT_EVERY,
    });
    this.#chunks = Array.from({ length: STEP }, () => this.#template.chunk());
    const first = new WatchTemplate({ ...common, type: 'ADDED', resourceVersion: 0 });
    const chunk = first.chunk();
    for (let from = 0; from < objects; from += CHUNK) {
      for (let place = 0; place < CHUNK; place++) chunk.objects[place] = from + place;
      first.write(chunk);
      stream.consume(chunk);
    }
  }

  prepare(): void {
    for (const chunk of this.#chunks) {
      for (let place = 0; place < CHUNK; place++) {
        let object = this.#anyOf(place);
        if (place % RELEVANT_EVERY === 0) this.#isDeleting[object] = 1;
        else while (this.#isDeleting[object] === 1) object = this.#anyOf(place);
        chunk.objects[place] = object;
      }
      this.#template.write(chunk);
    }
  }

  /** Returns an object of a random tree, of the kind that the place has. */
  #anyOf(place: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return ((this.#random >>> 8) % (this.#options.objects / TREE)) * TREE + (place % TREE);
  }

  work(): void {
    for (const chunk of this.#chunks) this.#stream.consume(chunk);
  }

  report(): Record<string, number> {
    return { deleting: this.#options.deleting() };
  }
}

interface UpdatesOptions extends Options {
  readonly wire: Wire;
  /** How many objects are known to be terminating. */
  readonly deleting: () => number;
}

export const sides = {
  product: (options: Options) => {
    const stream = new ProductStream();
    const { graph } = stream;
    const deleting = (): number => {
      let count = 0;
      graph.forEachNode((id) => (count += graph.isBeingDeleted(id) ? 1 : 0));
      return count;
    };
    return new Updates(stream, { ...options, wire: 'frames', deleting });
  },
  baseline: (options: Options) => {
    const stream = new BaselineStream();
    const deleting = (): number => [...stream.graph.nodes.values()].filter(({ beingDeleted }) => beingDeleted).length;
    return new Updates(stream, { ...options, wire: 'lines', deleting });
  },
};
