import { type ApiServer, createApiServer } from '../../src/apiserver/api-server.ts';
import type { Authenticator } from '../../src/apiserver/authentication/authenticator.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../src/apiserver/storage/interface.ts';
import { customResource } from '../../src/apiserver/test/custom-resource.ts';
import { apiVersionOf } from '../../src/api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { isNotFound } from '../../src/api/status-error.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import type { HttpHandler } from '../../src/base/http-message.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import type { ResourceRef } from '../../src/client/rest/resource-path.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import type { GarbageCollectorOptions } from '../../src/collector/garbage-collector-options.ts';
import { Faults } from './faults.ts';
import { type TestKind, usualKinds } from './kinds.ts';
import { Recorder } from './recorder.ts';
import { Streams } from './streams.ts';

export type Policy = 'Background' | 'Foreground' | 'Orphan';

export interface RigOptions {
  readonly seed?: number;
  /** Resources to serve; {@link usualKinds} unless given. */
  readonly serve?: readonly TestKind[] | 'all';
  readonly clock?: FakeClock;
  /** The answer of `/version`; {@link USUAL_VERSION} unless given. */
  readonly version?: Readonly<Record<string, string>>;
  /** The server as a client with this user agent reaches it. */
  readonly reached?: (userAgent: string, server: HttpHandler) => HttpHandler;
  /** Identifies the user; RBAC then decides what the user may do. Everybody may do everything unless given. */
  readonly authenticator?: Authenticator;
}

export interface ObjectOptions {
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** A collector of a rig that can be stopped before the rig is. */
export interface RunningCollector {
  readonly collector: GarbageCollector;
  stop(): Promise<void>;
}

type CollectorOptions = Partial<Omit<GarbageCollectorOptions, 'client' | 'clock' | 'random' | 'logger' | 'metrics'>>;

/** The usual answer of `/version`: a server that reads the options of a DELETE in its query. */
const USUAL_VERSION = { major: '1', minor: '36' };
/** How long {@link Rig.rest} lets time pass before it gives up. */
const REST_MS = 60_000;

/**
 * The real API server on a store in memory and the real collector, in one process, with time in the hands of the test: nothing moves but in
 * {@link Rig.settle}, {@link Rig.rest} and {@link Rig.advance}. Requests of the collector pass a recorder, then the faults.
 */
export class Rig {
  readonly clock: FakeClock;
  readonly random;
  readonly logger = new MemoryLogger();
  readonly metrics = new MemoryMetrics();
  readonly store: Store;
  readonly server: ApiServer;
  /** For the test itself; seen by nobody. */
  readonly client: RestClient;
  readonly recorder = new Recorder();
  readonly faults = new Faults();
  readonly streams = new Streams();
  /** Sees each request of a collector after the recorder and the faults. */
  weather: Interceptor = (request, next) => next(request);
  readonly #running: RunningCollector[] = [];
  readonly #reached: NonNullable<RigOptions['reached']>;

  constructor(options: RigOptions = {}) {
    const {
      seed = 1,
      serve = usualKinds,
      clock = new FakeClock(),
      reached = (_, server) => server,
      version = USUAL_VERSION,
      authenticator,
    } = options;
    this.clock = clock;
    this.#reached = reached;
    this.random = seededRandom(seed);
    this.store = openMemoryStore({ clock });
    const { random, logger, metrics, store } = this;
    this.server = createApiServer({
      store,
      clock,
      random,
      logger: logger.child({ from: 'server' }),
      metrics,
      version,
      ...(authenticator === undefined ? {} : { authenticator, authorizationMode: 'RBAC' }),
    });
    if (serve !== 'all') this.#serveOnly(serve);
    this.client = this.clientWith('test');
  }

  /** A server, without a collector so far. */
  static async start(options: RigOptions = {}): Promise<Rig> {
    // On a server of its own, so that it makes no difference which test comes first.
    if (!warm) await new Rig().#warmUp();
    const rig = new Rig(options);
    await rig.wait(rig.server.start());
    await rig.wait(rig.client.request({ method: 'GET', path: '/apis' }));
    return rig;
  }

