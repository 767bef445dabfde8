import { setMaxListeners } from 'node:events';
import type { ResourceInfo } from '../api/kinds/resource-info.ts';
import { formatGroupResource } from '../api/meta/group-version-kind.ts';
import type { ApiObject } from '../api/meta/api-object.ts';
import type { KubeObject } from '../api/meta/object-meta.ts';
import { type ApiServer, createApiServer } from '../apiserver/api-server.ts';
import { unionAuthenticator } from '../apiserver/authentication/authenticator.ts';
import { staticTokenVerifier, tokenAuthenticator } from '../apiserver/authentication/token-authenticator.ts';
import { x509Authenticator } from '../apiserver/authentication/x509-authenticator.ts';
import { systemMastersAuthorizer } from '../apiserver/authorization/authorizer.ts';
import { openMemoryStore } from '../apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../apiserver/storage/interface.ts';
import { buildControllers } from '../assembly/build-controllers.ts';
import { pluginsBeside } from '../assembly/default-plugins.ts';
import { clientOfUser, inProcessClient, MASTERS } from '../assembly/in-process-client.ts';
import { cascadeHandler } from '../cascade/endpoints/cascade-handler.ts';
import { CASCADE_PATH } from '../cascade/endpoints/cascade-path.ts';
import { linkSignals } from '../base/time/abort.ts';
import type { HttpHandler } from '../base/http-message.ts';
import { systemClock } from '../base/time/clock.ts';
import { systemRandom } from '../base/random/random.ts';
import { messageOf } from '../base/errors/thrown.ts';
import { writeFileAtomically } from '../base/write-file-atomically.ts';
import { Informer } from '../client/reflector/informer.ts';
import type { Interceptor, Send } from '../client/rest/interceptor.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import { given } from '../lifecycle/assembly/controller-entry.ts';
import type { SimulationSettings } from '../lifecycle/assembly/lifecycle-settings.ts';
import { Activity } from './activity/activity.ts';
import { observedHandler, USER_AGENT } from './actors/actor.ts';
import { ClusterClient, type KindQuery, kindQueryKeys } from './client/cluster-client.ts';
import { checkKeys } from './client/check-options.ts';
import { ClusterSnapshot } from './cluster-snapshot.ts';
import {
  chanceOf,
  checkControllers,
  type ControllerName,
  controllerNames,
  FAULTS_CHANCE,
  randomOf,
  seedOf,
} from './actors/controllers.ts';
import { recordingLogger } from './trace/decision-logger.ts';
import { areServed, definitionsAmong } from './seed/definitions.ts';
import { Faults } from './faults/faults.ts';
import { FirstSync } from './activity/first-sync.ts';
import { FormerKinds } from './client/former-kinds.ts';
import { type Listener, listen, processCertificates } from './listener.ts';
import { findResource, type ObjectRef } from './client/object-ref.ts';
import { QueueActivity } from './activity/queue-activity.ts';
import { untilQuiet } from './activity/quiet.ts';
import { Recorder } from './trace/recorder.ts';
import { RecordingStore } from './trace/recording-store.ts';
import type { SeedObject } from './seed/seed-object.ts';
import { createObjects, type ObjectSources, readObjects } from './seed/seed-objects.ts';
import { serverVersion } from './server-version.ts';
import { type SettleOptions, type Settled, Settler } from './settle.ts';
import { RunningClock, StandingClock, type TestClock, testClock } from './clock/test-clock.ts';
import { StartUp } from './start-up.ts';
import { TestTimers } from './clock/test-timers.ts';
import type { Trace } from './trace/trace.ts';
import { WriteGate } from './write-gate.ts';
import { checkFieldValidation, type FieldValidation } from './client/write-options.ts';
import { inspect } from 'node:util';

/** How a cluster starts; every option may be left out. */
export interface ClusterOptions {
  /** An integer, 1 unless given. With the same seed, uids and random decisions are the same. */
  readonly seed?: number | undefined;
  /** `fake`, the default: time moves only by `cluster.clock.advance()`. `real`: the time of the system. */
  readonly clock?: 'fake' | 'real' | undefined;
  /** CustomResourceDefinitions, which are served before any other object is created. */
  readonly crds?: ObjectSources | undefined;
  /** Created once the controllers run. Owner references may leave out the uid of an owner that comes before. */
  readonly objects?: ObjectSources | undefined;
  /** The controllers that run; all unless given. */
  readonly controllers?: readonly ControllerName[] | undefined;
  /** Simulates nodes, and the work of scheduler and kubelet on pods; no container runs. Nothing is simulated unless given. */
  readonly simulate?: SimulationSettings;
  /** `strict`: controllers behave like those of kube-controller-manager even where kubegc does better. `improved` unless given. */
  readonly compat?: 'improved' | 'strict' | undefined;
  /** Also serves HTTPS on a free port of 127.0.0.1, for {@link TestCluster.kubeconfig}. */
  readonly listen?: boolean | undefined;
  /**
   * The field validation of each write of `crds`, `objects` and the clients, unless the call sets another; left to the server unless given.
   */
  readonly fieldValidation?: FieldValidation | undefined;
  /** Starts with the objects of another cluster, and the fake clock at its time. */
  readonly from?: ClusterSnapshot | undefined;
}

