import type { CsrTimes } from '../csr-cleaner/csr-cleaner-controller.ts';
import type { Compatibility } from '../kit/compatibility.ts';
import type { NamespaceControllerOptions } from '../namespace/namespace-controller.ts';
import type { NodeExistenceSettings } from '../node-existence/node-existence-controller.ts';
import type { NodeHealthSettings } from '../node-lifecycle/node-lifecycle-controller.ts';
import type { PodGcSettings } from '../podgc/podgc-controller.ts';
import type { ClaimProtectionSettings } from '../volume-protection/claim-protection-controller.ts';
import type { SimulationMode } from '../simulator/pod-reconcile.ts';

/** The settings of the controllers that start on demand. A missing setting has kube-controller-manager's default. */
export interface LifecycleSettings {
  /** `strict`: as in kube-controller-manager, even where kubegc does better. `improved` by default. */
  readonly compat?: Compatibility;
  /** Names of controllers that decide and report their deletions, but write nothing. */
  readonly dryRun?: ReadonlySet<string>;
  /** Maximum number of terminated pods in the cluster; 0 or less means no limit. */
  readonly terminatedPodThreshold?: number;
  /** Number of expired Jobs that are deleted concurrently. */
  readonly concurrentTtlSyncs?: number;
  /** Number of Jobs that are synced concurrently. */
  readonly concurrentJobSyncs?: number;
  /** Number of CronJobs that are synced concurrently. */
  readonly concurrentCronJobSyncs?: number;
  /**
   * Number of objects of other kinds that are synced concurrently, by the name in kube-controller-manager's flag `--concurrent-NAME-syncs`.
   */
  readonly concurrentSyncs?: Readonly<Partial<Record<SyncedKind, number>>>;
  /** Deletes ReplicaSets beyond `revisionHistoryLimit` also while a rollout makes no progress. Off by default. */
  readonly deploymentCleanUpDuringRollout?: boolean;
  /** Deletes bare pods by their annotation `pod.kubegc.io/ttl-after-finished`. */
  readonly podTtl?: boolean;
  /** Deletes objects of any kind by their annotations `kubegc.io/ttl` and `kubegc.io/ttl-after-condition`; `alsoKinds` are excluded otherwise. */
  readonly genericTtl?: { readonly alsoKinds: readonly string[] };
  /** Writes the condition `Unused` of claims; `delete` also deletes claims that are unused for the time that they or their class state. */
  readonly unusedClaims?: 'report' | 'delete';
  readonly podGc?: PodGcSettings;
  /** The settings of the protection of claims, which runs from the start. */
  readonly claimProtection?: ClaimProtectionSettings;
  readonly csrCleaner?: CsrTimes;
  /** Age below which no lease of a node is deleted; an hour. */
  readonly nodeLeaseMinAgeMs?: number;
  /** The settings of the namespace controller, which runs from the start. */
  readonly namespaces?: Pick<NamespaceControllerOptions, 'concurrentNamespaceSyncs' | 'resyncMs' | 'deletionDelayMs'>;
  readonly simulate?: SimulationSettings;
  /** Removes the directories of released `hostPath` volumes below /tmp. */
  readonly hostPathDeleter?: boolean;
  /** Interval between attempts at a Failed volume; 15 s. */
  readonly volumeSyncPeriodMs?: number;
  /** The source of truth by which nodes without a machine are deleted. Off by default. */
  readonly nodeExistence?: NodeExistenceSettings;
  /** Marks nodes whose kubelet does not report. */
  readonly nodeHealth?: NodeHealthSettings;
  /** Time without a use after which a token in a Secret is refused, and after which it is then deleted; 365 days. */
  readonly legacyTokenCleanUpPeriodMs?: number;
}

export const SYNCED_KINDS = ['deployment', 'replicaset', 'rc', 'statefulset', 'daemonset', 'resourceclaim'] as const;
type SyncedKind = (typeof SYNCED_KINDS)[number];

export interface SimulationSettings {
  /** Off by default. */
  readonly pods?: SimulationMode;
  /** Number of simulated nodes; one if pods are simulated, otherwise none. */
  readonly nodes?: number;
}
