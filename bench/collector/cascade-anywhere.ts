import { systemClock } from '../../src/base/clock.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { loadClientConfig } from '../../src/client/client-config.ts';
import { connect } from '../../src/client/connect.ts';
import type { ResourceRef } from '../../src/client/resource-path.ts';
import { RestClient } from '../../src/client/rest-client.ts';
import { systemKubeconfigIo } from '../../src/cli/system-kubeconfig-io.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { CollectProcess } from './collect-process.ts';

/**
 * P05: cascades collected by `kubegc collect` over the network, against any API server that has no other collector:
 *
 *   BENCH_KUBECONFIG=~/.kube/config npm run bench -- P05
 *
 * Without the variable it is the embedded server on the memory store. Everything is created in a namespace of its own. The baseline
 * deletes as many objects by a bare loop on the same server, with as many calls under way as the collector has workers. Both take turns:
 * a cascade is compared with the loops before and after it. Medians are reported, with the ratio of each round; those of the first rounds,
 * in which V8 still compiles what the scenario needs, are printed before the others, and not counted. What others notice is measured with
 * a server and a collector started as docs/collect.md recommends for that.
 */
const IN_FLIGHT = 20;
const COLD_ROUNDS = 3;
const ROUNDS = 5;
/** For so long a cascade that one in a hundred of the writes beside it is several of them. */
const BESIDE_OTHERS = 30_000;
const NAMESPACE = 'kubegc-bench';

interface Rounds {
  readonly cold: number;
  readonly counted: number;
}

interface Scenario {
  readonly what: string;
  readonly prepare: (cluster: BenchCluster) => Promise<Prepared>;
}

/** Objects that were created, how their deletion begins, how many objects that deletes, and how many are left to the collector. */
interface Prepared {
  readonly begin: () => Promise<void>;
  readonly begun: number;
  readonly collected: number;
  /** Of those begun, the ones that wait until the collector has taken their finalizer away; 0 unless given. */
  readonly waiting?: number;
}

export const run: Benchmark = async ({ smoke }) => {
  const scale = smoke ? 0.005 : Number(process.env['BENCH_SCALE'] ?? 1);
  const size = (full: number): number => Math.max(4, Math.round(full * scale));
  const rounds: Rounds = smoke ? { cold: 1, counted: 1 } : { cold: COLD_ROUNDS, counted: ROUNDS };
  const results = await onCluster(AS_INSTALLED, async (cluster, collector) => {
    const rows: BenchResult[] = [];
    for (const scenario of scenariosOf(size)) {
      rows.push(await measure(cluster, collector, scenario, { loop: size(5000), rounds }));
    }
    return rows;
  });
  const beside: Beside = { leaves: size(BESIDE_OTHERS), writes: size(2000), rounds };
  results.push(await onCluster(SHARING_CORES, (cluster, collector) => neighbours(cluster, collector, beside)));
  return results;
};

interface Installation {
  /** Of the embedded server. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the collector. */
  readonly niceness: number;
  /** Calls of the collector at once. */
  readonly workers: number;
}

const AS_INSTALLED: Installation = { env: {}, niceness: 0, workers: IN_FLIGHT };
/** What docs/collect.md and docs/up.md recommend where collector, server and clients share a few cores. */
const SHARING_CORES: Installation = {
  env: { NODE_OPTIONS: '--max-semi-space-size=4 --v8-pool-size=1' },
  niceness: 10,
  workers: 2,
};