const OPTIONS: readonly (keyof ClusterOptions)[] = [
  'seed',
  'clock',
  'crds',
  'objects',
  'controllers',
  'listen',
  'fieldValidation',
  'simulate',
  'compat',
  'from',
];
/** The certificate in `kube-root-ca.crt` in a cluster that does not listen. */
const NO_AUTHORITY = '# This cluster listens nowhere, so it has no certificate authority.\n';
/** Maximum fake time of a start, and the length of its steps; and maximum real time of requests in progress before fake time passes. ms. */
const START = { withinMs: 60_000, stepMs: 5, patienceMs: 60_000 };
/** Maximum number of turns of the event loop in one step of a cluster. */
const MAX_TURNS = 4000;
/** Number of last events in the error of a cluster that does not start. */
const LAST_ENTRIES = 10;

interface Parts {
  readonly clock: StandingClock | RunningClock;
  readonly activity: Activity;
  readonly recorder: Recorder;
  readonly formerKinds: FormerKinds;
  readonly faults: Faults;
  readonly gate: WriteGate;
  readonly settler: Settler;
  readonly store: Store;
  readonly server: ApiServer;
  readonly handler: HttpHandler;
  readonly listener: Listener | undefined;
  readonly stopping: AbortController;
  readonly running: Promise<unknown>;
  readonly timers: TestTimers;
  readonly startUp: StartUp;
  /** Length of the chain of snapshots that leads to this cluster. */
  readonly generation: number;
  readonly fieldValidation: FieldValidation | undefined;
}

/** The cluster that an object came from, so that a matcher needs only the object. */
const origins = new WeakMap<object, TestCluster>();

export function clusterOf(subject: object): TestCluster | undefined {
  return origins.get(subject);
}

