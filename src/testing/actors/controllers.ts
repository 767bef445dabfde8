import { inspect } from 'node:util';
import type { HttpHandler } from '../../base/http-message.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Metrics } from '../../base/metrics.ts';
import { type Random, seededRandom } from '../../base/random.ts';
import type { Service } from '../../base/service.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { DEBUG_BASES } from '../../collector/observation/debug-handler.ts';
import { GarbageCollector } from '../../collector/garbage-collector.ts';
import { ClusterRoleAggregationController } from '../../lifecycle/clusterrole-aggregation/clusterrole-aggregation-controller.ts';
import type { LifecycleSettings } from '../../lifecycle/assembly/lifecycle-settings.ts';
import {
  type OnDemandControllerName,
  onDemandControllers,
  selectOnDemand,
} from '../../lifecycle/assembly/on-demand-controllers.ts';
import { OnFirstUse } from '../../lifecycle/kit/on-first-use.ts';
import { NamespaceController } from '../../lifecycle/namespace/namespace-controller.ts';
import { ResourceQuotaController } from '../../lifecycle/resourcequota/resourcequota-controller.ts';
import { RootCaController } from '../../lifecycle/root-ca/root-ca-controller.ts';
import { DefaultServiceAccountController } from '../../lifecycle/serviceaccount/default-service-account-controller.ts';
import { ClaimProtectionController } from '../../lifecycle/volume-protection/claim-protection-controller.ts';
import { VolumeProtectionController } from '../../lifecycle/volume-protection/volume-protection-controller.ts';

/**
 * The controllers that `kubegc up` runs too, by kube-controller-manager's names; without the one that fills Secrets
 * with tokens, for nobody signs tokens here.
 */
const fixedControllers = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'resourcequota-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
] as const;

type FixedControllerName = (typeof fixedControllers)[number];
/** One of {@link controllerNames}. */
export type ControllerName = FixedControllerName | OnDemandControllerName;

/** All of them: those that run from the start, and those that start with the first object of their kind. */
export const controllerNames: readonly ControllerName[] = [
  ...fixedControllers,
  ...(Object.keys(onDemandControllers) as OnDemandControllerName[]),
];

export interface ControllersOptions {
  readonly selected: readonly ControllerName[];
  readonly client: RestClient;
  readonly clock: Clock;
  readonly seed: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly rootCaPem: string;
  readonly mount: (prefix: string, handler: HttpHandler) => void;
  readonly lifecycle: LifecycleSettings;
  /** Around the loading of a controller, so that the cluster is not at rest meanwhile. */
  readonly loading: <T>(load: () => Promise<T>) => Promise<T>;
}

export interface Controllers {
  readonly services: readonly Service[];
  /** Undefined when it is not selected. */
  readonly collector: GarbageCollector | undefined;
}

/** Throws a TypeError for what is no list, and for a name that is none: JavaScript does not hold callers to the type. */
export function checkControllers(selected: readonly string[]): void {
  if (!Array.isArray(selected)) {
    throw new TypeError(`controllers is a list of names, not ${inspect(selected)}; all run when it is left out`);
  }
  const unknown = selected.find((name) => !(controllerNames as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`unknown controller "${unknown}"; there are: ${controllerNames.join(', ')}`);
}

/** Each has chance of its own: what one draws does not change what another will do. */
export function buildControllers(options: ControllersOptions): Controllers {
  const { selected, client, clock, seed, logger, metrics, rootCaPem, mount } = options;
  const common = (name: string) => ({
    client: client.as(name),
    clock,
    random: randomOf(seed, chanceOf(name)),
    logger: logger.child({ controller: name }),
    metrics,
  });
  let collector: GarbageCollector | undefined;
  const builders: Record<FixedControllerName, () => Service> = {
    'garbage-collector-controller': () => {
      collector = new GarbageCollector(common('garbage-collector-controller'));
      for (const base of DEBUG_BASES) mount(base, collector.debugHandler);
      return collector;
    },
    'namespace-controller': () => new NamespaceController(common('namespace-controller')),
    'serviceaccount-controller': () => new DefaultServiceAccountController(common('serviceaccount-controller')),
    'root-ca-certificate-publisher-controller': () =>
      new RootCaController({ ...common('root-ca-certificate-publisher-controller'), rootCaPem }),
    'clusterrole-aggregation-controller': () =>
      new ClusterRoleAggregationController(common('clusterrole-aggregation-controller')),
    'resourcequota-controller': () => new ResourceQuotaController(common('resourcequota-controller')),
    'persistentvolumeclaim-protection-controller': () =>
      new ClaimProtectionController(common('persistentvolumeclaim-protection-controller')),
    'persistentvolume-protection-controller': () =>
      new VolumeProtectionController(common('persistentvolume-protection-controller')),
  };
  const services: Service[] = selected
    .filter((name) => name in builders)
    .map((name) => builders[name as FixedControllerName]());
  const controllers = selectOnDemand(new Set(selected), options.lifecycle);
  if (controllers.length > 0) {
    const { loading } = options;
    services.push(new OnFirstUse({ ...common('shared-informers'), controllers, contextOf: common, loading }));
  }
  return { services, collector };
}

/** Chance of the faults. */
export const FAULTS_CHANCE = 1 + fixedControllers.length;

/** Of a controller, of the shared caches or a simulator: numbers of their own, below those of the informers of a test. */
function chanceOf(name: string): number {
  const fixed = (fixedControllers as readonly string[]).indexOf(name);
  if (fixed >= 0) return 1 + fixed;
  return FAULTS_CHANCE + 2 + (controllerNames as readonly string[]).indexOf(name);
}

/**
 * The seed of a cluster that starts from a snapshot. Every generation has its own: with that of the one before, new objects would get uids
 * that others have.
 */
export function seedOf(seed: number, generation: number): number {
  return generation === 0 ? seed : 2 ** 32 * generation + (Math.imul(seed, 0x9e3779b1) >>> 0);
}

/** A stream of chance for one part of a cluster: 0 is the API server, then the controllers, then the faults. */
export function randomOf(seed: number, part: number): Random {
  return seededRandom(seed * 64 + part);
}
