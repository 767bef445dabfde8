import type { LifecycleFlags } from './lifecycle-flags.ts';

/** One flag of the lifecycle controllers, in commander's notation. */
export interface LifecycleOption {
  readonly key: keyof LifecycleFlags;
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** The flags of the lifecycle controllers, with the names and defaults of kube-controller-manager where it has them. */
export const lifecycleOptions: readonly LifecycleOption[] = [
  {
    key: 'compat',
    flags: '--compat <MODE>',
    description:
      'improved, or strict: controllers behave like those of kube-controller-manager even where kubegc does better',
    choices: ['improved', 'strict'],
    default: 'improved',
  },
  {
    key: 'dryRunControllers',
    flags: '--dry-run-controllers <LIST>',
    description:
      'controllers that decide and log each deletion that they would make, but write nothing: * for all but the collector, or names as in --controllers',
  },
  {
    key: 'terminatedPodGcThreshold',
    flags: '--terminated-pod-gc-threshold <COUNT>',
    description: 'terminated pods that may stay; 0 or less keeps all (default: 12500)',
  },
  {
    key: 'podGcCheckPeriod',
    flags: '--pod-gc-check-period <DURATION>',
    description: 'minimum interval between passes over terminated and orphaned pods (default: 20s)',
  },
  {
    key: 'podGcQuarantine',
    flags: '--pod-gc-quarantine <DURATION>',
    description: 'time that a node must be missing before its pods are deleted (default: 40s)',
  },
  {
    key: 'podGcMaxTerminatedPerNamespace',
    flags: '--pod-gc-max-terminated-per-namespace <COUNT>',
    description: 'terminated pods that may stay in one namespace; 0 keeps all (default: 0)',
  },
  {
    key: 'podGcTerminatedTtl',
    flags: '--pod-gc-terminated-ttl <DURATION>',
    description: 'time that a terminated pod stays, unless its Job is unfinished; 0 keeps all (default: 0)',
  },
  {
    key: 'concurrentTtlAfterFinishedSyncs',
    flags: '--concurrent-ttl-after-finished-syncs <COUNT>',
    description: 'finished Jobs deleted at once (default: 5)',
  },
  {
    key: 'concurrentJobSyncs',
    flags: '--concurrent-job-syncs <COUNT>',
    description: 'Jobs synced at once (default: 5)',
  },
  {
    key: 'concurrentCronJobSyncs',
    flags: '--concurrent-cron-job-syncs <COUNT>',
    description: 'CronJobs synced at once (default: 5)',
  },
  {
    key: 'concurrentDeploymentSyncs',
    flags: '--concurrent-deployment-syncs <COUNT>',
    description: 'Deployments synced at once (default: 5)',
  },
  {
    key: 'concurrentReplicasetSyncs',
    flags: '--concurrent-replicaset-syncs <COUNT>',
    description: 'ReplicaSets synced at once (default: 5)',
  },
  {
    key: 'concurrentRcSyncs',
    flags: '--concurrent-rc-syncs <COUNT>',
    description: 'ReplicationControllers synced at once (default: 5)',
  },
  {
    key: 'concurrent_rc_syncs',
    flags: '--concurrent_rc_syncs <COUNT>',
    description: 'the same as --concurrent-rc-syncs, under the name that kube-controller-manager documents',
  },
  {
    key: 'concurrentStatefulsetSyncs',
    flags: '--concurrent-statefulset-syncs <COUNT>',
    description: 'StatefulSets synced at once (default: 5)',
  },
  {
    key: 'concurrentDaemonsetSyncs',
    flags: '--concurrent-daemonset-syncs <COUNT>',
    description: 'DaemonSets synced at once (default: 2)',
  },
  {
    key: 'concurrentResourceclaimSyncs',
    flags: '--concurrent-resourceclaim-syncs <COUNT>',
    description: 'ResourceClaims synced at once (default: 50)',
  },
  {
    key: 'concurrentNamespaceSyncs',
    flags: '--concurrent-namespace-syncs <COUNT>',
    description: 'namespaces emptied at once (default: 10)',
  },
  {
    key: 'namespaceSyncPeriod',
    flags: '--namespace-sync-period <DURATION>',
    description: 'maximum interval between syncs of a terminating namespace (default: 5m)',
  },
  {
    key: 'namespaceDeletionDelay',
    flags: '--namespace-deletion-delay <DURATION>',
    description:
      'delay between the deletion of a namespace and the first read of its content (default: 5s for kubegc collect, 0 for kubegc up)',
  },
  {
    key: 'csrPollInterval',
    flags: '--csr-poll-interval <DURATION>',
    description: 'interval between passes over all CertificateSigningRequests, besides their timers (default: 1h)',
  },
  {
    key: 'csrApprovedExpiration',
    flags: '--csr-approved-expiration <DURATION>',
    description: 'time that an issued CertificateSigningRequest stays (default: 1h)',
  },
  {
    key: 'csrDeniedExpiration',
    flags: '--csr-denied-expiration <DURATION>',
    description: 'time that a denied or failed CertificateSigningRequest stays (default: 1h)',
  },
  {
    key: 'csrPendingExpiration',
    flags: '--csr-pending-expiration <DURATION>',
    description: 'time that a CertificateSigningRequest without an answer or a certificate stays (default: 24h)',
  },
  {
    key: 'nodeLeaseMinAge',
    flags: '--node-lease-min-age <DURATION>',
    description: 'age below which no lease of a node is deleted (default: 1h)',
  },
  {
    key: 'deploymentCleanupDuringRollout',
    flags: '--deployment-cleanup-during-rollout',
    description: 'delete ReplicaSets beyond revisionHistoryLimit also while a rollout makes no progress',
  },
  {
    key: 'podTtl',
    flags: '--pod-ttl',
    description: 'delete bare pods by their annotation pod.kubegc.io/ttl-after-finished',
  },
  {
    key: 'genericTtl',
    flags: '--generic-ttl',
    description: 'delete objects of any kind by their annotations kubegc.io/ttl and kubegc.io/ttl-after-condition',
  },
  {
    key: 'genericTtlKinds',
    flags: '--generic-ttl-kinds <LIST>',
    description: 'with --generic-ttl: kinds that are otherwise excluded, such as namespaces, separated by commas',
  },
  {
    key: 'pvclaimbinderSyncPeriod',
    flags: '--pvclaimbinder-sync-period <DURATION>',
    description: 'interval between attempts at volumes that failed (default: 15s)',
  },
  {
    key: 'unusedClaims',
    flags: '--unused-claims <MODE>',
    description:
      'claims that no pod names: write their condition Unused (report), also delete them after the time in kubegc.io/delete-unused-after (delete), or neither (off)',
    choices: ['off', 'report', 'delete'],
    default: 'off',
  },
  {
    key: 'pvcProtectionIgnoreFinishedPods',
    flags: '--pvc-protection-ignore-finished-pods',
    description: 'delete claims although finished pods name them',
  },
  {
    key: 'hostpathDeleter',
    flags: '--hostpath-deleter',
    description: 'delete the directories of released hostPath volumes below /tmp on this machine',
  },
  {
    key: 'nodeExistenceSource',
    flags: '--node-existence-source <SOURCE>',
    description:
      'delete nodes whose machine is not in this source: file:PATH, http(s)://URL, exec:PATH, object:RESOURCE.VERSION.GROUP or lease',
  },
  {
    key: 'nodeExistencePeriod',
    flags: '--node-existence-period <DURATION>',
    description: 'interval between questions to that source (default: 5s)',
  },
  {
    key: 'nodeExistenceMaxDeleteFraction',
    flags: '--node-existence-max-delete-fraction <SHARE>',
    description: 'share of all nodes that may be deleted at once, else none is (default: 0.1)',
  },
  {
    key: 'nodeAbsentAfter',
    flags: '--node-absent-after <DURATION>',
    description: 'silence after which the source "lease" counts a node as gone (default: 10m)',
  },
  {
    key: 'nodeHealth',
    flags: '--node-health <MODE>',
    description: 'mark silent nodes: those heard of before (auto), all (on), or none (off)',
    choices: ['auto', 'on', 'off'],
    default: 'auto',
  },
  {
    key: 'nodeMonitorPeriod',
    flags: '--node-monitor-period <DURATION>',
    description: 'interval between checks of node health (default: 5s)',
  },
  {
    key: 'nodeMonitorGracePeriod',
    flags: '--node-monitor-grace-period <DURATION>',
    description: 'silence after which a node is Unknown (default: 50s)',
  },
  {
    key: 'nodeStartupGracePeriod',
    flags: '--node-startup-grace-period <DURATION>',
    description: 'the same for a node that never reported (default: 1m)',
  },
  {
    key: 'legacyServiceAccountTokenCleanUpPeriod',
    flags: '--legacy-service-account-token-clean-up-period <DURATION>',
    description:
      'time without a use after which a generated token in a Secret is refused, and later deleted (default: 8760h)',
  },
];
