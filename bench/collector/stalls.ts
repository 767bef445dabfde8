import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { type Benchmark, type BenchResult, levelOf } from '../result.ts';
import { Side, type Stepper } from './side.ts';
import { BaselineStream, ProductStream, type Stream } from './streams.ts';
import { randomUids, TREE, WatchTemplate, type Chunk, type Wire } from './trees.ts';

/**
 * P16: how long the event loop stands still while a million objects are held and 5,000 writes a second or more arrive, in batches every 10
 * ms, a full collection (which V8 would make some time) among them. A thread that does nothing measures beside it how long the machine
 * itself stands still.
 */
const CHUNK = 8184;
const GOOD = 50;
const GREAT = 15;
const LEAST_WRITES = 5000;
/** More than those, so that a timer that is late by a millisecond each time brings no fewer. */
const BATCH = 5 * TREE;
const INTERVAL_MS = 10;

const FIGURES = [
  ['max', 'P16', 'ms event-loop delay, max'],
  ['p999', 'P16 (p99.9)', 'ms event-loop delay, p99.9'],
  ['turn', 'P16 (turn)', 'ms CPU of the longest turn'],
] as const;

interface Options {
  readonly objects: number;
  readonly seconds: number;
}

export const run: Benchmark = async ({ smoke }) => {
  const options: Options = { objects: (smoke ? 4 : 120) * CHUNK, seconds: smoke ? 1 : 10 };
  const ours = new Side(import.meta.url, 'product', options);
  const product = (await ours.step(0)).report;
  await ours.stop();
  const theirs = new Side(import.meta.url, 'baseline', options);
  const baseline = (await theirs.step(0)).report;
  await theirs.stop();
  const perSecond = product['writes']!;
  if (!smoke && perSecond < LEAST_WRITES) throw new Error(`only ${Math.round(perSecond)} writes a second arrived`);
  return FIGURES.map(([figure, id, metric]): BenchResult => {
    const value = product[figure]!;
    const idle = product[`idle-${figure}`];
    const writes = Math.round(perSecond).toLocaleString('en');
    return {
      id,
      workload: `${options.objects.toLocaleString('en')} objects held, ${writes} writes/s for ${options.seconds} s${idle === undefined ? '' : `; idle thread beside it: ${idle.toFixed(1)} ms`}`,
      metric,
      value,
      baseline: { what: 'objects and Map/Set', value: baseline[figure]! },
      ratio: baseline[figure]! / value,
      level: levelOf(value, { good: GOOD, great: GREAT, better: 'less' }),
      demands: { good: `<= ${GOOD} ms max`, great: `<= ${GREAT} ms max` },
    };
  });
};

/** Posts its delays after as many milliseconds as it is given. */
const idleThread = `
const { parentPort, workerData } = require('node:worker_threads');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const timer = setInterval(() => {}, ${INTERVAL_MS});
setTimeout(() => { clearInterval(timer); parentPort.postMessage([delay.max, delay.percentile(99.9)]); }, workerData);
`;

class Stalls implements Stepper {
  readonly #stream: Stream;
  readonly #options: Options;
  readonly #writes: WatchTemplate;
  #measured: Record<string, number> = {};

  constructor(stream: Stream, wire: Wire, options: Options) {
    this.#stream = stream;
    this.#options = options;
    const { objects } = options;
    const common = { uids: randomUids(objects), withManagedFields: false, wire, resourceVersion: 0 };
    const all = new WatchTemplate({ ...common, type: 'ADDED', size: CHUNK });
    const chunk = all.chunk();
    for (let from = 0; from < objects; from += CHUNK) {
      for (let place = 0; place < CHUNK; place++) chunk.objects[place] = from + place;
      all.write(chunk);
      stream.consume(chunk);
    }
    this.#writes = new WatchTemplate({
      ...common,
      type: 'MODIFIED',
      resourceVersion: 500,
      size: BATCH,
      deletedEvery: 16,
    });
  }

  prepare(): void {
    for (let i = 0; i < 3; i++) globalThis.gc?.();
  }

  async work(): Promise<void> {
    const { objects, seconds } = this.#options;
    const chunk: Chunk = this.#writes.chunk();
    const idle = new Worker(idleThread, { eval: true, workerData: seconds * 1000 });
    const idleDelays = new Promise<number[]>((settle) => idle.once('message', settle));
    await new Promise((settle) => idle.once('online', settle));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    let random = 1;
    /** CPU of one turn, ms: what a stall would be if nobody else wanted the machine. */
    let longest = 0;
    const batches = (seconds * 1000) / INTERVAL_MS;
    const began = performance.now();
    await new Promise<void>((settle) => {
      let batch = 0;
      const timer = setInterval(() => {
        const cpu = process.cpuUsage();
        for (let place = 0; place < BATCH; place++) {
          random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
          chunk.objects[place] = ((random >>> 8) % (objects / TREE)) * TREE + (place % TREE);
        }
        this.#writes.write(chunk);
        this.#stream.consume(chunk);
        if (batch === batches >> 1) globalThis.gc?.();
        const { user, system } = process.cpuUsage(cpu);
        longest = Math.max(longest, (user + system) / 1000);
        if (++batch < batches) return;
        clearInterval(timer);
        settle();
      }, INTERVAL_MS);
    });
    delay.disable();
    const writes = (batches * BATCH * 1000) / (performance.now() - began);
    const [idleMax = 0, idleP999 = 0] = await idleDelays;
    this.#measured = {
      max: delay.max / 1e6,
      p999: delay.percentile(99.9) / 1e6,
      turn: longest,
      writes,
      'idle-max': idleMax / 1e6,
      'idle-p999': idleP999 / 1e6,
    };
  }

  report(): Record<string, number> {
    return this.#measured;
  }
}

export const sides = {
  // Without queues: the keys that were queued for a million objects are done before the time at which the objects are only held.
  product: (options: Options) => new Stalls(new ProductStream({ queues: false }), 'frames', options),
  baseline: (options: Options) => new Stalls(new BaselineStream(), 'lines', options),
};
