import type { Clock } from '../base/time/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import type { Logger } from '../base/logs/logger.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import type { Random } from '../base/random/random.ts';
import type { Service } from '../base/service.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import type { GarbageCollector } from '../collector/garbage-collector.ts';
import type { GarbageCollectorOptions } from '../collector/garbage-collector-options.ts';
import { given } from '../lifecycle/assembly/controller-entry.ts';
import type { LifecycleSettings } from '../lifecycle/assembly/lifecycle-settings.ts';
import { selectOnDemand } from '../lifecycle/assembly/on-demand-controllers.ts';
import { withholdWrites } from '../lifecycle/kit/dry-run.ts';
import type { ControllerContext } from '../lifecycle/kit/object-per-namespace.ts';
import type { TokenSecretControllerOptions } from '../lifecycle/serviceaccount/token-secret-controller.ts';
import type { ControllerName, FixedControllerName } from './controller-names.ts';

export interface ControllersOptions {
  readonly selected: ReadonlySet<ControllerName>;
  /** The client of all controllers; each controller uses it with its own User-Agent. */
  readonly client: RestClient;
  readonly clock: Clock;
  /** A controller's source of randomness, by the controller's name. */
  readonly randomOf: (name: string) => Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly collector: Pick<
    GarbageCollectorOptions,
    | 'concurrentGcSyncs'
    | 'fewCalls'
    | 'selfCheckPeriodMs'
    | 'orphanRecords'
    | 'orphanRecordLifetimeMs'
    | 'orphanBarrierTimeoutMs'
    | 'deletionLimits'
  >;
  /** Settings of the controllers that start on demand. */
  readonly lifecycle: LifecycleSettings;
  /** For ConfigMap `kube-root-ca.crt`. */
  readonly rootCaPem: string;
  /** Issues a token for a Secret of a service account. Required by `serviceaccount-token-controller`, which is otherwise not built. */
  readonly issueSecretToken: TokenSecretControllerOptions['issue'] | undefined;
  /** Serves a debug page from the API server. */
  readonly mount: (prefix: string, handler: HttpHandler) => void;
  /** Wraps the loading of a module, for callers that track it. */
  readonly loading?: <T>(load: () => Promise<T>) => Promise<T>;
}

export interface Controllers {
  readonly services: readonly Service[];
  /** Undefined if it is not selected. */
  readonly collector: GarbageCollector | undefined;
}

const COLLECTOR = 'garbage-collector-controller';
/** A change of a definition starts a pass over discovery at once. Without one, the server in this process serves the same resources. */
const DISCOVERY_PERIOD_MS = 3_600_000;

/** With workers `whenLeading`, the collector watches all the time, but decides and writes only during its `lead`. */
export async function buildCollector(
  options: ControllersOptions,
  workers: 'always' | 'whenLeading',
): Promise<GarbageCollector> {
  const { GarbageCollector } = await import('../collector/garbage-collector.ts');
  const { DEBUG_BASES } = await import('../collector/observation/debug-handler.ts');
  const collector = new GarbageCollector({
    ...contextOf(options, COLLECTOR),
    identity: 'certain',
    syncPeriodMs: DISCOVERY_PERIOD_MS,
    ...options.collector,
    workers,
  });
  for (const base of DEBUG_BASES) options.mount(base, collector.debugHandler);
  return collector;
}

/**
 * Builds the selected controllers, in the order of the selection. A controller that is not selected is not loaded, nor is one whose kind
 * has no object yet (designs/0020-controllers-start-with-their-kind.md). Modules are loaded one after the other: test runners that link
 * modules themselves (Jest) fail on two that are loaded at the same time and import a third.
 */
