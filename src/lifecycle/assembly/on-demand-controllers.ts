import type { OnDemandController, WakingResource } from '../kit/on-first-use.ts';
import { PODS } from '../pods/pod-object.ts';
import type { SharedContext } from '../kit/shared-informers.ts';
import type { Service } from '../../base/service.ts';
import type { LifecycleSettings } from './lifecycle-settings.ts';

const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' };
const REPLICATION_CONTROLLERS = { group: '', version: 'v1', resource: 'replicationcontrollers' };

interface Entry {
  /** The short name that kube-controller-manager still accepts. */
  readonly alias: string;
  readonly wakes: readonly WakingResource[];
  readonly load: (context: SharedContext, settings: LifecycleSettings) => Promise<Service>;
}

/** The controllers that start with the first object of their kind, by kube-controller-manager's names. A new one is a new entry. */
const entries = {
  'replicaset-controller': {
    alias: 'replicaset',
    wakes: [{ gvr: REPLICA_SETS }],
    load: async (context) => {
      const { ReplicaSetController } = await import('../replicaset/replicaset-controller.ts');
      return new ReplicaSetController(context);
    },
  },
  'replicationcontroller-controller': {
    alias: 'replicationcontroller',
    wakes: [{ gvr: REPLICATION_CONTROLLERS }],
    load: async (context) => {
      const { ReplicationControllerController } = await import('../replicaset/replicationcontroller-controller.ts');
      return new ReplicationControllerController(context);
    },
  },
} as const satisfies Record<string, Entry>;

export type OnDemandControllerName = keyof typeof entries;

/** The names, each with its alias. */
export const onDemandControllers = Object.fromEntries(
  Object.entries<Entry>(entries).map(([name, { alias }]) => [name, alias]),
) as Readonly<Record<OnDemandControllerName, string>>;

/** The selected controllers, and the simulators that the settings ask for. */
export function selectOnDemand(selected: ReadonlySet<string>, settings: LifecycleSettings): OnDemandController[] {
  const controllers = Object.entries<Entry>(entries)
    .filter(([name]) => selected.has(name))
    .map(([name, { wakes, load }]) => ({ name, wakes, load: (context: SharedContext) => load(context, settings) }));
  return [...controllers, ...simulators(settings)];
}

function simulators({ simulate = {} }: LifecycleSettings): OnDemandController[] {
  const { pods: mode, nodes = mode === undefined ? 0 : 1 } = simulate;
  const list: OnDemandController[] = [];
  if (nodes > 0) {
    list.push({
      name: 'node-simulator',
      wakes: [],
      load: async (context) => {
        const { NodeSimulator } = await import('../simulator/node-simulator.ts');
        return new NodeSimulator({ ...context, nodes });
      },
    });
  }
  if (mode !== undefined) {
    list.push({
      name: 'pod-simulator',
      wakes: [{ gvr: PODS }],
      load: async (context) => {
        const { PodSimulator } = await import('../simulator/pod-simulator.ts');
        return new PodSimulator({ ...context, mode });
      },
    });
  }
  return list;
}