/** API server, garbage collector and controllers in this process. */
export class TestCluster implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #informers: Promise<void>[] = [];
  #stopped: Promise<void> | undefined;
  /** The client of the test itself; in the trace it is `test`. */
  readonly client: ClusterClient;
  /** The clock of the cluster. */
  readonly clock: TestClock;
  /** Faults between clients and server; none at first. */
  readonly faults: Faults;
  /** Reads past faults and gate, for matchers. */
  readonly observer: ClusterClient;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.clock = testClock(parts.clock, parts.timers, () => parts.startUp.done);
    this.faults = parts.faults;
    this.client = this.clientAs('test');
    this.observer = this.#clientOf('matcher', []);
  }

  /** Resolves when the controllers run, the objects exist, and all consequences of them have happened. */
  static async start(options: ClusterOptions = {}): Promise<TestCluster> {
    checkKeys('startCluster', options, OPTIONS);
    const { seed: givenSeed = 1, clock: time = 'fake' } = options;
    if (!Number.isSafeInteger(givenSeed)) throw new RangeError(`the seed is not an integer: ${givenSeed}`);
    const from = options.from === undefined ? undefined : ClusterSnapshot.partsOf(options.from);
    const generation = from?.generation ?? 0;
    const seed = seedOf(givenSeed, generation);
    if (time !== 'fake' && time !== 'real') throw new TypeError(`the clock is fake or real, not ${String(time)}`);
    checkControllers(options.controllers ?? []);
    checkFieldValidation(options.fieldValidation);
    checkSimulation(options.simulate);
    checkCompatibility(options.compat);
    const { fieldValidation } = options;
    const definitions = definitionsAmong(await readObjects(options.crds));
    const objects = await readObjects(options.objects);
    const activity = new Activity();
    const clock = time === 'real' ? new RunningClock(activity) : new StandingClock(activity, from?.takenAt);
    const recorder = new Recorder(clock, from?.memory);
    const logger = recordingLogger(recorder);
    const formerKinds = new FormerKinds(from?.formerKinds);
    const store = new RecordingStore({
      store: openMemoryStore({ clock, contents: from?.contents }),
      recorder,
      activity,
      formerKinds,
      items: from?.contents.items,
    });
    const stopping = new AbortController();
    // Each controller and informer adds a listener; Node would warn of a leak above ten.
    setMaxListeners(0, stopping.signal);
    const selected = new Set(options.controllers ?? controllerNames);
    let listener: Listener | undefined;
    let started: ApiServer | undefined;
    try {
      const token = Buffer.from(systemRandom.bytes(32)).toString('base64url');
      const tokens = staticTokenVerifier([{ token, user: { username: 'kubegc-admin', groups: MASTERS } }]);
      const queues = new QueueActivity();
      const server = createApiServer({
        store,
        clock,
        random: randomOf(seed, 0),
        logger: logger.child({ component: 'apiserver' }),
        metrics: queues,
        version: serverVersion(),
        authenticator: unionAuthenticator([x509Authenticator, tokenAuthenticator(tokens)]),
        authorizer: systemMastersAuthorizer,
        admissionPlugins: pluginsBeside(selected, { authorization: '' }),
        tokens,
        address: () => ({ host: '127.0.0.1', port: listener?.server.port ?? 443 }),
      });
      const served = (): readonly ResourceInfo[] => server.resources.resources();
      const handler = observedHandler(server.handler, { recorder, activity, served });
      const faults = new Faults({
        clock,
        clockStands: clock instanceof StandingClock,
        random: randomOf(seed, FAULTS_CHANCE),
        recorder,
        served,
      });
      const gate = new WriteGate();
      const timers = new TestTimers(clock);
      const startUp = new StartUp();
      if (options.listen) {
        const faulty: Send = (request) => faults.intercept(request, handler);
        listener = await listen((request) => startUp.intercept(request, faulty), token);
      }
      started = server;
      // Loaded here, because a watch would load it in the middle of its stream, where the load does not count as work in progress.
      await import('../api/codec/protobuf/protobuf.ts');
      await server.start();
      const common = {
        clock,
        activity,
        recorder,
        formerKinds,
        faults,
        gate,
        store,
        server,
        handler,
        listener,
        stopping,
        timers,
        startUp,
        generation,
        fieldValidation,
      };
      const seeder = new ClusterClient({
        name: 'objects',
        rest: restClient(common, 'objects', []),
        served,
        formerKinds,
        fieldValidation,
        seen: () => undefined,
      });
      // Runs before the collector reads discovery, because the collector reads it again only when time passes, and here time stands still.
      await createObjects(seeder, definitions);
      await servedAll(definitions, common);
      const { services, collector } = await buildControllers({
        selected,
        client: restClient(common, undefined, [gate.intercept, faults.intercept]),
        clock,
        randomOf: (name) => randomOf(seed, chanceOf(name)),
        logger,
        metrics: queues,
        collector: {},
        issueSecretToken: undefined,
        rootCaPem: options.listen ? (await processCertificates()).caPem : NO_AUTHORITY,
        mount: (prefix, mounted) => server.mount(prefix, mounted),
        lifecycle: given({ simulate: options.simulate, compat: options.compat }),
        loading: (load) => activity.during(load),
      });
      const cascade = cascadeHandler({
        clientOf: (user) => clientOfUser(server.handler, user, { clock, userAgent: USER_AGENT }),
        clock,
        warmGraph: () => collector,
      });
      server.mount(CASCADE_PATH, cascade);
      const settler = new Settler({ clock, activity, queues, faults, recorder, collector, timers });
      const running = Promise.all(
        services.map((service) =>
          service.run(stopping.signal).catch((error: unknown) => {
            recorder.note('trouble', 'cluster', 'a controller ended', { why: messageOf(error) });
          }),
        ),
      );
      const cluster = new TestCluster({ ...common, settler, running });
      // The reaction of controllers to objects of a snapshot belongs to the trace of the test.
      if (from !== undefined) recorder.clear();
      startUp.begin(async () => {
        const held = (): boolean => stopping.signal.aborted || gate.held.length > 0;
        const atRest = (): boolean => held() || (collector?.atRest ?? true);
        await until(atRest, common, 'the collector has not synced');
        await settler.settle();
        if (from === undefined) recorder.clear();
      });
      // The consequences of objects in a snapshot have already happened.
      if (from !== undefined && objects.length === 0) return cluster;
      await startUp.done;
      await createObjects(seeder, objects);
      await settler.settle();
      return cluster;
    } catch (error) {
      stopping.abort();
      await started?.stop();
      await listener?.server.close();
      await store.close();
      throw error;
    }
  }

  /** A kubeconfig, as text, for programs that connect over HTTPS. Throws unless the cluster was started with `listen: true`. */
  get kubeconfig(): string {
    const { listener } = this.#parts;
    if (!listener) throw new Error('this cluster has no port; start it with startCluster({ listen: true })');
    return listener.kubeconfig;
  }

  /** `https://127.0.0.1:<port>`; as {@link kubeconfig}. */
  get url(): string {
    return this.#parts.listener?.server.url ?? this.kubeconfig;
  }

  /** Writes the kubeconfig where only this user can read it, in the place of a file that was there before. */
  async writeKubeconfig(path: string): Promise<void> {
    await writeFileAtomically(path, this.kubeconfig, 0o600);
  }

  /** A client for an operator under test, with its own name in the trace and in fault rules. */
  clientAs(name: string): ClusterClient {
    return this.#clientOf(name, [this.#parts.startUp.intercept, this.#parts.faults.intercept]);
  }

  /**
   * A cache of the objects of a kind with handlers for its changes, like that of an operator; it ends with the cluster. An error of a
   * handler is in the trace. Resolves when the cache knows all existing objects. Rejects, and ends the cache, with an answer of 400, 405 or
   * 422, because a retry would get it again, and after five seconds of real time with an Error that names the missing part.
   */
  async informer<T extends ApiObject = KubeObject>(query: KindQuery, who = 'informer'): Promise<Informer<T>> {
    checkKeys('informer', query, kindQueryKeys);
    const { clock, activity, recorder, server, faults, stopping } = this.#parts;
    const { apiVersion, kind, ...selection } = query;
    const { group, version, resource } = findResource(server.resources.resources(), apiVersion, kind);
    const firstSync = new FirstSync({
      resource: formatGroupResource({ group, resource }),
      clockStands: clock instanceof StandingClock,
      activity,
    });
    const informer = new Informer<T>({
      client: restClient(this.#parts, who, [faults.intercept]),
      clock,
      random: randomOf(this.#informers.length, 63),
      logger: recordingLogger(recorder).child({ component: who }),
      gvr: { group, version, resource },
      onFailure: firstSync.onFailure,
      ...selection,
    });
    const life = linkSignals(stopping.signal);
    this.#informers.push(informer.run(life.signal).finally(() => life.dispose()));
    try {
      await firstSync.of(informer, life.signal);
    } catch (error) {
      life.abort();
      throw error;
    }
    return informer;
  }

  /** Creates more objects, as `objects` of {@link ClusterOptions} do. */
  async load(objects: ObjectSources): Promise<void> {
    await createObjects(this.client, await readObjects(objects));
  }

  /**
   * Returns the present objects, for any number of clusters: `startCluster({ from: snapshot })`. The trace, fault rules, timers and
   * unfinished work of controllers are not in it, so settle the cluster first.
   */
  async snapshot(): Promise<ClusterSnapshot> {
    const { store, clock, generation, recorder, formerKinds } = this.#parts;
    const listed = store.list('/');
    const memory = recorder.memory;
    const { items, revision } = await listed;
    return new ClusterSnapshot({
      contents: {
        revision,
        items: items.map(({ key, value, createRevision, modRevision }) => ({
          key,
          value,
          createRevision,
          modRevision,
        })),
      },
      takenAt: clock.now(),
      generation: generation + 1,
      memory,
      formerKinds: formerKinds.list(),
    });
  }

  /** True if an object of this name is in the store now; for matchers. */
  knows(ref: Omit<ObjectRef, 'uid'>): boolean {
    return this.#parts.recorder.knows(ref);
  }

  /**
   * Resolves when nothing is left to do: queues empty, workers idle, watches delivered, no write for a while. Opens a cluster that was
   * paused. With the fake clock no time passes, except at most half a second when a controller retries a write after a conflict. The result
   * lists other work that waits for time. Rejects with a {@link NotSettledError} if the cluster does not come to rest.
   */
  settled(options?: SettleOptions): Promise<Settled> {
    const { gate, settler, startUp } = this.#parts;
    const settle = (): Promise<Settled> => {
      gate.open();
      return settler.settle(options);
    };
    return startUp.done?.then(settle) ?? settle();
  }

  /** From now on controllers decide but do not write, until {@link step} or {@link settled}. */
  pause(): void {
    this.#parts.gate.close();
  }

  /** True after {@link pause} or {@link step}, until {@link settled} is called. */
  get paused(): boolean {
    return this.#parts.gate.closed;
  }

  /**
   * Performs one waiting write of a controller, and everything that follows up to the next one; pauses first. Empty when none was waiting.
   */
  async step(): Promise<Trace> {
    const { gate, activity, recorder, startUp } = this.#parts;
    if (startUp.done !== undefined) await startUp.done;
    gate.close();
    await untilQuiet(activity, MAX_TURNS);
    const from = recorder.length;
    if (gate.letOneThrough()) await untilQuiet(activity, MAX_TURNS);
    return recorder.trace(from);
  }

  /** The events since the objects of the test existed, with their reasons. */
  trace(): Trace {
    return this.#parts.recorder.trace();
  }

  /** Ends everything that was started. A second call has no effect. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    const { gate, faults, timers, startUp, stopping, running, server, listener, store } = this.#parts;
    timers.close();
    stopping.abort();
    gate.open();
    faults.close();
    await this.#ended(Promise.all([running, ...this.#informers]));
    await startUp.done?.catch(() => undefined);
    await server.stop();
    await listener?.server.close();
    await store.close();
  }

  /** Moves the clock while it waits, because a worker may sleep on a clock that stands still. */
  async #ended(work: Promise<unknown>): Promise<void> {
    const { clock } = this.#parts;
    const state = { over: false };
    void work.finally(() => {
      state.over = true;
    });
    if (clock instanceof StandingClock) {
      for (let passed = 0; !state.over && passed < START.withinMs; passed += 1000) await clock.advanceAsync(1000);
    }
    await work;
  }

  #clientOf(name: string, interceptors: readonly Interceptor[]): ClusterClient {
    return new ClusterClient({
      name,
      rest: restClient(this.#parts, name, interceptors),
      served: () => this.#parts.server.resources.resources(),
      formerKinds: this.#parts.formerKinds,
      fieldValidation: this.#parts.fieldValidation,
      seen: (object) => void origins.set(object, this),
    });
  }
}