export async function buildControllers(options: ControllersOptions): Promise<Controllers> {
  const { selected } = options;
  const built = new Map<FixedControllerName, Service>();
  for (const name of [...selected].filter(isFixed)) {
    const service = await builders[name](options);
    if (service !== undefined) built.set(name, service);
  }
  const services = [...built.values()];
  const collector = built.get(COLLECTOR) as GarbageCollector | undefined;
  const controllers = selectOnDemand(selected, options.lifecycle);
  if (controllers.length > 0) {
    const { loading } = options;
    const { OnFirstUse } = await import('../lifecycle/kit/on-first-use.ts');
    services.push(
      new OnFirstUse({
        ...contextOf(options, 'shared-informers'),
        controllers,
        contextOf: (name) => contextOf(options, name),
        ...(loading === undefined ? {} : { loading }),
      }),
    );
  }
  return { services, collector };
}

function isFixed(name: ControllerName): name is FixedControllerName {
  return name in builders;
}

function contextOf(options: ControllersOptions, name: string): ControllerContext {
  const { client, clock, randomOf, logger, metrics, lifecycle } = options;
  const isDry = lifecycle.dryRun?.has(name) ?? false;
  const log = logger.child({ controller: name, ...(isDry ? { dryRun: true } : {}) });
  return {
    client: isDry ? client.as(name).through(withholdWrites({ controller: name, logger: log })) : client.as(name),
    clock,
    random: randomOf(name),
    logger: log,
    metrics,
  };
}

/** One entry for each controller that runs from the start; `lifecycle/assembly/on-demand-controllers.ts` has the others. */
const builders: Record<FixedControllerName, (options: ControllersOptions) => Promise<Service | undefined>> = {
  [COLLECTOR]: (options) => buildCollector(options, 'always'),
  'namespace-controller': async (options) => {
    const { NamespaceController } = await import('../lifecycle/namespace/namespace-controller.ts');
    const { namespaces, compat } = options.lifecycle;
    return new NamespaceController({
      ...contextOf(options, 'namespace-controller'),
      ...namespaces,
      ...given({ compat }),
    });
  },
  'serviceaccount-controller': async (options) => {
    const { DefaultServiceAccountController } =
      await import('../lifecycle/serviceaccount/default-service-account-controller.ts');
    return new DefaultServiceAccountController(contextOf(options, 'serviceaccount-controller'));
  },
  'root-ca-certificate-publisher-controller': async (options) => {
    const { RootCaController } = await import('../lifecycle/root-ca/root-ca-controller.ts');
    const { rootCaPem } = options;
    return new RootCaController({ ...contextOf(options, 'root-ca-certificate-publisher-controller'), rootCaPem });
  },
  'serviceaccount-token-controller': async (options) => {
    const { issueSecretToken: issue, rootCaPem } = options;
    if (issue === undefined) return undefined;
    const { TokenSecretController } = await import('../lifecycle/serviceaccount/token-secret-controller.ts');
    return new TokenSecretController({ ...contextOf(options, 'serviceaccount-token-controller'), rootCaPem, issue });
  },
  'clusterrole-aggregation-controller': async (options) => {
    const { ClusterRoleAggregationController } =
      await import('../lifecycle/clusterrole-aggregation/clusterrole-aggregation-controller.ts');
    return new ClusterRoleAggregationController(contextOf(options, 'clusterrole-aggregation-controller'));
  },
  'resourcequota-controller': async (options) => {
    const { ResourceQuotaController } = await import('../lifecycle/resourcequota/resourcequota-controller.ts');
    return new ResourceQuotaController(contextOf(options, 'resourcequota-controller'));
  },
  'persistentvolumeclaim-protection-controller': async (options) => {
    const { ClaimProtectionController } = await import('../lifecycle/volume-protection/claim-protection-controller.ts');
    return new ClaimProtectionController({
      ...contextOf(options, 'persistentvolumeclaim-protection-controller'),
      ...options.lifecycle.claimProtection,
    });
  },
  'persistentvolume-protection-controller': async (options) => {
    const { VolumeProtectionController } =
      await import('../lifecycle/volume-protection/volume-protection-controller.ts');
    return new VolumeProtectionController(contextOf(options, 'persistentvolume-protection-controller'));
  },
};
