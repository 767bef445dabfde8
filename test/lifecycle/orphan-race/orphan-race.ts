import { CONTROLLER_MANAGER } from '../../../src/apiserver/authentication/user-info.ts';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { seededRandom } from '../../../src/base/random/random.ts';
import { linkSignals } from '../../../src/base/time/abort.ts';
import type { Interceptor } from '../../../src/client/rest/interceptor.ts';
import { GarbageCollector } from '../../../src/collector/garbage-collector.ts';
import { ArmedFaults } from '../../collector/simulation/armed-faults.ts';
import { Network } from '../../collector/simulation/network.ts';
import { EmbeddedCluster, gvrOf } from '../embedded-cluster.ts';
import { NAMESPACE } from '../workloads.ts';
import { Gate } from './gate.ts';
import { type RacingKind, type RacingKindName, racingKinds } from './racing-kinds.ts';

/** How the controller's write meets the orphan delete. */
export const windows = [
  /** Nothing crosses. */
  'none',
  /** The controller has read its living owner; the owner is orphaned and gone before the adoption arrives. */
  'A',
  /** The dependent is made before the delete, and the collector's watch shows it only afterwards. */
  'B',
  /** The controller makes a dependent for an owner that is gone. */
  'C',
  /** The controller adopts several after one read, and the owner goes in between. */
  'D',
] as const;
export type RaceWindow = (typeof windows)[number];

export interface OrphanRaceOptions {
  readonly kind: RacingKindName;
  /** Rounds of each window. */
  readonly rounds: number;
  /** As the collector's option `orphanRecords`. */
  readonly records: 'events' | 'memory';
  /** Whether the collector is replaced between the end of the owner and the late write. */
  readonly restarts: 'never' | 'always';
  /** As the server's option `ownerGuard`, for controllers that are those of `kubegc up`. Off unless given. */
  readonly ownerGuard?: 'controllers';
  /** As the collector's option `orphanBarrier`. Off unless given, because it would close window B by itself. */
  readonly barrier?: 'on';
  /** 1 unless given. */
  readonly seed?: number;
}

export interface OrphanRaceOutcome {
  readonly rounds: number;
  /** Writes of the controller that were accepted when their owner was gone. */
  readonly late: number;
  /** Writes of the controller that the server refused because of their owner. */
  readonly refused: number;
  /** Dependents that the collector deleted, by window. All of them are wrong: owners are only ever orphaned. */
  readonly lost: Readonly<Partial<Record<RaceWindow, number>>>;
}

const OWNER = 'web';
/** Longer than the collector keeps a watch back in window B, ms. */
const HELD_MS = 500;
/** Longer than anything that is tried again, ms. */
const REST_MS = 120_000;

/**
 * A real controller of kubegc and the real collector over the real server. Its owner is deleted with policy Orphan and made anew, again and
 * again, while a write of the controller is on its way (LIFE-568).
 */
export async function orphanRace(options: OrphanRaceOptions): Promise<OrphanRaceOutcome> {
  const race = await Race.start(options);
  try {
    for (let round = 0; round < options.rounds; round++) for (const window of windows) await race.run(window);
    return { rounds: options.rounds * windows.length, late: race.late, refused: race.refused, lost: race.lost };
  } finally {
    await race.stop();
  }
}

class Race {
  readonly lost: Partial<Record<RaceWindow, number>> = {};
  late = 0;
  refused = 0;
  readonly #options: OrphanRaceOptions;
  readonly #kind: RacingKind;
  readonly #cluster: EmbeddedCluster;
  readonly #gate = new Gate();
  readonly #network: Network;
  #collector: { readonly service: GarbageCollector; readonly end: AbortController; alive: boolean } | undefined;
  #window: RaceWindow = 'none';
  #ownerIsGone = false;

