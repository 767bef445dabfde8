import type { PropagationPolicy } from '../../src/client/rest/delete-options.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { BenchCluster, type BenchKind, CONFIG_MAP, DEPLOYMENT, POD, REPLICA_SET } from './bench-cluster.ts';
import { CollectProcess } from './collect-process.ts';
import { OtherClients } from './other-clients.ts';

/**
 * P05: cascades collected by `kubegc collect` over the network, against any API server that has no other collector:
 *
 *   BENCH_KUBECONFIG=~/.kube/config npm run bench -- P05
 *
 * Without the variable it is the embedded server on the memory store. Everything is created in a namespace of its own. The baseline deletes
 * objects of the kind that most of the cascade are of by a bare loop on the same server, with as many calls under way as the collector has
 * workers. Both take turns: a cascade is compared with the loops before and after it. Medians are reported, with the ratio of each round;
 * those of the first rounds, in which V8 still compiles what the scenario needs, are printed before the others, and not counted. The effect
 * on other clients is measured with a server and a collector started as docs/collect.md recommends for that.
 */
const IN_FLIGHT = 20;
const COLD_ROUNDS = 3;
const ROUNDS = 5;
/** For so long a cascade that one in a hundred of the writes beside it is several of them. */
const BESIDE_OTHERS = 30_000;
/** The gauge of the collector with the number of objects that it has seen and whose deletion it has not seen. */
const KNOWN = ['kubegc_collector_graph_nodes', 'state="observed"'] as const;
const SETTLED_WITHIN_MS = 60_000;

interface Rounds {
  readonly cold: number;
  readonly counted: number;
}

interface Scenario {
  readonly what: string;
  /** Kinds of its objects; most objects are of the first kind, and all objects of the bare loop are. */
  readonly kinds: readonly [BenchKind, ...BenchKind[]];
  readonly prepare: (cluster: BenchCluster) => Promise<Prepared>;
}

/** Objects that were created, how their deletion begins, how many objects that deletes, and how many are left to the collector. */
interface Prepared {
  readonly begin: () => Promise<void>;
  readonly begun: number;
  readonly collected: number;
  /** How many of `begun` wait until the collector has removed their finalizer; 0 unless given. */
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
  /** Environment of the embedded server. */
  readonly env: Readonly<Record<string, string>>;
  /** Niceness of the collector. */
  readonly niceness: number;
  /** Calls of the collector at once. */
  readonly workers: number;
}

const AS_INSTALLED: Installation = { env: {}, niceness: 0, workers: IN_FLIGHT };
/** The settings that docs/collect.md and docs/up.md recommend where collector, server and clients share a few cores. */
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
  const cluster = await BenchCluster.open(kubeconfig, IN_FLIGHT);
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

const CONFIG_MAPS = [CONFIG_MAP] as const;

function scenariosOf(size: (full: number) => number): Scenario[] {
  const underOne =
    (count: number, policy: PropagationPolicy, block: boolean): Scenario['prepare'] =>
    async (cluster) => {
      const root = await cluster.create({ of: CONFIG_MAP, name: 'root' });
      await cluster.createMany(count, (n) => ({ of: CONFIG_MAP, name: `leaf-${n}`, owners: [root], block }));
      return { begin: () => cluster.delete(CONFIG_MAP, 'root', policy), begun: 1, collected: count };
    };
  return [
    {
      what: 'background, one owner',
      kinds: CONFIG_MAPS,
      prepare: underOne(size(10_000), 'Background', false),
    },
    {
      what: 'foreground, one owner',
      kinds: CONFIG_MAPS,
      prepare: underOne(size(5000), 'Foreground', true),
    },
    {
      what: 'many owners of two',
      kinds: CONFIG_MAPS,
      prepare: families({ owners: size(3000), of: 2, policy: 'Background' }),
    },
    {
      what: 'foreground, owners of three',
      kinds: CONFIG_MAPS,
      prepare: families({ owners: size(1500), of: 3, policy: 'Foreground' }),
    },
    {
      what: 'Deployment, ReplicaSets, Pods',
      kinds: [POD, REPLICA_SET, DEPLOYMENT],
      prepare: threeLevels({ sets: size(900), pods: size(9000) }),
    },
  ];
}

function threeLevels({ sets, pods }: { readonly sets: number; readonly pods: number }): Scenario['prepare'] {
  return async (cluster) => {
    const root = await cluster.create({ of: DEPLOYMENT, name: 'root' });
    const made = await cluster.createMany(sets, (n) => ({
      of: REPLICA_SET,
      name: `middle-${n}`,
      owners: [root],
      block: true,
    }));
    await cluster.createMany(pods, (n) => ({ of: POD, name: `leaf-${n}`, owners: [made[n % sets]!], block: true }));
    return { begin: () => cluster.delete(DEPLOYMENT, 'root', 'Background'), begun: 1, collected: sets + pods };
  };
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
    const owners = await cluster.createMany(count, (n) => ({ of: CONFIG_MAP, name: `owner-${n}` }));
    await cluster.createMany(count * of, (n) => ({
      of: CONFIG_MAP,
      name: `leaf-${n}`,
      owners: [owners[n % count]!],
      block,
    }));
    const begin = (): Promise<void> => cluster.each(count, (n) => cluster.delete(CONFIG_MAP, `owner-${n}`, policy));
    return { begin, begun: count, collected: count * of, waiting: block ? count : 0 };
  };
}

