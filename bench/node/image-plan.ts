import { fromBinary } from '@bufbuild/protobuf';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { defaultConfiguration } from '../../src/nodegc/config/node-configuration.ts';
import { ContainerManager } from '../../src/nodegc/containers/container-manager.ts';
import { listedContainers, listedImages } from '../../src/nodegc/cri/listed-items.ts';
import { ItemsSchema } from '../../src/nodegc/cri/lists.generated.ts';
import { ImageManager } from '../../src/nodegc/images/image-manager.ts';
import { SimulatedNode } from '../../src/nodegc/testing/simulated-node.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { type NodeLists, nodeLists } from './node-lists.ts';

/**
 * P17: answers of a runtime with 10,000 images, 2,000 of them in use, as bytes; from there to the plan that frees 30 % of the disk:
 * decoded, brought into the records, protected, chosen. And the plan over 1,000 containers, half of them dead. The socket is not measured.
 */
export const run: Benchmark = async ({ smoke }) => {
  const rounds = smoke ? 3 : 41;
  const count = smoke ? 1000 : 10_000;
  const lists = nodeLists(count, count / 5, (n) => n % 10 === 0);
  const capacity = lists.sizes.reduce((sum, size) => sum + size, 0n);
  const images = new Listing(lists);
  const clock = new FakeClock();
  clock.advance(Number(lists.now / 1_000_000n));
  const manager = new ImageManager({
    runtime: images,
    configuration: { ...defaultConfiguration, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 60 },
    clock,
    // 90 % used: 30 % have to be freed.
    readDisk: () => Promise.resolve({ capacity, available: capacity / 10n, inodes: 0n, inodesFree: 0n }),
    memory: lists.memory,
  });
  const cost = { plan: [] as number[], sort: [] as number[], pass: [] as number[], passSort: [] as number[] };
  const used = new Set(lists.ids.slice(0, count / 5));
  for (let round = 0; round < rounds; round++) {
    cost.plan.push(
      await cpuMs(async () => {
        const { inventory, result } = await manager.plan('garbageCollect');
        const freed = result.removed.reduce((sum, { bytes }) => sum + bytes, 0n);
        if (inventory.size !== count || freed < (capacity * 3n) / 10n || result.outcome !== 'success')
          throw new Error(`the plan frees ${freed} bytes of ${inventory.size} images`);
        if (result.removed.some(({ record }) => used.has(record.key))) throw new Error('an image in use would go');
      }),
    );
    cost.sort.push(await cpuMs(() => void sorted(lists)));
  }

  const dead = nodeLists(1000, 1000, (n) => n % 2 === 0);
  const containers = new ContainerManager({
    runtime: new Listing(dead),
    files: new SimulatedNode(),
    configuration: {
      ...defaultConfiguration,
      containerGC: { ...defaultConfiguration.containerGC, maxContainers: 100 },
    },
    clock,
    knownPods: () => undefined,
  });
  for (let round = 0; round < rounds; round++) {
    cost.pass.push(
      await cpuMs(async () => {
        const plan = await containers.plan();
        if (plan.containers.length !== 400) throw new Error(`${plan.containers.length} of 500 would go`);
      }),
    );
    cost.passSort.push(await cpuMs(() => void sorted(dead)));
  }
  return [
    result('P17', `${count} images, ${count / 5} in use, free 30 %`, median(cost.plan), median(cost.sort)),
    result('P17 (containers)', '1,000 containers, 500 dead, 100 may stay', median(cost.pass), median(cost.passSort)),
  ];
};

/** A runtime whose lists are always the same bytes. */
class Listing extends SimulatedNode {
  readonly #lists: NodeLists;
  readonly #images = listedImages();
  readonly #containers = listedContainers();

  constructor(lists: NodeLists) {
    super();
    this.#lists = lists;
  }

  override listImages(): ReturnType<SimulatedNode['listImages']> {
    return Promise.resolve(this.#images.read(fromBinary(ItemsSchema, this.#lists.images).items));
  }

  override listContainers(): ReturnType<SimulatedNode['listContainers']> {
    return Promise.resolve(this.#containers.read(fromBinary(ItemsSchema, this.#lists.containers).items));
  }

  override containerStatus(): ReturnType<SimulatedNode['containerStatus']> {
    return Promise.resolve({ state: 'running', finishedAt: 0n, logPath: '', volumeImages: [] });
  }
}

/** Sorts by the last use, which no planner can do without. */
function sorted({ ids, memory }: NodeLists): readonly string[] {
  const times = ids.map((id) => ({ id, lastUsed: memory.get(id)!.lastUsed ?? 0n }));
  times.sort((a, b) => (a.lastUsed < b.lastUsed ? -1 : a.lastUsed > b.lastUsed ? 1 : 0));
  return times.map(({ id }) => id);
}

async function cpuMs(work: () => Promise<void> | void): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function result(id: string, workload: string, value: number, baseline: number): BenchResult {
  return {
    id,
    workload,
    metric: 'ms CPU, from bytes to the plan',
    value,
    baseline: { what: 'sorting them by their last use, and nothing else', value: baseline },
    ratio: baseline / value,
    level: levelOf(value, { good: 20, great: 5, better: 'less' }),
    demands: { good: '<= 20 ms', great: '<= 5 ms' },
  };
}
