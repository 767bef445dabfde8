import type { Clock } from '../../base/clock.ts';
import type { HttpHandler } from '../../base/http-message.ts';
import type { Logger } from '../../base/logger.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Service } from '../../base/service.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import type { OnDemandControllerName } from '../../lifecycle/assembly/on-demand-controllers.ts';
import type { TokenSecretControllerOptions } from '../../lifecycle/serviceaccount/token-secret-controller.ts';
import type { GarbageCollector } from '../../collector/garbage-collector.ts';
import type { ControllerName } from './controllers.ts';

export interface ControllerOptions {
  readonly selected: ReadonlySet<ControllerName>;
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Of the controllers that start on demand. */
  readonly lifecycle: LifecycleSettings;
  /** For ConfigMap `kube-root-ca.crt`. */
  readonly rootCaPem: string;
  /** A token for a Secret of a service account. */
  readonly issueSecretToken: TokenSecretControllerOptions['issue'];
  /** Between two self-checks of the collector, ms. Undefined: only when asked for. */
  readonly selfCheckPeriodMs: number | undefined;
  /** Hangs a debug page into the API server. */
  readonly mount: (prefix: string, handler: HttpHandler) => void;
}

/** `whenLeading`: it watches all the time, and decides and writes in its `lead` only. */
export async function buildCollector(
  { client, clock, random, logger, metrics, mount, selfCheckPeriodMs }: ControllerOptions,
  workers: 'always' | 'whenLeading',
): Promise<GarbageCollector> {
  const name = 'garbage-collector-controller';
  const { GarbageCollector } = await import('../../collector/garbage-collector.ts');
  const { DEBUG_BASES } = await import('../../collector/observation/debug-handler.ts');
  const collector = new GarbageCollector({
    client: client.as(name),
    clock,
    random,
    logger: logger.child({ controller: name }),
    metrics,
    workers,
    concurrentGcSyncs: CONCURRENT_GC_SYNCS,
    // In its own process the server sees to it that users get their turn.
    fewCalls: 2 * CONCURRENT_GC_SYNCS,
    selfCheckPeriodMs,
    orphanRecords: 'events',
  });
  for (const base of DEBUG_BASES) mount(base, collector.debugHandler);
  return collector;
}

/**
 * Builds the selected controllers. A controller that is not selected is not even loaded, nor is one whose kind has no object yet
 * (designs/0020-controllers-start-with-their-kind.md).
 */
export async function buildControllers(options: ControllerOptions): Promise<Service[]> {
  const { selected, client, clock, random, logger, metrics, rootCaPem } = options;
  const common = (name: string) => ({
    client: client.as(name),
    clock,
    random,
    logger: logger.child({ controller: name }),
    metrics,
  });
  const builders: Record<Exclude<ControllerName, OnDemandControllerName>, () => Promise<Service>> = {
    'garbage-collector-controller': () => buildCollector(options, 'always'),
    'namespace-controller': async () => {
      const { NamespaceController } = await import('../../lifecycle/namespace/namespace-controller.ts');
      return new NamespaceController(common('namespace-controller'));
    },
    'serviceaccount-controller': async () => {
      const { DefaultServiceAccountController } =
        await import('../../lifecycle/serviceaccount/default-service-account-controller.ts');
      return new DefaultServiceAccountController(common('serviceaccount-controller'));
    },
    'root-ca-certificate-publisher-controller': async () => {
      const { RootCaController } = await import('../../lifecycle/root-ca/root-ca-controller.ts');
      return new RootCaController({ ...common('root-ca-certificate-publisher-controller'), rootCaPem });
    },
    'serviceaccount-token-controller': async () => {
      const { TokenSecretController } = await import('../../lifecycle/serviceaccount/token-secret-controller.ts');
      const issue = options.issueSecretToken;
      return new TokenSecretController({ ...common('serviceaccount-token-controller'), rootCaPem, issue });
    },
    'clusterrole-aggregation-controller': async () => {
      const { ClusterRoleAggregationController } =
        await import('../../lifecycle/clusterrole-aggregation/clusterrole-aggregation-controller.ts');
      return new ClusterRoleAggregationController(common('clusterrole-aggregation-controller'));
    },
    'resourcequota-controller': async () => {
      const { ResourceQuotaController } = await import('../../lifecycle/resourcequota/resourcequota-controller.ts');
      return new ResourceQuotaController(common('resourcequota-controller'));
    },
    'persistentvolumeclaim-protection-controller': async () => {
      const { ClaimProtectionController } =
        await import('../../lifecycle/volume-protection/claim-protection-controller.ts');
      return new ClaimProtectionController(common('persistentvolumeclaim-protection-controller'));
    },
    'persistentvolume-protection-controller': async () => {
      const { VolumeProtectionController } =
        await import('../../lifecycle/volume-protection/volume-protection-controller.ts');
      return new VolumeProtectionController(common('persistentvolume-protection-controller'));
    },
  };
  const [{ OnFirstUse }, { selectOnDemand }, ...services] = await Promise.all([
    import('../../lifecycle/kit/on-first-use.ts'),
    import('../../lifecycle/assembly/on-demand-controllers.ts'),
    ...[...selected].filter((name) => name in builders).map((name) => builders[name as keyof typeof builders]()),
  ]);
  const controllers = selectOnDemand(selected, options.lifecycle);
  if (controllers.length === 0) return services;
  return [...services, new OnFirstUse({ ...common('shared-informers'), controllers, contextOf: common })];
}

/**
 * In one process a call costs microseconds and no network, and the durable store commits in groups: so many that one group can be
 * made while another is being flushed, and a cascade never waits for the disk. Nobody's requests are refused because of them (API-012).
 * With 192 a tenth more was collected, and a GET of somebody else took twice as long meanwhile.
 */
const CONCURRENT_GC_SYNCS = 128;
