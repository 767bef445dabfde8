import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type ControllerEntry, given } from './controller-entry.ts';

const apps = (resource: string) => ({ gvr: { group: 'apps', version: 'v1', resource } });
const core = (resource: string) => ({ gvr: { group: '', version: 'v1', resource } });

const specOf = (pod: KubeObject) =>
  pod['spec'] as { readonly volumes?: readonly object[]; readonly resourceClaims?: unknown[] };
const hasEphemeralVolume = (pod: KubeObject): boolean =>
  (specOf(pod)?.volumes ?? []).some((volume) => 'ephemeral' in volume);
const hasResourceClaim = (pod: KubeObject): boolean => (specOf(pod)?.resourceClaims ?? []).length > 0;

/** Controllers that create pods for other objects, or manage such pods. */
export const workloadControllers = {
  'deployment-controller': {
    alias: 'deployment',
    wakes: [apps('deployments')],
    load: async (
      context,
      { concurrentSyncs: { deployment: workers } = {}, deploymentCleanUpDuringRollout: cleanUpDuringRollout },
    ) => {
      const { DeploymentController } = await import('../deployment/deployment-controller.ts');
      return new DeploymentController({ ...context, ...given({ workers, cleanUpDuringRollout }) });
    },
  },
  'replicaset-controller': {
    alias: 'replicaset',
    wakes: [apps('replicasets')],
    load: async (context, { concurrentSyncs: { replicaset: workers } = {} }) => {
      const { ReplicaSetController } = await import('../replicaset/replicaset-controller.ts');
      return new ReplicaSetController({ ...context, ...given({ workers }) });
    },
  },
  'replicationcontroller-controller': {
    alias: 'replicationcontroller',
    wakes: [core('replicationcontrollers')],
    load: async (context, { concurrentSyncs: { rc: workers } = {} }) => {
      const { ReplicationControllerController } = await import('../replicaset/replicationcontroller-controller.ts');
      return new ReplicationControllerController({ ...context, ...given({ workers }) });
    },
  },
  'statefulset-controller': {
    alias: 'statefulset',
    wakes: [apps('statefulsets')],
    load: async (context, { concurrentSyncs: { statefulset: workers } = {} }) => {
      const { StatefulSetController } = await import('../statefulset/statefulset-controller.ts');
      return new StatefulSetController({ ...context, ...given({ workers }) });
    },
  },
  'daemonset-controller': {
    alias: 'daemonset',
    wakes: [apps('daemonsets')],
    load: async (context, { concurrentSyncs: { daemonset: workers } = {} }) => {
      const { DaemonSetController } = await import('../daemonset/daemonset-controller.ts');
      return new DaemonSetController({ ...context, ...given({ workers }) });
    },
  },
  'disruption-controller': {
    alias: 'disruption',
    wakes: [{ gvr: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' } }],
    load: async (context) => {
      const { DisruptionController } = await import('../disruption/disruption-controller.ts');
      return new DisruptionController(context);
    },
  },
  'endpointslice-controller': {
    alias: 'endpointslice',
    wakes: [core('pods')],
    load: async (context) => {
      const { EndpointSliceController } = await import('../endpointslice/endpointslice-controller.ts');
      return new EndpointSliceController(context);
    },
  },
  'endpoints-controller': {
    alias: 'endpoint',
    wakes: [core('pods')],
    load: async (context) => {
      const { EndpointsController } = await import('../endpoints/endpoints-controller.ts');
      return new EndpointsController(context);
    },
  },
  'ephemeral-volume-controller': {
    alias: 'ephemeral-volume',
    wakes: [{ ...core('pods'), when: hasEphemeralVolume }],
    load: async (context) => {
      const { EphemeralVolumeController } = await import('../ephemeral-volume/ephemeral-volume-controller.ts');
      return new EphemeralVolumeController(context);
    },
  },
  'resourceclaim-controller': {
    alias: 'resourceclaim-controller',
    wakes: [
      { gvr: { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' } },
      { ...core('pods'), when: hasResourceClaim },
    ],
    load: async (context, { concurrentSyncs: { resourceclaim: workers } = {} }) => {
      const { ResourceClaimController } = await import('../resourceclaim/resourceclaim-controller.ts');
      return new ResourceClaimController({ ...context, ...given({ workers }) });
    },
  },
} as const satisfies Record<string, ControllerEntry>;