/** The given API server, or an embedded one for this work, with a collector. */
async function onCluster<T>(
  { env, niceness, workers }: Installation,
  work: (cluster: BenchCluster, collector: CollectProcess) => Promise<T>,
): Promise<T> {
  const given = process.env['BENCH_KUBECONFIG'];
  const server =
    given === undefined
      ? new ServerProcess({ args: ['--controllers', 'namespace-controller', '--store', 'memory'], env })
      : undefined;
  await server?.ready;
  const kubeconfig = given ?? server!.kubeconfig;
  const cluster = await BenchCluster.open(kubeconfig);
  const args = ['--mode', 'collect', '--concurrent-gc-syncs', String(workers)];
  const collector = new CollectProcess(kubeconfig, args, { niceness });
  try {
    await collector.ready;
    return await work(cluster, collector);
  } finally {
    await collector.stop();
    await cluster.close();
    await server?.stop();
  }
}

function scenariosOf(size: (full: number) => number): Scenario[] {
  const underOne =
    (count: number, policy: string, block: boolean): Scenario['prepare'] =>
    async (cluster) => {
      const root = await cluster.create('root', []);
      await cluster.createMany(count, (n) => ({ name: `leaf-${n}`, owners: [root], block }));
      return { begin: () => cluster.delete('root', policy), begun: 1, collected: count };
    };
  return [
    { what: 'background, one owner', prepare: underOne(size(10_000), 'Background', false) },
    { what: 'foreground, one owner', prepare: underOne(size(5000), 'Foreground', true) },
    { what: 'many owners of two', prepare: families({ owners: size(3000), of: 2, policy: 'Background' }) },
    { what: 'foreground, owners of three', prepare: families({ owners: size(1500), of: 3, policy: 'Foreground' }) },
    {
      what: 'three levels',
      prepare: async (cluster) => {
        const root = await cluster.create('root', []);
        const middle = await cluster.createMany(size(900), (n) => ({
          name: `middle-${n}`,
          owners: [root],
          block: true,
        }));
        const leaves = await cluster.createMany(size(9000), (n) => ({
          name: `leaf-${n}`,
          owners: [middle[n % middle.length]!],
          block: true,
        }));
        const collected = middle.length + leaves.length;
        return { begin: () => cluster.delete('root', 'Background'), begun: 1, collected };
      },
    },
  ];
}

interface Families {
  readonly owners: number;
  /** Dependents of each. */
  readonly of: number;
  readonly policy: 'Background' | 'Foreground';
}

function families({ owners: count, of, policy }: Families): Scenario['prepare'] {
  const block = policy === 'Foreground';
  return async (cluster) => {
    const owners = await cluster.createMany(count, (n) => ({ name: `owner-${n}`, owners: [], block: false }));
    const owned = (n: number) => ({ name: `leaf-${n}`, owners: [owners[n % count]!], block });
    await cluster.createMany(count * of, owned);
    const begin = (): Promise<void> => cluster.each(count, (n) => cluster.delete(`owner-${n}`, policy));
    return { begin, begun: count, collected: count * of, waiting: block ? count : 0 };
  };
}

async function measure(
  cluster: BenchCluster,
  collector: CollectProcess,
  { what, prepare }: Scenario,
  { loop, rounds }: { readonly loop: number; readonly rounds: Rounds },
): Promise<BenchResult> {
  const turns: { collected: number; each: number; rate: number }[] = [];
  const others = await cluster.count();
  // One before each cascade and one after the last, so that each stands between two of them.
  const bare: number[] = [await bareLoop(cluster, loop)];
  for (let round = 0; round < rounds.cold + rounds.counted; round++) {
    const { begin, begun, collected, waiting = 0 } = await prepare(cluster);
    await cluster.settled(collector, collected);
    const before = await callsOf(collector);
    const took = await seconds(async () => {
      await begin();
      await cluster.gone(others);
    });
    const calls = (await callsOf(collector)) - before;
    // The server carries out those of the client and of the collector at the same time.
    turns.push({
      collected,
      each: calls / (collected + waiting),
      rate: (begun + collected + waiting) / took,
    });
    bare.push(await bareLoop(cluster, loop));
  }
  const each = Math.max(...turns.map((turn) => turn.each));
  const ratios = turns.map(({ rate }, round) => (2 * rate) / (bare[round]! + bare[round + 1]!));
  const counted = turns.slice(rounds.cold);
  const ratio = median(ratios.slice(rounds.cold));
  const enough = each <= 1.02 ? 'great' : each <= 1.1 ? 'good' : 'below';
  const fast = levelOf(ratio, { good: 0.6, great: 0.75, better: 'more' });
  return {
    id: `P05 (${what})`,
    workload: `${turns[0]?.collected} objects, ${rounds.counted} rounds; at most ${each.toFixed(3)} requests an object`,
    metric: `writes/s, of owners too (${each.toFixed(3)} requests an object; ${everyRound(ratios, rounds)})`,
    value: median(counted.map(({ rate }) => rate)),
    baseline: {
      what: `a bare DELETE loop with ${IN_FLIGHT} in flight`,
      value: median(bare.slice(rounds.cold)),
    },
    ratio,
    level: enough === 'below' || fast === 'below' ? 'below' : enough === 'good' ? 'good' : fast,
    demands: { good: '>= 0.6x, <= 1.10 requests', great: '>= 0.75x, <= 1.02 requests' },
  };
}

