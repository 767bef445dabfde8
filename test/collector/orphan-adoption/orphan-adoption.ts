import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { silentLogger } from '../../../src/base/logs/logger.ts';
import { configMap, secret } from '../kinds.ts';
import { CollectorProcess } from '../simulation/collector-process.ts';
import { ArmedFaults } from '../simulation/armed-faults.ts';
import { Network } from '../simulation/network.ts';
import type { CollectorPlan, Plan } from '../simulation/plan.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { Adopter, type Look, OWNER } from './adopter.ts';

/** How the adoption meets the orphan delete, as lifecycle 14.2 names them. */
const WINDOWS = [
  /** Nothing crosses. */
  'none',
  /** The owner is read, deleted and gone, and only then an orphan is adopted. */
  'A',
  /** The dependent is made before the delete, and the collector hears of it only afterwards. */
  'B',
  /** A stale controller makes a dependent of an owner that is gone. */
  'C',
  /** The adopter adopts several after one read, and the owner is deleted in between. */
  'D',
] as const;
export type Window = (typeof WINDOWS)[number];

export interface OrphanAdoptionOptions {
  /** Seed of everything random; 1 unless given. */
  readonly seed?: number;
  readonly rounds: number;
  /** As {@link CollectorPlan}; Kubernetes has neither. */
  readonly records: 'events' | 'memory';
  readonly barrier: 'on' | 'off';
  /** Between the end of the owner and the late reference. */
  readonly restarts: 'never' | 'always';
}

export interface OrphanAdoptionOutcome {
  readonly rounds: number;
  /** Dependents that nobody deleted, and that are gone, by window. */
  readonly lost: Readonly<Partial<Record<Window, number>>>;
  /** References that came when their owner was gone. */
  readonly late: number;
}

/** Dependents that are there all the time. */
const LASTING = ['one', 'two', 'three'];
const NAMESPACE = 'default';
/** Longer than anything that is tried again. */
const REST_MS = 60_000;

/** Deletes an owner with policy Orphan and makes it anew, again and again, while its controller adopts at the worst moment. */
export async function orphanAdoption(options: OrphanAdoptionOptions): Promise<OrphanAdoptionOutcome> {
  const rounds = new Rounds(options);
  await rounds.start();
  try {
    for (let round = 0; round < options.rounds; round++) await rounds.run(round, WINDOWS[round % WINDOWS.length]!);
    return { rounds: options.rounds, lost: rounds.lost, late: rounds.late };
  } finally {
    await rounds.stop();
  }
}

class Rounds {
  readonly lost: Partial<Record<Window, number>> = {};
  late = 0;
  readonly #options: OrphanAdoptionOptions;
  readonly #plan: CollectorPlan;
  readonly #cluster: SimulatedCluster;
  readonly #adopter: Adopter;
  #process: CollectorProcess | undefined;