async function measure(
  cluster: BenchCluster,
  collector: CollectProcess,
  { what, kinds, prepare }: Scenario,
  { loop, rounds }: { readonly loop: number; readonly rounds: Rounds },
): Promise<BenchResult> {
  const turns: { collected: number; each: number; rate: number }[] = [];
  const others = await cluster.count(kinds);
  const [most] = kinds;
  // One before each cascade and one after the last, so that each stands between two of them.
  const bare: number[] = [await bareLoop(cluster, most, loop)];
  for (let round = 0; round < rounds.cold + rounds.counted; round++) {
    const known = await knownAtRest(collector);
    const { begin, begun, collected, waiting = 0 } = await prepare(cluster);
    await settled(collector, known + begun + collected);
    const before = await callsOf(collector);
    const took = await seconds(async () => {
      await begin();
      await cluster.gone(kinds, others);
    });
    const calls = (await callsOf(collector)) - before;
    if (calls < collected)
      throw new Error(`the collector made ${calls} requests for ${collected} objects: who else did?`);
    // The server carries out those of the client and of the collector at the same time.
    turns.push({
      collected,
      each: calls / (collected + waiting),
      rate: (begun + collected + waiting) / took,
    });
    bare.push(await bareLoop(cluster, most, loop));
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
      what: `a bare DELETE loop over ${most.kind}s with ${IN_FLIGHT} in flight`,
      value: median(bare.slice(rounds.cold)),
    },
    ratio,
    level: enough === 'below' || fast === 'below' ? 'below' : enough === 'good' ? 'good' : fast,
    demands: { good: '>= 0.6x, <= 1.10 requests', great: '>= 0.75x, <= 1.02 requests' },
  };
}

/** Deletions a second of so many objects that nobody owns. */
async function bareLoop(cluster: BenchCluster, of: BenchKind, objects: number): Promise<number> {
  await cluster.createMany(objects, (n) => ({ of, name: `bare-${n}` }));
  return objects / (await seconds(() => cluster.each(objects, (n) => cluster.delete(of, `bare-${n}`, 'Background'))));
}

interface Beside {
  readonly leaves: number;
  /** Writes of the quiet phase, which takes 5 ms for each. */
  readonly writes: number;
  readonly rounds: Rounds;
}

/** Measures the latency that other clients see: the 99th percentile of 200 writes a second by a hundred clients, quiet and during a cascade. */
async function neighbours(
  cluster: BenchCluster,
  collector: CollectProcess,
  { leaves, writes, rounds }: Beside,
): Promise<BenchResult> {
  const turns: { quiet: number; during: number; rate: number }[] = [];
  const clients = await OtherClients.open(cluster);
  const others = await cluster.count(CONFIG_MAPS);
  for (let round = 0; round < rounds.cold + rounds.counted; round++) {
    const quiet = percentile99(await clients.writes(writes));
    const known = await knownAtRest(collector);
    const root = await cluster.create({ of: CONFIG_MAP, name: 'root' });
    await cluster.createMany(leaves, (n) => ({ of: CONFIG_MAP, name: `leaf-${n}`, owners: [root] }));
    await settled(collector, known + 1 + leaves);
    const stop = { done: false };
    const busy = clients.writes(Number.POSITIVE_INFINITY, () => stop.done);
    const took = await seconds(async () => {
      await cluster.delete(CONFIG_MAP, 'root', 'Background');
      await cluster.gone(CONFIG_MAPS, others);
    });
    stop.done = true;
    turns.push({ quiet, during: percentile99(await busy), rate: leaves / took });
  }
  await clients.close();
  const ratios = turns.map(({ quiet, during }) => during / quiet);
  const counted = turns.slice(rounds.cold);
  const ratio = median(ratios.slice(rounds.cold));
  const rate = Math.round(median(counted.map((turn) => turn.rate))).toLocaleString('en');
  return {
    id: 'P05 (others)',
    workload: `200 writes a second by 100 other clients${clients.wereFirst ? ', first in line for a core,' : ''} during a cascade of ${leaves} objects, ${rounds.counted} rounds`,
    metric: `ms p99 of the others, beside ${rate} deletions/s (${everyRound(ratios, rounds)})`,
    value: median(counted.map(({ during }) => during)),
    baseline: { what: 'their p99 without a cascade', value: median(counted.map(({ quiet }) => quiet)) },
    ratio,
    level: levelOf(ratio, { good: 4, great: 2, better: 'less' }),
    demands: { good: '<= 4x', great: '<= 2x' },
  };
}

/** Objects that the collector knows, once it has heard of all that was deleted before. */
async function knownAtRest(collector: CollectProcess): Promise<number> {
  let known = await collector.metric(...KNOWN);
  for (;;) {
    await pause(200);
    const before = known;
    known = await collector.metric(...KNOWN);
    if (known === before) return known;
  }
}

/** It knows so many, and has come to rest. */
async function settled(collector: CollectProcess, wanted: number): Promise<void> {
  const deadline = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const known = await collector.metric(...KNOWN);
    if (known >= wanted) return pause(500);
    if (performance.now() > deadline) throw new Error(`the collector knows ${known} objects instead of ${wanted}`);
    await pause(50);
  }
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