/** Deletions a second of so many objects that nobody owns. */
async function bareLoop(cluster: BenchCluster, objects: number): Promise<number> {
  await cluster.createMany(objects, (n) => ({ name: `bare-${n}`, owners: [], block: false }));
  return objects / (await seconds(() => cluster.each(objects, (n) => cluster.delete(`bare-${n}`, 'Background'))));
}

interface Beside {
  readonly leaves: number;
  /** Of the quiet phase, which takes 5 ms for each. */
  readonly writes: number;
  readonly rounds: Rounds;
}

/** What others notice: the 99th percentile of 200 writes a second by a hundred clients, quiet and during a cascade. */
async function neighbours(
  cluster: BenchCluster,
  collector: CollectProcess,
  { leaves, writes, rounds }: Beside,
): Promise<BenchResult> {
  const turns: { quiet: number; during: number; rate: number }[] = [];
  await cluster.createMany(100, (n) => ({ name: `other-${n}`, owners: [], block: false }));
  const others = await cluster.count();
  for (let round = 0; round < rounds.cold + rounds.counted; round++) {
    const quiet = percentile99(await cluster.writes(writes));
    const root = await cluster.create('root', []);
    await cluster.createMany(leaves, (n) => ({ name: `leaf-${n}`, owners: [root], block: false }));
    await cluster.settled(collector, leaves);
    const stop = { done: false };
    const busy = cluster.writes(Number.POSITIVE_INFINITY, () => stop.done);
    const took = await seconds(async () => {
      await cluster.delete('root', 'Background');
      await cluster.gone(others);
    });
    stop.done = true;
    turns.push({ quiet, during: percentile99(await busy), rate: leaves / took });
  }
  await cluster.each(100, (n) => cluster.delete(`other-${n}`, 'Background'));
  const ratios = turns.map(({ quiet, during }) => during / quiet);
  const counted = turns.slice(rounds.cold);
  const ratio = median(ratios.slice(rounds.cold));
  const rate = Math.round(median(counted.map((turn) => turn.rate))).toLocaleString('en');
  return {
    id: 'P05 (others)',
    workload: `200 writes a second by others during a cascade of ${leaves} objects, ${rounds.counted} rounds`,
    metric: `ms p99 of the others, beside ${rate} deletions/s (${everyRound(ratios, rounds)})`,
    value: median(counted.map(({ during }) => during)),
    baseline: { what: 'their p99 without a cascade', value: median(counted.map(({ quiet }) => quiet)) },
    ratio,
    level: levelOf(ratio, { good: 4, great: 2, better: 'less' }),
    demands: { good: '<= 4x', great: '<= 2x' },
  };
}

interface Wanted {
  readonly name: string;
  readonly owners: readonly KubeObject[];
  readonly block: boolean;
}

