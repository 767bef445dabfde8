import { setMaxListeners } from 'node:events';
import { buildControllers } from '../../../src/assembly/build-controllers.ts';
import type { ControllerName } from '../../../src/assembly/controller-names.ts';
import type { Logger } from '../../../src/base/logs/logger.ts';
import { noMetrics } from '../../../src/base/metrics/metrics.ts';
import { RestClient } from '../../../src/client/rest/rest-client.ts';
import type { Network } from '../../collector/simulation/network.ts';
import type { WorkloadCluster } from './workload-cluster.ts';

const CONTROLLERS: ReadonlySet<ControllerName> = new Set<ControllerName>([
  'garbage-collector-controller',
  'namespace-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'persistentvolume-binder-controller',
  'deployment-controller',
  'replicaset-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'pod-garbage-collector-controller',
  'ttl-after-finished-controller',
  'taint-eviction-controller',
]);

/** As a caller of kube-apiserver gives up, ms. */
const TIMEOUT_MS = 30_000;

/** One process of all controllers, from start to stop. */
export class ControllersProcess {
  readonly network: Network;
  readonly #stopping: AbortController;
  readonly #done: Promise<unknown>;

  private constructor(network: Network, stopping: AbortController, done: Promise<unknown>) {
    this.network = network;
    this.#stopping = stopping;
    this.#done = done;
  }

  static async start(
    {
      clock,
      random,
      time,
      connect,
    }: Pick<WorkloadCluster, 'clock' | 'random' | 'time'> & {
      readonly connect: WorkloadCluster['connect'];
    },
    network: Network,
    logger: Logger,
  ): Promise<ControllersProcess> {
    const client = new RestClient({
      transport: connect(),
      clock,
      userAgent: 'controllers',
      interceptors: [network.intercept],
      defaultTimeoutMs: TIMEOUT_MS,
    });
    const { services } = await buildControllers({
      selected: CONTROLLERS,
      client,
      clock,
      randomOf: () => random,
      logger,
      metrics: noMetrics,
      // The next process has to know whose dependents were orphaned.
      collector: { orphanRecords: 'events' },
      lifecycle: {},
      rootCaPem: '',
      issueSecretToken: undefined,
      mount: () => {},
      loading: (load) => time.during(load),
    });
    const stopping = new AbortController();
    setMaxListeners(0, stopping.signal);
    const done = Promise.all(services.map((service) => service.run(stopping.signal)));
    return new ControllersProcess(network, stopping, done);
  }

  /** Resolves when it has ended; needs the clock to be attended to. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  /** Nothing of it reaches the server from now on, nor anything it. */
  crash(): void {
    this.network.fail('dead');
    this.#stopping.abort();
    this.#done.catch(() => {});
  }
}
