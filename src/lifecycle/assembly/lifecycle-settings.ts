import type { NodeExistenceSettings } from '../node-existence/node-existence-controller.ts';
import type { NodeHealthSettings } from '../node-lifecycle/node-lifecycle-controller.ts';
import type { SimulationMode } from '../simulator/pod-reconcile.ts';

/** The settings of the controllers that start on demand. Absent ones have kube-controller-manager's default. */
export interface LifecycleSettings {
  /** Terminated pods that may stay, cluster-wide; 0 or less: all of them. */
  readonly terminatedPodThreshold?: number;
  /** Jobs whose time is over, deleted at once. */
  readonly concurrentTtlSyncs?: number;
  /** Jobs synced at once. */
  readonly concurrentJobSyncs?: number;
  /** CronJobs synced at once. */
  readonly concurrentCronJobSyncs?: number;
  /** Objects of other kinds synced at once, by the name in kube-controller-manager's flag `--concurrent-NAME-syncs`. */
  readonly concurrentSyncs?: Readonly<Partial<Record<SyncedKind, number>>>;
  /** Deletes bare pods by their annotation `pod.kubegc.io/ttl-after-finished`. */
  readonly podTtl?: boolean;
  readonly simulate?: SimulationSettings;
  /** Removes the directories of released `hostPath` volumes below /tmp. */
  readonly hostPathDeleter?: boolean;
  /** Between two attempts at a volume that is Failed; 15 s. */
  readonly volumeSyncPeriodMs?: number;
  /** Deletes nodes whose machine is gone, by this source of truth. Off unless given. */
  readonly nodeExistence?: NodeExistenceSettings;
  /** Marks nodes whose kubelet is silent. */
  readonly nodeHealth?: NodeHealthSettings;
}

export const SYNCED_KINDS = ['deployment', 'replicaset', 'rc', 'statefulset', 'daemonset', 'resourceclaim'] as const;
export type SyncedKind = (typeof SYNCED_KINDS)[number];

export interface SimulationSettings {
  /** Off unless given. */
  readonly pods?: SimulationMode;
  /** Simulated nodes; one when pods are simulated, else none. */
  readonly nodes?: number;
}
