import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../test/program/until.ts';
import { Load } from '../apiserver/load.ts';
import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';

/**
 * WORKLOADS: what the workload controllers of `kubegc up` cost on its durable store: a Deployment scaled from nothing to ten thousand Pods and
 * collected again, against bare loops that create and delete as many equal Pods; a thousand Deployments that come to rest; the quiet afterwards;
 * and the start with all controllers against the start with the collector and the namespace controller alone.
 */
const AT_ONCE = 16;
const PATIENCE = { withinMs: 300_000 };
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'registry.example/web:1' }] },
};

const deploymentOf = (name: string, replicas: number): object => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { ...template, metadata: { labels: { app: name } } },
  },
});

interface DeploymentList {
  readonly items: readonly {
    readonly metadata: { readonly generation: number };
    readonly spec: { readonly replicas: number };
    readonly status?: { readonly replicas?: number; readonly observedGeneration?: number };
  }[];
}

/** One namespace, so that a list of one object includes the number of the others. */
class Namespace {
  readonly #load: Load;
  readonly pods: string;
  readonly deployments: string;

  private constructor(load: Load, name: string) {
    this.#load = load;
    this.pods = `/api/v1/namespaces/${name}/pods`;
    this.deployments = `/apis/apps/v1/namespaces/${name}/deployments`;
  }

  static async create(load: Load, name: string): Promise<Namespace> {
    await load.json('POST', '/api/v1/namespaces', { metadata: { name } });
    return new Namespace(load, name);
  }

  /** Creates an object in the collection. Resolves with the status of the answer. */
  create(collection: string, object: object): Promise<number> {
    return this.#load.send('POST', collection, Buffer.from(JSON.stringify(object)));
  }

  createPod(name: string): Promise<number> {
    return this.create(this.pods, { ...template, metadata: { name, labels: { app: 'web' } } });
  }

  async untilPods(count: number): Promise<void> {
    const number = async (): Promise<boolean> => {
      const { items, metadata } = await this.#load.json<{
        items: readonly unknown[];
        metadata: { remainingItemCount?: number };
      }>('GET', `${this.pods}?limit=1`);
      return items.length + (metadata.remainingItemCount ?? 0) === count;
    };
    await until(`there are ${count} Pods`, number, PATIENCE);
  }

  /** Until every Deployment reports the replicas that its specification asks for. */
  async untilRest(): Promise<void> {
    const isRest = async (): Promise<boolean> => {
      const { items } = await this.#load.json<DeploymentList>('GET', this.deployments);
      return items.every(
        ({ metadata, spec, status }) =>
          status?.observedGeneration === metadata.generation && (status.replicas ?? 0) === spec.replicas,
      );
    };
    await until('the Deployments are at rest', isRest, PATIENCE);
  }
}

/** Runs the work and returns how many of `count` it did a second. */
async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}

async function scaleAndCascade(load: Load, count: number, rounds: number): Promise<BenchResult[]> {
  const rates = { scale: [] as number[], create: [] as number[], cascade: [] as number[], loop: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const bare = await Namespace.create(load, `bare-${round}`);
    rates.create.push(await perSecond(count, () => load.each(count, (n) => bare.createPod(`web-${n}`), 201)));
    rates.loop.push(
      await perSecond(count, () => load.each(count, (n) => load.send('DELETE', `${bare.pods}/web-${n}`), 200)),
    );
    await bare.untilPods(0);
    const owned = await Namespace.create(load, `owned-${round}`);
    await load.json('POST', owned.deployments, deploymentOf('web', 0));
    await owned.untilRest();
    rates.scale.push(
      await perSecond(count, async () => {
        const scale = { metadata: { name: 'web', namespace: `owned-${round}` }, spec: { replicas: count } };
        await load.json('PUT', `${owned.deployments}/web/scale`, scale);
        await owned.untilPods(count);
      }),
    );
    await owned.untilRest();
    rates.cascade.push(
      await perSecond(count, async () => {
        await load.json('DELETE', `${owned.deployments}/web`, { propagationPolicy: 'Background' });
        await owned.untilPods(0);
      }),
    );
  }
  return [
    ratioRow('scale', `a Deployment scaled from 0 to ${count}`, 'Pods created/s', rates.scale, rates.create, {
      what: `creates of equal Pods, ${AT_ONCE} on the way`,
      good: 0.5,
      great: 0.8,
    }),
    ratioRow('cascade', `that Deployment deleted, with ${count} Pods`, 'Pods collected/s', rates.cascade, rates.loop, {
      what: `deletes of equal Pods, ${AT_ONCE} on the way`,
      good: 0.75,
      great: 1,
    }),
  ];
}