/** Starts a cluster; some tens of milliseconds once the process is warm. Stop it, or declare it with `await using`. */
export function startCluster(options?: ClusterOptions): Promise<TestCluster> {
  return TestCluster.start(options);
}

function restClient(
  { handler, clock }: Pick<Parts, 'handler' | 'clock'>,
  name: string | undefined,
  interceptors: readonly Interceptor[],
): RestClient {
  const userAgent = name === undefined ? USER_AGENT : `${USER_AGENT}/${name}`;
  return inProcessClient(handler, { clock, userAgent, interceptors, username: name });
}

/** Waits until every definition's kind is served. Rejects with a SeedError when another definition already has a name. */
function servedAll(
  definitions: readonly SeedObject[],
  parts: Pick<Parts, 'clock' | 'activity' | 'server' | 'recorder'>,
): Promise<void> {
  const { server, recorder } = parts;
  const isServed = (): boolean => areServed(definitions, server.resources.resources(), recorder.trace());
  return until(isServed, parts, 'the definitions are not served');
}

/**
 * Lets the server work, and a little time pass with the fake clock, until the condition holds. No time passes while a request is under way:
 * parts of the server are loaded on demand, which takes a slow machine seconds, and the time of the cluster must not contain them.
 */
async function until(
  condition: () => boolean,
  { clock, activity, recorder }: Pick<Parts, 'clock' | 'activity' | 'recorder'>,
  otherwise: string,
): Promise<void> {
  const patientUntil = systemClock.monotonic() + START.patienceMs;
  for (let passed = 0; passed <= START.withinMs;) {
    const quiet = await untilQuiet(activity, MAX_TURNS);
    if (condition()) return;
    if (!quiet && systemClock.monotonic() < patientUntil) continue;
    passed += START.stepMs;
    if (clock instanceof StandingClock) await clock.advanceAsync(START.stepMs);
    else await new Promise<void>((resolve) => void clock.setTimer(START.stepMs, resolve));
  }
  const last = recorder.trace().last(LAST_ENTRIES).toString();
  throw new Error(`the cluster did not start within ${START.withinMs} ms of its clock: ${otherwise}\n${last}`);
}

/** Throws a TypeError that names the invalid value. */
function checkCompatibility(compat: unknown): void {
  if (compat === undefined || compat === 'improved' || compat === 'strict') return;
  throw new TypeError(`compat is 'improved' or 'strict', not ${inspect(compat)}`);
}

/** Throws a TypeError that names the invalid setting. */
function checkSimulation(settings: SimulationSettings | undefined): void {
  if (settings === undefined) return;
  checkKeys('simulate', settings, ['pods', 'nodes']);
  const { pods, nodes } = settings;
  if (pods !== undefined && pods !== 'schedule' && pods !== 'run') {
    throw new TypeError(`simulate.pods is 'schedule' or 'run', not ${inspect(pods)}`);
  }
  if (nodes !== undefined && !(Number.isInteger(nodes) && nodes >= 0)) {
    throw new TypeError(`simulate.nodes is a whole number from 0, not ${inspect(nodes)}`);
  }
}
