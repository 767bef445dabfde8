import type { OnDemandController } from '../kit/on-first-use.ts';
import { PODS } from '../pods/pod-object.ts';
import type { SharedContext } from '../kit/shared-informers.ts';
import { cleanUpControllers } from './clean-up-controllers.ts';
import type { ControllerEntry } from './controller-entry.ts';
import { jobControllers } from './job-controllers.ts';
import type { LifecycleSettings } from './lifecycle-settings.ts';
import { workloadControllers } from './workload-controllers.ts';

/** The controllers that start with the first object of their kind, by kube-controller-manager's names. A new one is a new entry. */
const entries = {
  ...workloadControllers,
  ...cleanUpControllers,
  ...jobControllers,
} as const satisfies Record<string, ControllerEntry>;

type OnDemandControllerName = keyof typeof entries;

/** The names, each with its alias. */
export const onDemandControllers = Object.fromEntries(
  Object.entries<ControllerEntry>(entries).map(([name, { alias }]) => [name, alias]),
) as Readonly<Record<OnDemandControllerName, string>>;

/** The selected controllers, and the simulators in the settings. */
export function selectOnDemand(selected: ReadonlySet<string>, settings: LifecycleSettings): OnDemandController[] {
  const controllers = Object.entries<ControllerEntry>(entries)
    .filter(([name, { when }]) => selected.has(name) && (when?.(settings) ?? true))
    .map(([name, { wakes, load }]) => ({ name, wakes, load: (context: SharedContext) => load(context, settings) }));
  const hasTtl = selected.has(TTL_CONTROLLER);
  const optional = [
    ...(settings.podTtl === true && hasTtl ? [podTtl] : []),
    ...(settings.unusedClaims !== undefined && selected.has(CLAIM_PROTECTION)
      ? [unusedClaims(settings.unusedClaims)]
      : []),
    ...(settings.genericTtl !== undefined && hasTtl ? [genericTtl(settings.genericTtl)] : []),
  ];
  return [...controllers, ...optional, ...simulators(settings)];
}

const TTL_CONTROLLER = 'ttl-after-finished-controller';

/** Runs in addition to the same controller of Jobs, because every pod starts it. */
const podTtl: OnDemandController = {
  name: TTL_CONTROLLER,
  wakes: [{ gvr: PODS }],
  load: async (context) => {
    const { TtlController } = await import('../ttl-after-finished/ttl-controller.ts');
    return new TtlController({ ...context, of: 'pods' });
  },
};

/** It starts at once, because an object of any kind may have a TTL. */
function genericTtl({ alsoKinds }: NonNullable<LifecycleSettings['genericTtl']>): OnDemandController {
  return {
    name: TTL_CONTROLLER,
    wakes: [],
    load: async (context) => {
      const { GenericTtlController } = await import('../generic-ttl/generic-ttl-controller.ts');
      return new GenericTtlController({ ...context, alsoKinds });
    },
  };
}

/** Part of the protection of claims, which runs from the start; any claim wakes it. */
const CLAIM_PROTECTION = 'persistentvolumeclaim-protection-controller';

function unusedClaims(mode: 'report' | 'delete'): OnDemandController {
  return {
    name: CLAIM_PROTECTION,
    wakes: [{ gvr: { group: '', version: 'v1', resource: 'persistentvolumeclaims' } }],
    load: async (context) => {
      const { UnusedClaimsController } = await import('../unused-claims/unused-claims-controller.ts');
      return new UnusedClaimsController({ ...context, mode });
    },
  };
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