function ratioRow(
  row: string,
  workload: string,
  metric: string,
  ours: readonly number[],
  theirs: readonly number[],
  { what, good, great }: { readonly what: string; readonly good: number; readonly great: number },
): BenchResult {
  const value = median(ours);
  const ratio = value / median(theirs);
  return {
    id: `WORKLOADS (${row})`,
    workload,
    metric,
    value,
    baseline: { what, value: median(theirs) },
    ratio,
    level: levelOf(ratio, { good, great, better: 'more' }),
    demands: { good: `>= ${good}x`, great: `>= ${great}x` },
  };
}

/** Many Deployments of three Pods, created at once; the baseline creates as many Pods. */
async function manyDeployments(load: Load, count: number): Promise<BenchResult> {
  const bare = await Namespace.create(load, 'bare-many');
  const pods = 3 * count;
  const baseline = await perSecond(pods, () => load.each(pods, (n) => bare.createPod(`web-${n}`), 201));
  const owned = await Namespace.create(load, 'owned-many');
  const value = await perSecond(pods, async () => {
    await load.each(count, (n) => owned.create(owned.deployments, deploymentOf(`web-${n}`, 3)), 201);
    await owned.untilPods(pods);
    await owned.untilRest();
  });
  return ratioRow(
    'many',
    `${count} Deployments of three Pods, until their status is right`,
    'Pods/s',
    [value],
    [baseline],
    {
      what: `creates of as many Pods, ${AT_ONCE} on the way`,
      good: 0.15,
      great: 0.3,
    },
  );
}

/** Requests that the server has answered so far, those of its own controllers among them. */
async function requestsSoFar(load: Load): Promise<number> {
  const answer = await load.open('GET', '/metrics', undefined, { accept: 'text/plain' });
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return [...text.matchAll(/^apiserver_request_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

/** Processor time of the server while nothing changes, against the same server after its start; requests are counted too. */
async function quiet(load: Load, server: ServerProcess, seconds: number): Promise<BenchResult[]> {
  // Back-offs, the last writes of what went before, and the collections of memory after them.
  await pause(seconds * 2000);
  const requests = await requestsSoFar(load);
  const cpu = server.cpuMicros;
  await pause(seconds * 1000);
  const percent = (server.cpuMicros - cpu) / 10_000 / seconds;
  // The second reading counts the first.
  const made = (await requestsSoFar(load)) - requests - 1;
  const fresh = new ServerProcess();
  await fresh.ready;
  await pause(seconds * 2000);
  const before = fresh.cpuMicros;
  await pause(seconds * 1000);
  const baseline = (fresh.cpuMicros - before) / 10_000 / seconds;
  await fresh.stop();
  return [
    {
      id: 'WORKLOADS (quiet)',
      workload: `nothing changes for ${seconds} s beside a thousand Deployments; ${made} requests`,
      metric: '% of a core',
      value: percent,
      baseline: { what: 'a server without an object', value: baseline },
      // The kernel counts in steps of 10 ms, and an idle server may have used none.
      ratio: percent / Math.max(baseline, 1 / seconds),
      level: levelOf(percent, { good: 1, great: 0.5, better: 'less' }),
      demands: { good: '<= 1 %', great: '<= 0.5 %' },
    },
  ];
}

async function startMs(args: readonly string[]): Promise<number> {
  const server = new ServerProcess({ args });
  await server.ready;
  const ms = performance.now() - server.spawnedAt;
  await server.stop();
  return ms;
}

/** Starts in turn, so that both meet the same machine. */
async function start(rounds: number): Promise<BenchResult> {
  const [all, few] = [[] as number[], [] as number[]];
  for (let round = 0; round < rounds; round++) {
    all.push(await startMs([]));
    few.push(await startMs(['--controllers', 'garbage-collector-controller,namespace-controller']));
  }
  const [value, baseline] = [median(all), median(few)];
  return {
    id: 'WORKLOADS (start)',
    workload: `spawn until ready, with every controller, ${rounds} rounds`,
    metric: 'ms',
    value,
    baseline: { what: 'with the collector and the namespace controller alone', value: baseline },
    ratio: value / baseline,
    level: levelOf(value / baseline, { good: 1.05, great: 1, better: 'less' }),
    demands: { good: '<= 1.05x', great: '<= 1x' },
  };
}

export const run: Benchmark = async ({ smoke }) => {
  const results: BenchResult[] = [];
  const server = new ServerProcess();
  await server.ready;
  const load = new Load(server.kubeconfig, AT_ONCE);
  try {
    results.push(...(await scaleAndCascade(load, smoke ? 100 : 10_000, smoke ? 1 : 3)));
    results.push(await manyDeployments(load, smoke ? 10 : 1000));
    results.push(...(await quiet(load, server, smoke ? 2 : 30)));
  } finally {
    load.close();
    await server.stop();
  }
  results.push(await start(smoke ? 1 : 9));
  return results;
};