/** ConfigMaps in one namespace, through the product's own client. */
class BenchCluster {
  readonly #client: RestClient;

  private constructor(client: RestClient) {
    this.#client = client;
  }

  static async open(kubeconfig: string): Promise<BenchCluster> {
    const config = await loadClientConfig({ io: systemKubeconfigIo, clock: systemClock, path: kubeconfig });
    const transport = connect({ ...config, clock: systemClock });
    const cluster = new BenchCluster(new RestClient({ transport, clock: systemClock, userAgent: 'kubegc-bench' }));
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    const namespaces = { gvr: { group: '', version: 'v1', resource: 'namespaces' } };
    await cluster.#client.create(namespaces, namespace).catch((error: unknown) => {
      if (!String(error).includes('already exists')) throw error;
    });
    return cluster;
  }

  create(name: string, owners: readonly KubeObject[], block = false): Promise<KubeObject> {
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata?.name,
      uid: metadata?.uid,
      ...(block ? { blockOwnerDeletion: true } : {}),
    }));
    return this.#client.create(refTo(), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ownerReferences },
    });
  }

  async createMany(count: number, wanted: (n: number) => Wanted): Promise<KubeObject[]> {
    const made: KubeObject[] = Array.from({ length: count });
    await this.each(count, async (n) => {
      const { name, owners, block } = wanted(n);
      made[n] = await this.create(name, owners, block);
    });
    return made;
  }

  async delete(name: string, propagationPolicy: string): Promise<void> {
    await this.#client.delete(refTo(name), { propagationPolicy });
  }

  async each(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < count) await work(next++);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  }

  /** Objects there are. One is asked for: a page of them would hold up what is measured. */
  async count(): Promise<number> {
    const { items, metadata } = await this.#client.list(refTo(), { query: { limit: 1 } });
    return items.length + (metadata.remainingItemCount ?? 0);
  }

  /** Until only so many are left. Asks the more often the closer it is, so that the end is not missed by more than a millisecond or two. */
  async gone(others: number): Promise<void> {
    for (let left = await this.count(); left > others; left = await this.count()) {
      await pause(Math.min(20, Math.max(1, (left - others) / 50)));
    }
  }

  /** The collector has seen all that is to go. */
  async settled(collector: CollectProcess, objects: number): Promise<void> {
    for (;;) {
      if ((await collector.metric('kubegc_collector_graph_nodes', 'state="observed"')) > objects) return pause(500);
      await pause(50);
    }
  }

  /** Milliseconds of patches, 200 a second on schedule, until there are so many or it is enough. */
  async writes(count: number, enough: () => boolean = () => false): Promise<number[]> {
    const times: number[] = [];
    const under: Promise<void>[] = [];
    const began = performance.now();
    for (let n = 0; n < count && !enough(); n++) {
      const due = began + n * 5;
      const wait = due - performance.now();
      if (wait > 0) await pause(wait);
      const body = { metadata: { annotations: { turn: String(n) } } };
      const write = this.#client.patch(refTo(`other-${n % 100}`), { type: 'application/merge-patch+json', body });
      under.push(write.then(() => void times.push(performance.now() - due)));
    }
    await Promise.all(under);
    return times;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

function refTo(name?: string): ResourceRef {
  const gvr = { group: '', version: 'v1', resource: 'configmaps' };
  return { gvr, namespace: NAMESPACE, ...(name === undefined ? {} : { name }) };
}

/** All of its requests, also those for discovery and watches. */
function callsOf(collector: CollectProcess): Promise<number> {
  return collector.metric('rest_client_requests_total');
}

function everyRound(ratios: readonly number[], { cold }: Rounds): string {
  const times = ratios.map((ratio) => `${ratio.toFixed(2)}x`);
  return `cold ${times.slice(0, cold).join(' ')}, rounds ${times.slice(cold).join(' ')}`;
}

function percentile99(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? Number.NaN;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