  private constructor(options: OrphanRaceOptions, cluster: EmbeddedCluster) {
    this.#options = options;
    this.#kind = racingKinds[options.kind];
    this.#cluster = cluster;
    const ignore = (): void => {};
    this.#network = new Network({
      clock: cluster.clock,
      random: seededRandom(options.seed ?? 1),
      latency: { oneIn: 0, maxMs: 0 },
      encoding: 'protobuf',
      armed: new ArmedFaults(),
      onRequest: ignore,
      onAnswer: ignore,
      onFault: ignore,
    });
  }

  static async start(options: OrphanRaceOptions): Promise<Race> {
    const authenticator = { authenticate: () => ({ username: CONTROLLER_MANAGER, groups: [] }) };
    const cluster = await EmbeddedCluster.start({ authenticator, ownerGuard: options.ownerGuard ?? 'off' });
    const race = new Race(options, cluster);
    cluster.fault = race.#between;
    const { nodes = 0, controllers } = race.#kind;
    for (let node = 0; node < nodes; node++) {
      const status = { conditions: [{ type: 'Ready', status: 'True' }] };
      await cluster.create({ gvr: gvrOf('nodes') }, { metadata: { name: `node-${node}` }, status });
    }
    await race.#startCollector();
    await cluster.runShared(...controllers);
    await race.#createOwner();
    await race.#rest();
    return race;
  }

  async stop(): Promise<void> {
    this.#gate.open();
    await this.#cluster.stop();
  }

  /** Begins and ends with a living owner that has all of its dependents. */
  async run(window: RaceWindow): Promise<void> {
    this.#window = window;
    this.#cluster.requests.length = 0;
    if (window === 'A' || window === 'D') {
      await this.#orphanOwner();
      this.#gate.close({ method: 'PATCH', resource: this.#kind.dependents.resource, after: window === 'A' ? 0 : 1 });
      await this.#createOwner();
      // An owner of one dependent has no second adoption.
      await this.#until(async () => this.#gate.holds || (this.#kind.count === 1 && window === 'D'));
    }
    if (window === 'B') {
      this.#network.disturb({ do: 'stream', stream: 'hold', ms: HELD_MS }, this.#kind.dependents.resource);
      const before = await this.#deleteOneDependent();
      await this.#until(async () => (await this.#uids()).filter((uid) => !before.includes(uid)).length > 0);
    }
    if (window === 'C') {
      this.#gate.close({ method: 'POST', resource: this.#kind.dependents.resource, after: 0 });
      await this.#deleteOneDependent();
      await this.#until(async () => this.#gate.holds);
    }
    await this.#orphanOwner();
    if (this.#options.restarts === 'always') await this.#restartCollector();
    this.#gate.open();
    await this.#until(async () => this.#gate.isIdle);
    await this.#createOwner();
    await this.#rest();
  }

  /** Every request of the collector and of the controller to the server passes here. */
  readonly #between: Interceptor = async (request, next) => {
    const { resource } = this.#kind.dependents;
    const isCollectors = String(request.headers['user-agent']).includes('/collector');
    const ofDependents = new RegExp(`/${resource}(?:/[^/?]+)?(?:\\?|$)`).test(request.target);
    if (isCollectors) {
      const response = await this.#network.intercept(request, next);
      if (request.method === 'DELETE' && ofDependents && response.status < 300) {
        this.lost[this.#window] = (this.lost[this.#window] ?? 0) + 1;
      }
      return response;
    }
    if (!ofDependents) return next(request);
    const response = await this.#gate.pass(request, next);
    const writesReference = Buffer.from(request.body ?? []).includes('ownerReferences');
    if (writesReference && response.status < 300 && this.#ownerIsGone) this.late++;
    if (writesReference && Buffer.from(response.body as Uint8Array).includes('is being orphaned')) this.refused++;
    return response;
  };

  async #startCollector(): Promise<void> {
    const { clock, random, logger, metrics } = this.#cluster;
    const { records, barrier = 'off' } = this.#options;
    await this.#cluster.run(({ client }) => {
      const service = new GarbageCollector({
        client: client.as('collector'),
        clock,
        random,
        logger,
        metrics,
        orphanBarrier: barrier,
        orphanRecords: records,
      });
      const end = new AbortController();
      this.#collector = { service, end, alive: true };
      return {
        run: async (signal) => {
          using both = linkSignals(signal, end.signal);
          await service.run(both.signal);
        },
      };
    });
    await this.#until(async () => this.#collector?.service.started === true);
  }

  async #restartCollector(): Promise<void> {
    this.#collector?.end.abort();
    await this.#cluster.clock.settle();
    await this.#startCollector();
  }

  #createOwner(): Promise<KubeObject> {
    this.#ownerIsGone = false;
    const { gvr, spec } = this.#kind;
    return this.#cluster.create({ gvr, namespace: NAMESPACE }, { metadata: { name: OWNER }, spec });
  }

  async #orphanOwner(): Promise<void> {
    const owner = { gvr: this.#kind.gvr, namespace: NAMESPACE, name: OWNER };
    await this.#cluster.wait(this.#cluster.client.delete(owner, { propagationPolicy: 'Orphan' }));
    await this.#until(async () => (await this.#cluster.get(owner)) === undefined);
    this.#ownerIsGone = true;
  }

  /** As a person does; answers with the uids that were there before. */
  async #deleteOneDependent(): Promise<string[]> {
    const [first, ...others] = await this.#dependents();
    if (first === undefined) throw new Error('the owner has no dependent');
    const { name = '', uid = '' } = first.metadata ?? {};
    const ref = { gvr: this.#kind.dependents, namespace: NAMESPACE, name };
    await this.#cluster.wait(this.#cluster.client.delete(ref, { preconditions: { uid } }));
    return [uid, ...others.map(({ metadata }) => metadata?.uid ?? '')];
  }

  async #dependents(): Promise<KubeObject[]> {
    const ref = { gvr: this.#kind.dependents, namespace: NAMESPACE };
    const { items } = await this.#cluster.wait(this.#cluster.client.list(ref));
    return items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  }

  async #uids(): Promise<string[]> {
    return (await this.#dependents()).map(({ metadata }) => metadata?.uid ?? '');
  }

  /** Until the owner has exactly the dependents that it asks for, and the collector has nothing left to do. */
  async #rest(): Promise<void> {
    const { gvr, count } = this.#kind;
    const owner = await this.#cluster.get({ gvr, namespace: NAMESPACE, name: OWNER });
    await this.#until(async () => {
      if (this.#collector?.service.atRest !== true || !this.#network.quiet) return false;
      const dependents = await this.#dependents();
      const owned = dependents.filter(({ metadata }) =>
        metadata?.ownerReferences?.some(({ uid, controller }) => controller === true && uid === owner?.metadata?.uid),
      );
      return owned.length === count && dependents.length === count;
    });
  }

  /** From timer to timer, until the condition holds. */
  async #until(condition: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#cluster;
    const deadline = clock.monotonic() + REST_MS;
    for (;;) {
      await this.#cluster.wait(Promise.resolve());
      if (await this.#cluster.wait(condition())) return;
      if (clock.monotonic() > deadline) throw new Error(`window ${this.#window} does not come to rest`);
      await clock.advanceAsync(Math.max(1, clock.nextTimerInMs ?? 1));
    }
  }
}