  /** A server with a collector that has seen everything. */
  static async collecting(options: RigOptions & { readonly collector?: CollectorOptions } = {}): Promise<Rig> {
    const rig = await Rig.start(options);
    await rig.startCollector(options.collector);
    return rig;
  }

  /** While no collector runs; the next one sees only what is left. */
  async withoutCollector(work: () => Promise<void>): Promise<void> {
    for (const running of this.#running.slice()) await running.stop();
    await work();
    this.recorder.clear();
    await this.startCollector();
  }

  /** Runs a collector until it, or the rig, is stopped. Resolves when it has nothing to do at this moment. */
  async startCollector(options: CollectorOptions = {}): Promise<RunningCollector> {
    const { clock, random, metrics } = this;
    const client = this.clientWith(
      'collector',
      this.recorder.intercept,
      this.faults.intercept,
      (request, next) => this.weather(request, next),
      this.streams.intercept,
    );
    const logger = this.logger.child({ from: 'collector' });
    const collector = new GarbageCollector({ client, clock, random, logger, metrics, identity: 'certain', ...options });
    const aborter = new AbortController();
    const done = collector.run(aborter.signal);
    const running: RunningCollector = {
      collector,
      stop: async () => {
        this.#running.splice(this.#running.indexOf(running), 1);
        aborter.abort();
        await this.wait(done);
      },
    };
    this.#running.push(running);
    await this.settle();
    return running;
  }

  async stop(): Promise<void> {
    this.faults.clear();
    const wrong = this.#running.flatMap(({ collector }) => collector.consistency.invariants());
    for (const running of this.#running.slice()) await running.stop();
    await this.server.stop();
    await this.wait(this.store.close());
    // COL-003, in every test that has a rig.
    if (this.recorder.improper.length > 0) throw new Error(`improper writes: ${this.recorder.improper.join('; ')}`);
    // COL-051, in every test with a collector that still runs in the end.
    if (wrong.length > 0) throw new Error(`the graph is wrong in itself: ${JSON.stringify(wrong)}`);
  }

  clientWith(userAgent: string, ...interceptors: readonly Interceptor[]): RestClient {
    const transport = inProcessTransport(this.#reached(userAgent, this.server.handler));
    return new RestClient({ transport, clock: this.clock, userAgent, interceptors, defaultTimeoutMs: 30_000 });
  }

  /** Everything that can happen without time passing has happened. */
  settle(): Promise<void> {
    return this.clock.settle();
  }

  advance(ms: number): Promise<void> {
    return this.clock.advanceAsync(ms);
  }

  /** The outcome of work that makes progress only while the fake clock is attended to. */
  async wait<T>(work: Promise<T>): Promise<T> {
    const state = { settled: false };
    const note = (): void => {
      state.settled = true;
    };
    work.then(note, note);
    for (let rounds = 0; !state.settled; rounds++) {
      if (rounds > 10_000) throw new Error('the work waits for something that does not come');
      await this.settle();
      if (rounds >= 10) await realMillisecond();
    }
    return work;
  }

  get isAtRest(): boolean {
    return this.recorder.underWay === 0 && this.#running.every(({ collector }) => collector.atRest);
  }

  /** Lets time pass, from one timer to the next, until the collector has nothing to do any more. Answers how long it took. */
  async rest(withinMs = REST_MS): Promise<number> {
    const from = this.clock.monotonic();
    for (;;) {
      await this.settle();
      if (this.isAtRest) return this.clock.monotonic() - from;
      const step = Math.max(this.clock.nextTimerInMs ?? 1, 1);
      if (this.clock.monotonic() + step - from > withinMs) {
        throw new Error(
          `not at rest after ${withinMs} ms; the last calls: ${this.recorder.lines.slice(-10).join('; ')}`,
        );
      }
      await this.advance(step);
    }
  }

  /** The reference of an object; of cluster-scoped ones without namespace. */
  at(kind: TestKind, name: string, namespace = 'default'): ResourceRef {
    return { gvr: kind.gvr, name, ...(kind.namespaced ? { namespace } : {}) };
  }

  async create(kind: TestKind, name: string, options: ObjectOptions = {}): Promise<KubeObject> {
    const { namespace = 'default', owners, finalizers, labels, body } = options;
    const object = {
      apiVersion: apiVersionOf(kind.gvr),
      kind: kind.kind,
      metadata: {
        name,
        ...(owners === undefined ? {} : { ownerReferences: owners }),
        ...(finalizers === undefined ? {} : { finalizers }),
        ...(labels === undefined ? {} : { labels }),
      },
      ...kind.body,
      ...body,
    };
    const collection = { gvr: kind.gvr, ...(kind.namespaced ? { namespace } : {}) };
    return this.wait(this.client.create(collection, object));
  }

  /** Undefined when there is no such object. */
  async get(kind: TestKind, name: string, namespace?: string): Promise<KubeObject | undefined> {
    try {
      return await this.wait(this.client.get(this.at(kind, name, namespace)));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Returns the answer of the server: the object while it waits for its finalizers, else a Status. */
  delete(kind: TestKind, name: string, policy: Policy = 'Background', namespace?: string): Promise<KubeObject> {
    return this.wait(this.client.delete<KubeObject>(this.at(kind, name, namespace), { propagationPolicy: policy }));
  }

  /** A merge patch of the metadata. */
  async patch(
    kind: TestKind,
    name: string,
    metadata: Record<string, unknown>,
    namespace?: string,
  ): Promise<KubeObject> {
    const patch = { type: 'application/merge-patch+json', body: { metadata } } as const;
    return this.wait(this.client.patch(this.at(kind, name, namespace), patch));
  }

  /** Names of all objects of a kind in a namespace, sorted. Root certificates and the like never come into play here. */
  async names(kind: TestKind, namespace = 'default'): Promise<string[]> {
    const { items } = await this.wait(this.client.list({ gvr: kind.gvr, ...(kind.namespaced ? { namespace } : {}) }));
    return items.map(({ metadata }) => metadata?.name ?? '').toSorted();
  }

  async owners(kind: TestKind, name: string, namespace?: string): Promise<string[] | undefined> {
    const object = await this.get(kind, name, namespace);
    return object && (object.metadata?.ownerReferences ?? []).map((reference) => reference.name);
  }

  /** The one that was started last. */
  get collector(): GarbageCollector {
    const last = this.#running.at(-1);
    if (last === undefined) throw new Error('no collector runs');
    return last.collector;
  }

  /** The debug graph of the collector that was started last (COL-180). */
  async graph(query = ''): Promise<string> {
    const target = `/debug/controllers/garbage-collector-controller/graph${query}`;
    const { body } = await this.collector.debugHandler({ method: 'GET', target, headers: {} });
    return Buffer.from(body as Uint8Array).toString();
  }

  /** Serves a kind without a type, as a CustomResourceDefinition does. */
  serve({ gvr, kind, namespaced }: TestKind, version = gvr.version): void {
    this.server.resources.add(customResource({ ...gvr, version, kind, namespaced }));
  }

  unserve({ gvr: { group, version, resource } }: TestKind): void {
    this.server.resources.remove(group, version, resource);
  }

  /** The server loads some of its parts when they are first needed, which takes time that no fake clock knows of. */
  async #warmUp(): Promise<void> {
    await this.wait(this.server.start());
    const stop = new AbortController();
    const { client, clock, random, logger, metrics } = this;
    const collector = new GarbageCollector({ client, clock, random, logger, metrics, identity: 'certain' });
    const running = collector.run(stop.signal);
    for (let tries = 0; !collector.atRest && tries < 1000; tries++) {
      await realMillisecond();
      await this.advance(1);
    }
    stop.abort();
    await this.wait(running);
    await this.stop();
    warm = true;
  }

  #serveOnly(kinds: readonly TestKind[]): void {
    const names = new Set(kinds.map(({ gvr }) => `${gvr.group}/${gvr.resource}`));
    for (const { group, version, resource } of this.server.resources.resources()) {
      // Keeps the resources of the objects that every server starts with; resources without delete and watch are not monitored anyway.
      if (names.has(`${group}/${resource}`) || BOOTSTRAP.has(`${group}/${resource}`)) continue;
      this.server.resources.remove(group, version, resource);
    }
  }
}

/** True once the modules are loaded that the server loads on demand. */
let warm = false;

const BOOTSTRAP = new Set(['/namespaces', '/services', '/events', 'discovery.k8s.io/endpointslices', '/endpoints']);

function realMillisecond(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}
