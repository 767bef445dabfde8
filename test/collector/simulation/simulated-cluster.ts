import { isAlreadyExists } from '../../../src/api/status-error.ts';
import type { StoreWatch } from '../../../src/apiserver/storage/interface.ts';
import { openMemoryStore } from '../../../src/apiserver/storage/embedded/memory-store.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import type { HttpHandler } from '../../../src/base/http-message.ts';
import type { Logger } from '../../../src/base/logs/logger.ts';
import { type Random, seededRandom } from '../../../src/base/random/random.ts';
import { inProcessTransport } from '../../../src/client/http/in-process-transport.ts';
import { RestClient } from '../../../src/client/rest/rest-client.ts';
import type { Transport } from '../../../src/client/http/transport.ts';
import { type Actor, Attribution } from './attribution.ts';
import { Judge } from './judge.ts';
import { actsOnOldNewsForMs, exchangeMs } from './old-news.ts';
import { Lies } from './lies/lies.ts';
import type { LieStep } from './lies/lie-plan.ts';
import type { Plan, ServerStep, VersionPlan } from './plan.ts';
import { ServerPresence } from './server-presence.ts';
import { KINDS, LEASES } from './simulated-kinds.ts';
import { SimulatedTime } from './simulated-time.ts';
import { SimulatedServer, type SimulatedServerOptions } from './simulated-server.ts';
import { StoreBackup } from './store-backup.ts';
import { ToldVersion, type VersionTold } from './told-version.ts';

/**
 * Changes of what nobody here watches, after a backup: in a real cluster there are some all the time. So a watch from before the restore
 * asks from a version that the restored server does not come to in this history. One that it has come to by the time it is asked at which
 * version it is, is not noticed (designs/0011), and has the graph differ for good.
 */
const OTHER_CHANGES = 1024;
/** After each restore of the same backup so many times fewer: who watched before is ahead of them still. */
const FEWER = 8;

export function hasLies({ steps }: Plan): boolean {
  return steps.some(({ do: what }) => what === 'lie');
}

/** See {@link SimulatedCluster.restore}. */
const BREAK_AT_LEAST = 2;

const NOTHING = new Uint8Array();

/** The state that {@link SimulatedCluster.restore} puts back. */
export interface ClusterBackup {
  readonly stored: StoreBackup;
  readonly judged: () => void;
  /** So often. */
  restored: number;
}

type RestoreOptions = Omit<ServerStep & { readonly do: 'restore' }, 'do'>;

/**
 * The real API server on a store in memory, with the few resources that a history needs, and a clock that jumps from one
 * timer to the next.
 */
export class SimulatedCluster {
  readonly clock = new FakeClock();
  readonly time = new SimulatedTime(this.clock);
  readonly random: Random;
  readonly client: RestClient;
  /** The transport of a collector to which the server reports no version. */
  readonly transport: Transport;
  readonly judge: Judge;
  readonly presence: ServerPresence | undefined;
  readonly lies: Lies | undefined;
  readonly #options: Omit<SimulatedServerOptions, 'store' | 'watches'>;
  #server: SimulatedServer;
  /** Those that were there before, and at which watches stayed open. */
  readonly #left: SimulatedServer[] = [];
  #seen: StoreWatch | undefined;
  readonly #attribution = new Attribution();
  #renewals = 0;
  #hadSilence = false;
  #hadRefusal = false;

