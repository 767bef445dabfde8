import type { ControllerEntry } from './controller-entry.ts';

const apps = (resource: string) => ({ gvr: { group: 'apps', version: 'v1', resource } });
const core = (resource: string) => ({ gvr: { group: '', version: 'v1', resource } });

/** Controllers that make pods for others. */
export const workloadControllers = {
  'deployment-controller': {
    alias: 'deployment',
    wakes: [apps('deployments')],
    load: async (context) => {
      const { DeploymentController } = await import('../deployment/deployment-controller.ts');
      return new DeploymentController(context);
    },
  },
  'replicaset-controller': {
    alias: 'replicaset',
    wakes: [apps('replicasets')],
    load: async (context) => {
      const { ReplicaSetController } = await import('../replicaset/replicaset-controller.ts');
      return new ReplicaSetController(context);
    },
  },
  'replicationcontroller-controller': {
    alias: 'replicationcontroller',
    wakes: [core('replicationcontrollers')],
    load: async (context) => {
      const { ReplicationControllerController } = await import('../replicaset/replicationcontroller-controller.ts');
      return new ReplicationControllerController(context);
    },
  },
  'statefulset-controller': {
    alias: 'statefulset',
    wakes: [apps('statefulsets')],
    load: async (context) => {
      const { StatefulSetController } = await import('../statefulset/statefulset-controller.ts');
      return new StatefulSetController(context);
    },
  },
  'daemonset-controller': {
    alias: 'daemonset',
    wakes: [apps('daemonsets')],
    load: async (context) => {
      const { DaemonSetController } = await import('../daemonset/daemonset-controller.ts');
      return new DaemonSetController(context);
    },
  },
} as const satisfies Record<string, ControllerEntry>;
