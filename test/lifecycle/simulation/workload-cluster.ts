import { type ApiServer, createApiServer } from '../../../src/apiserver/api-server.ts';
import { openMemoryStore } from '../../../src/apiserver/storage/embedded/memory-store.ts';
import type { Store } from '../../../src/apiserver/storage/interface.ts';
import { buildControllers } from '../../../src/assembly/build-controllers.ts';
import type { HttpHandler } from '../../../src/base/http-message.ts';
import type { Logger } from '../../../src/base/logs/logger.ts';
import { noMetrics } from '../../../src/base/metrics/metrics.ts';
import { type Random, seededRandom } from '../../../src/base/random/random.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { inProcessTransport } from '../../../src/client/http/in-process-transport.ts';
import type { Transport } from '../../../src/client/http/transport.ts';
import { RestClient } from '../../../src/client/rest/rest-client.ts';
import { SimulatedTime } from '../../collector/simulation/simulated-time.ts';
import { GVRS, SERVED } from './workload-kinds.ts';
import type { WorkloadJudge } from './workload-judge.ts';

export interface WorkloadClusterOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly logger: Logger;
  readonly judge: (clock: FakeClock) => WorkloadJudge;
}

/** The user agent of the collector, among those of the other controllers. */
const COLLECTOR = 'controllers/garbage-collector-controller';
const NO_AUTHORITY = '# Nobody reaches this cluster from outside.\n';

/** The real API server on a store in memory, with nodes and kubelets that are simulated and that nothing disturbs. */
export class WorkloadCluster {
  readonly clock = new FakeClock();
  readonly time = new SimulatedTime(this.clock);
  readonly random: Random;
  readonly judge: WorkloadJudge;
  /** Sends the requests of users. */
  readonly client: RestClient;
  readonly #options: WorkloadClusterOptions;
  readonly #server: ApiServer;
  readonly #store: Store;
  readonly #stopping = new AbortController();
  #kubelets: Promise<unknown> = Promise.resolve();

  constructor(options: WorkloadClusterOptions) {
    const { clock } = this;
    const { seed, logger, judge } = options;
    this.#options = options;
    this.random = seededRandom(seed);
    this.judge = judge(clock);
    this.#store = openMemoryStore({ clock });
    this.#server = createApiServer({
      store: this.#store,
      clock,
      random: this.random,
      logger,
      metrics: noMetrics,
      version: {},
    });
    const { resources } = this.#server;
    for (const { group, version, resource } of resources.resources()) {
      if (!SERVED.has(`${group}/${resource}`)) resources.remove(group, version, resource);
    }
    this.client = new RestClient({ transport: inProcessTransport(this.#handler), clock, userAgent: 'user' });
  }

  /** The server as the controllers reach it. */
  connect(): Transport {
    return inProcessTransport((request) => {
      if (request.headers['user-agent'] === COLLECTOR) this.judge.collectorAsks(request);
      return this.#handler(request);
    });
  }

  async start(): Promise<void> {
    await this.time.wait(this.#server.start());
    const startRevision = (await this.#store.currentRevision()) + 1;
    await this.#store.watch('/registry/', { startRevision, onEvents: this.judge.observe });
    await this.time.wait(this.client.create({ gvr: GVRS.Namespace }, { metadata: { name: 'team' } }));
    await this.#startKubelets();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.time.waitLong(this.#kubelets, 60_000);
    await this.time.wait(this.#server.stop());
    await this.#store.close();
  }

  async #startKubelets(): Promise<void> {
    const { clock, random } = this;
    const { logger, nodes } = this.#options;
    const { services } = await this.time.wait(
      buildControllers({
        selected: new Set(),
        client: this.client.as('kubelet'),
        clock,
        randomOf: () => random,
        logger,
        metrics: noMetrics,
        collector: {},
        lifecycle: { simulate: { pods: 'run', nodes } },
        rootCaPem: NO_AUTHORITY,
        issueSecretToken: undefined,
        mount: () => {},
        loading: (load) => this.time.during(load),
      }),
    );
    this.#kubelets = Promise.all(services.map((service) => service.run(this.#stopping.signal)));
    await this.time.settle();
  }

  readonly #handler: HttpHandler = (request) => this.time.during(() => this.#server.handler(request));
}
