import { setMaxListeners } from 'node:events';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../../src/apiserver/api-server.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import type { KubeObject, ObjectMeta } from '../../src/api/meta/object-meta.ts';
import { isNotFound } from '../../src/api/status-error.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { type Random, seededRandom } from '../../src/base/random/random.ts';
import type { Service } from '../../src/base/service.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import type { ResourceRef } from '../../src/client/rest/resource-path.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { type SharedContext, SharedInformers } from '../../src/lifecycle/kit/shared-informers.ts';

export interface ControllerEnvironment {
  readonly client: RestClient;
  readonly clock: FakeClock;
  readonly random: Random;
  readonly logger: MemoryLogger;
  readonly metrics: MemoryMetrics;
}

/** The users that are let in, and their rights. */
export type ServerRights = Pick<ApiServerOptions, 'authenticator' | 'authorizationMode' | 'ownerGuard'>;

export const gvrOf = (resource: string, group = '', version = 'v1') => ({ group, version, resource });
export const namespaces = gvrOf('namespaces');
export const pods = gvrOf('pods');
export const configMaps = gvrOf('configmaps');

/** The real API server on a store in memory, with time in the hands of the test. */
export class EmbeddedCluster {
  readonly clock = new FakeClock();
  readonly random = seededRandom(1);
  readonly logger = new MemoryLogger();
  readonly metrics = new MemoryMetrics();
  /** For the test itself; what controllers send does not pass here. */
  readonly client: RestClient;
  /** `METHOD path?query` of everything the controllers sent since it was last emptied, watches left out. */
  readonly requests: string[] = [];
  /** Sees each request of the controllers; answers in the server's place, or calls `next`. */
  fault: Interceptor = (request, next) => next(request);
  readonly #server: ApiServer;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  /** How many controllers are being loaded. */
  #loads = 0;

  private constructor(rights: ServerRights, interceptors: readonly Interceptor[]) {
    const { clock, random, logger, metrics } = this;
    // One listener for each cache and controller.
    setMaxListeners(0, this.#stop.signal);
    const store = openMemoryStore({ clock });
    this.#server = createApiServer({ store, clock, random, logger, metrics, version: {}, ...rights });
    this.client = this.clientWith(interceptors);
  }

  /** Everything is allowed to everybody unless the rights say otherwise. The interceptors see what the test itself sends. */
  static async start(rights: ServerRights = {}, interceptors: readonly Interceptor[] = []): Promise<EmbeddedCluster> {
    const cluster = new EmbeddedCluster(rights, interceptors);
    await cluster.wait(cluster.#server.start());
    // The server loads some of its parts when they are first needed, which takes time that no fake clock knows of.
    await cluster.wait(cluster.client.request({ method: 'GET', path: '/apis' }));
    const warmUp = { gvr: configMaps, namespace: 'default', name: 'warm-up' };
    await cluster.create({ gvr: configMaps, namespace: 'default' }, { metadata: { name: warmUp.name } });
    await cluster.wait(cluster.client.delete(warmUp));
    return cluster;
  }

  /** Runs a controller against the server until the cluster is stopped. */
  async run(controller: (environment: ControllerEnvironment) => Service): Promise<void> {
    const { clock, random, logger, metrics } = this;
    const record: Interceptor = (request, next) => {
      if (!request.target.includes('watch=')) this.requests.push(`${request.method} ${request.target}`);
      return next(request);
    };
    const client = this.clientWith([record, (request, next) => this.fault(request, next)]);
    this.#running.push(controller({ client, clock, random, logger, metrics }).run(this.#stop.signal));
    await clock.settle();
  }

  /** Runs controllers that read shared caches, all through one client, until the cluster is stopped. */
  async runShared(...controllers: readonly ((context: SharedContext) => Service)[]): Promise<void> {
    await this.run((environment) => {
      const { client, clock, random, logger } = environment;
      const informers = new SharedInformers({ client, clock, random, logger, signal: this.#stop.signal });
      const services = controllers.map((build) => build({ ...environment, informers }));
      return {
        run: async (signal) => {
          await Promise.all(services.map((service) => service.run(signal)));
          await informers.ended();
        },
      };
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.wait(Promise.all(this.#running));
    await this.#server.stop();
  }

  /** The outcome of work on the server, which makes progress only while the fake clock is attended to. */
  async wait<T>(work: Promise<T>): Promise<T> {
    const state = { settled: false };
    const note = (): void => {
      state.settled = true;
    };
    work.then(note, note);
    for (let rounds = 0; !state.settled && rounds < 10_000; rounds++) {
      await this.clock.settle();
      if (!state.settled && rounds >= 10) await realMillisecond();
    }
    if (!state.settled) throw new Error('the work waits for something that does not come');
    return work;
  }

  /** Lets time pass until the condition holds; answers how many milliseconds it took. Fails after `withinMs`. */
  async until(condition: () => Promise<boolean>, { withinMs = 60_000, stepMs = 50 } = {}): Promise<number> {
    for (let waited = 0; waited <= withinMs; waited += stepMs) {
      if (await this.wait(condition())) return waited;
      // Modules load in real time, however slow the machine is: no time of the fake clock is spent on that.
      while (this.#loads > 0) await realMillisecond();
      await this.clock.advanceAsync(stepMs);
    }
    throw new Error(`not so after ${withinMs} ms`);
  }

  /** Loads a controller while the fake clock stands in `until`. */
  readonly loading = async <T>(load: () => Promise<T>): Promise<T> => {
    this.#loads++;
    try {
      return await load();
    } finally {
      this.#loads--;
    }
  };

  create(ref: ResourceRef, object: { readonly metadata: ObjectMeta; readonly [field: string]: unknown }) {
    return this.wait(this.client.create(ref, object));
  }

  /** Undefined when there is no such object. */
  async get(ref: ResourceRef): Promise<KubeObject | undefined> {
    try {
      return await this.wait(this.client.get(ref));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async names(ref: ResourceRef): Promise<string[]> {
    const { items } = await this.wait(this.client.list(ref));
    return items.map(({ metadata }) => metadata?.name ?? '');
  }

  /** Another client of the server. */
  clientWith(interceptors: readonly Interceptor[]): RestClient {
    const transport = inProcessTransport(this.#server.handler);
    return new RestClient({ transport, clock: this.clock, userAgent: 'kubegc/test', interceptors });
  }
}

function realMillisecond(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1);
  });
}

/** An answer made by a test. */
export function answer(status: number, value: unknown) {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