  constructor(options: OrphanAdoptionOptions) {
    this.#options = options;
    const { records, barrier, seed = 1 } = options;
    this.#plan = {
      role: 'always',
      workers: 5,
      encoding: 'protobuf',
      ...(records === 'events' ? { records } : {}),
      ...(barrier === 'off' ? { barrier } : {}),
    };
    const plan: Plan = {
      seed,
      kinds: [configMap.kind, secret.kind],
      collectors: [],
      latency: { oneIn: 0, maxMs: 0 },
      steps: [],
      end: 'rest',
    };
    this.#cluster = new SimulatedCluster(plan, silentLogger);
    this.#adopter = new Adopter(this.#cluster.client);
  }

  async start(): Promise<void> {
    await this.#cluster.start();
    this.#startCollector();
    for (const name of LASTING) await this.#create(secret.kind, name);
    await this.#create(configMap.kind, OWNER);
  }

  async stop(): Promise<void> {
    if (this.#process !== undefined) await this.#cluster.waitLong(this.#process.stop(), REST_MS);
    await this.#cluster.stop();
  }

  /** Begins and ends with an owner that nobody refers to. */
  async run(round: number, window: Window): Promise<void> {
    const made = `made-${round}`;
    const look = await this.#look();
    if (look === undefined) throw new Error('the owner that was just made is not there');
    // Windows A and D are about orphans; in all others they have been adopted before.
    if (window !== 'A' && window !== 'D') await this.#cluster.wait(this.#adopter.adopt(look));
    if (window === 'B') {
      this.#process?.network.disturb({ do: 'stream', stream: 'hold', ms: 500 }, secret.gvr.resource);
      await this.#cluster.wait(this.#adopter.create(made, look));
    }
    if (window === 'D') await this.#cluster.wait(this.#adopter.create(made, look));
    await this.#deleteOwner();
    if (this.#options.restarts === 'always') await this.#restart();
    if (window === 'A' || window === 'D') this.late += await this.#cluster.wait(this.#adopter.adopt(look));
    if (window === 'C') {
      await this.#cluster.wait(this.#adopter.create(made, look));
      this.late++;
    }
    // Created at once, so that the next owner has the name while the collector still processes the references to the last one.
    await this.#create(configMap.kind, OWNER);
    await this.#rest();
    const makes = ['B', 'C', 'D'].includes(window);
    const lost = this.#missing(makes ? [...LASTING, made] : LASTING);
    if (lost.length > 0) this.lost[window] = (this.lost[window] ?? 0) + lost.length;
    for (const name of lost) if (LASTING.includes(name)) await this.#create(secret.kind, name);
    if (makes && !lost.includes(made)) {
      await this.#cluster.wait(this.#cluster.client.delete({ gvr: secret.gvr, namespace: NAMESPACE, name: made }));
    }
  }

  #missing(expected: readonly string[]): string[] {
    const there = new Set([...this.#cluster.judge.objects.values()].map(({ kind, name }) => `${kind} ${name}`));
    return expected.filter((name) => !there.has(`${secret.kind} ${name}`));
  }

  #look(): Promise<Look | undefined> {
    return this.#cluster.wait(this.#adopter.look());
  }

  /** With policy Orphan; it is gone when this resolves. */
  async #deleteOwner(): Promise<void> {
    const { clock, client, judge } = this.#cluster;
    const until = clock.monotonic() + REST_MS;
    const owner = { gvr: configMap.gvr, namespace: NAMESPACE, name: OWNER };
    await this.#cluster.wait(client.delete(owner, { propagationPolicy: 'Orphan' }));
    while ([...judge.objects.values()].some(({ kind, name }) => kind === configMap.kind && name === OWNER)) {
      if (clock.monotonic() > until) throw new Error('the owner does not go');
      await this.#cluster.advance(clock.nextTimerInMs ?? 1);
    }
  }

  async #rest(): Promise<void> {
    const { clock } = this.#cluster;
    const until = clock.monotonic() + REST_MS;
    await this.#cluster.settle();
    while (this.#process?.collector.atRest !== true || !this.#process.network.quiet) {
      if (clock.monotonic() > until) throw new Error('the collector does not come to rest');
      await this.#cluster.advance(clock.nextTimerInMs ?? 1);
    }
  }

  async #restart(): Promise<void> {
    this.#process?.crash();
    this.#startCollector();
    await this.#cluster.settle();
  }

  #startCollector(): void {
    const { clock, random } = this.#cluster;
    const transport = this.#cluster.connect({ says: '1.36' });
    const latency = { oneIn: 0, maxMs: 0 };
    const ignore = (): void => {};
    const network = new Network({
      clock,
      random,
      latency,
      encoding: this.#plan.encoding,
      armed: new ArmedFaults(),
      onRequest: ignore,
      onAnswer: ignore,
      onFault: ignore,
    });
    const plan = this.#plan;
    const logger = silentLogger;
    this.#process = new CollectorProcess({ plan, network, transport, clock, random, logger, onDecision: ignore });
  }

  #create(kind: string, name: string): Promise<KubeObject> {
    const { gvr } = kind === secret.kind ? secret : configMap;
    const object = { apiVersion: 'v1', kind, metadata: { name } };
    return this.#cluster.wait(this.#cluster.client.create({ gvr, namespace: NAMESPACE }, object));
  }
}