  constructor(plan: Plan, logger: Logger) {
    const { clock } = this;
    const { seed, kinds, steps } = plan;
    this.random = seededRandom(seed);
    const isRestored = steps.some(({ do: what }) => what === 'restore');
    if (isRestored) this.presence = new ServerPresence();
    const defines = steps.some(({ do: what }) => what === 'define');
    this.#options = { clock, random: this.random, logger, kinds, defines, leases: isRestored };
    this.#server = new SimulatedServer({ ...this.#options, store: openMemoryStore({ clock }), watches: 'silent' });
    this.judge = new Judge({
      attribution: this.#attribution,
      isServed: (kind) => this.isServed(kind),
      remembersOrphaned: remembersOrphaned(plan),
      seesAtOnce: seesAtOnce(plan),
      seesWhatIsServed: seesWhatIsServed(plan),
      listedWithinMs: LISTED_WITHIN_MS + EXCHANGES_TO_LIST * exchangeMs(plan.latency),
      oldNews: isQuiet(plan)
        ? { ms: 0, moreForEachChangeMs: 0 }
        : { ms: actsOnOldNewsForMs(plan), moreForEachChangeMs: plan.latency.lagMs ?? 0 },
      now: () => this.clock.monotonic(),
      barriers: plan.collectors.every(({ barrier }) => barrier !== 'off'),
    });
    const { objects, wrong } = this.judge;
    this.lies = hasLies(plan) ? new Lies({ ...this.#options, objects, wrong }) : undefined;
    this.transport = this.connect();
    const clients = inProcessTransport(this.#reachedBy('client'));
    this.client = new RestClient({ transport: clients, clock, userAgent: 'client' });
  }

  /** Returns the transport of one process of a collector, to which the server reports this version. */
  connect(version?: VersionPlan, onTold: (what: VersionTold) => void = () => {}): Transport {
    const told = version === undefined ? undefined : new ToldVersion(version, onTold);
    const handler = this.#reachedBy('collector');
    return inProcessTransport((request) => {
      if (told !== undefined && request.target === '/version') return Promise.resolve(told.ask());
      this.judge.requests.sees(request, told?.queryIsRead === true);
      return handler(request);
    });
  }

  async start(): Promise<void> {
    const { judge } = this;
    const { store } = this.#server;
    await this.wait(this.#server.start());
    const startRevision = (await store.currentRevision()) + 1;
    this.#seen = await store.watch('/registry/', { startRevision, onEvents: judge.observe });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#server, ...this.#left].map((server) => server.stop()));
    await this.lies?.stop();
  }

  async lie(step: LieStep): Promise<void> {
    await this.wait(this.lies!.begin(step, this.#server));
  }

  /** All that is stored now. Time goes on in the cluster: what is changed after that is far from it. */
  async backUp(): Promise<ClusterBackup> {
    const stored = await StoreBackup.of(this.#server.store);
    const backup = { stored, judged: this.judge.remember(), restored: 0 };
    await this.#changeOthers(OTHER_CHANGES);
    return backup;
  }

  /** Undoes everything since: the server goes away, and another one comes back. */
  async restore(backup: ClusterBackup, { awayMs, bump, watches, stay }: RestoreOptions): Promise<void> {
    this.#hadSilence = this.wasSilent;
    this.#hadRefusal = this.hasRefused;
    this.#seen?.cancel();
    this.presence?.leave(stay && this.#remains(stay));
    await this.settle();
    if (stay === undefined) await this.wait(this.#server.stop());
    else this.#left.push(this.#server);
    await this.advance(awayMs);
    await this.settle();
    const store = backup.stored.open({ clock: this.clock, bump });
    this.#server = new SimulatedServer({ ...this.#options, store, watches: watches ?? 'silent' });
    backup.judged();
    await this.start();
    await this.wait(this.#changeOthers(Math.floor(OTHER_CHANGES / FEWER ** ++backup.restored)));
    this.presence?.comeBack();
    await this.settle();
  }

  /** A restored server has no event for a watch that waits for it. */
  get isSilent(): boolean {
    return this.#server.isSilent;
  }

  /** One of them has been. */
  get wasSilent(): boolean {
    return this.#hadSilence || this.#server.wasSilent;
  }

  /** A restored server has refused a watch from a version that is still to come. */
  get hasRefused(): boolean {
    return this.#hadRefusal || this.#server.hasRefused;
  }

  /** As a node does every few seconds. */
  async renewLease(): Promise<void> {
    const ref = { gvr: LEASES.gvr, namespace: 'default', name: 'node' };
    const spec = { leaseTransitions: this.#renewals++ };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: LEASES.kind, metadata: { name: ref.name }, spec };
    try {
      await this.client.create({ gvr: ref.gvr, namespace: ref.namespace }, body);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.client.patch(ref, { type: 'application/merge-patch+json', body: { spec } });
    }
  }

  isServed(kindName: string): boolean {
    const kind = KINDS.get(kindName);
    if (kind === undefined) return false;
    const { group, version, resource } = kind.gvr;
    return this.#server.resources.find(group, version, resource) !== undefined;
  }

  /** The resources that a collector has to watch, sorted. */
  get watchable(): string[] {
    return this.#server.resources
      .resources()
      .map(({ resource }) => resource)
      .filter((resource) => resource !== 'events')
      .toSorted();
  }

  /** As {@link SimulatedTime} does. */
  settle(): Promise<void> {
    return this.time.settle();
  }

  wait<T>(work: Promise<T>): Promise<T> {
    return this.time.wait(work);
  }

  waitLong<T>(work: Promise<T>, withinMs: number): Promise<T> {
    return this.time.waitLong(work, withinMs);
  }

  advance(ms: number): Promise<void> {
    return this.time.advance(ms);
  }

  /** Two watches of each process break at least: if one breaks, the outage may be of its kind (`trust/broken-resources.ts`). */
  #remains(stay: 'half' | 'most'): (process: object) => boolean {
    const asked = new Map<object, number>();
    return (process) => {
      const before = asked.get(process) ?? 0;
      asked.set(process, before + 1);
      return before >= BREAK_AT_LEAST && this.random.integer(stay === 'half' ? 2 : 8) > 0;
    };
  }

  async #changeOthers(count: number): Promise<void> {
    const { store } = this.#server;
    const folder = `/elsewhere/${await store.currentRevision()}`;
    await Promise.all(Array.from({ length: count }, (_, index) => store.create(`${folder}/${index}`, NOTHING)));
  }

  #reachedBy(actor: Actor): HttpHandler {
    const handler = this.#attribution.handler(actor, (request) => this.#server.handler(request));
    return (request) => this.time.during(() => handler(request));
  }
}

/** Less than a collector waits for the records of the one before it, ms. */
const RECORDS_WITHIN_MS = 2000;

/**
 * Another collector does not know what one keeps in memory, nor what it learns later; and who can not reach the server can not keep
 * it there.
 */
function remembersOrphaned({ collectors, steps, latency }: Plan): boolean {
  const [collector, ...others] = collectors;
  if (collector === undefined || others.length > 0) return false;
  // A collector that starts does not wait for long to read the records; an exchange may be slow on both ways.
  const reads = collector.records === 'events' && (latency.oneIn === 0 || 2 * latency.maxMs < RECORDS_WITHIN_MS);
  const forgets = reads ? ['partition', 'lie'] : ['partition', 'lie', 'crash', 'stop'];
  return steps.every((step) => !forgets.includes(step.do));
}

/** A kind that is defined is watched by then, ms, where requests take no time (BETTER-3). */
const LISTED_WITHIN_MS = 5000;

/** The exchanges that have to be answered until then, one after the other: the list of the definitions, discovery, and the list of the kind. */
const EXCHANGES_TO_LIST = 3;

/** Shorter than a watch lasts, ms. */
const NO_WATCH_ENDS_MS = 250_000;

function seesAtOnce(plan: Plan): boolean {
  return seesWhatIsServed(plan) && plan.steps.every(({ do: what }) => what !== 'define');
}

function seesWhatIsServed({ steps, latency }: Plan): boolean {
  const disturbs = ['stream', 'lie', 'partition', 'crash', 'stop', 'start', 'lead', 'restore'];
  const requests = ['intake', 'discovery', 'any'];
  const time = steps.reduce((sum, step) => sum + (step.do === 'wait' ? step.ms : 0), 0);
  return (
    time < NO_WATCH_ENDS_MS &&
    latency.lagMs === undefined &&
    steps.every((step) => !disturbs.includes(step.do) && !(step.do === 'fault' && requests.includes(step.on)))
  );
}

/** One collector, that sees every change before the next, and whose requests take no time. */
export function isQuiet(plan: Plan): boolean {
  const { collectors, latency, steps } = plan;
  // A deletion of many is many changes at once.
  const isDisturbed = steps.some(({ do: what }) => ['fault', 'undefine', 'deleteAll'].includes(what));
  return collectors.length === 1 && latency.oneIn === 0 && !isDisturbed && seesAtOnce(plan);
}
