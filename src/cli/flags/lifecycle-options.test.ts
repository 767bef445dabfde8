import { describe, expect, it } from 'vitest';
import { collectOptions } from '../collect/collect-options.ts';
import { upOptions } from '../up/up-options.ts';
import { type LifecycleFlags, lifecycleSettingsOf } from './lifecycle-flags.ts';
import { lifecycleOptions } from './lifecycle-options.ts';

const HOUR = 3_600_000;
const named = (flag: string) => (option: { readonly flags: string }) => option.flags.split(/[ ,]+/).includes(flag);

/** Each flag, a value, and the settings that it makes. */
const table: readonly (readonly [string, string | true, object])[] = [
  ['--compat', 'strict', { compat: 'strict' }],
  ['--dry-run-controllers', 'job,podgc', { dryRun: new Set(['job-controller', 'pod-garbage-collector-controller']) }],
  ['--terminated-pod-gc-threshold', '7', { terminatedPodThreshold: 7 }],
  ['--pod-gc-check-period', '5s', { podGc: { checkPeriodMs: 5000 } }],
  ['--pod-gc-quarantine', '1m', { podGc: { quarantineMs: 60_000 } }],
  ['--pod-gc-max-terminated-per-namespace', '7', { podGc: { maxTerminatedPerNamespace: 7 } }],
  ['--pod-gc-terminated-ttl', '48h', { podGc: { terminatedTtlMs: 48 * HOUR } }],
  ['--concurrent-ttl-after-finished-syncs', '7', { concurrentTtlSyncs: 7 }],
  ['--csr-poll-interval', '2h', { csrCleaner: { pollIntervalMs: 2 * HOUR } }],
  ['--csr-approved-expiration', '2h', { csrCleaner: { approvedMs: 2 * HOUR } }],
  ['--csr-denied-expiration', '2h', { csrCleaner: { deniedMs: 2 * HOUR } }],
  ['--csr-pending-expiration', '48h', { csrCleaner: { pendingMs: 48 * HOUR } }],
  ['--pvclaimbinder-sync-period', '1m', { volumeSyncPeriodMs: 60_000 }],
  ['--node-lease-min-age', '2h', { nodeLeaseMinAgeMs: 2 * HOUR }],
  ['--node-health', 'off', { nodeHealth: { mode: 'off' } }],
  ['--node-monitor-period', '7s', { nodeHealth: { monitorPeriodMs: 7000 } }],
  ['--node-monitor-grace-period', '7s', { nodeHealth: { gracePeriodMs: 7000 } }],
  ['--node-startup-grace-period', '7s', { nodeHealth: { startupGracePeriodMs: 7000 } }],
  ['--node-existence-source', 'lease', { nodeExistence: { source: { kind: 'lease' } } }],
  ['--concurrent-namespace-syncs', '7', { namespaces: { concurrentNamespaceSyncs: 7 } }],
  ['--namespace-sync-period', '1m', { namespaces: { resyncMs: 60_000 } }],
  ['--namespace-deletion-delay', '5s', { namespaces: { deletionDelayMs: 5000 } }],
  ['--concurrent-replicaset-syncs', '7', { concurrentSyncs: { replicaset: 7 } }],
  ['--concurrent-rc-syncs', '7', { concurrentSyncs: { rc: 7 } }],
  ['--concurrent_rc_syncs', '7', { concurrentSyncs: { rc: 7 } }],
  ['--concurrent-deployment-syncs', '7', { concurrentSyncs: { deployment: 7 } }],
  ['--concurrent-job-syncs', '7', { concurrentJobSyncs: 7 }],
  ['--concurrent-cron-job-syncs', '7', { concurrentCronJobSyncs: 7 }],
  ['--concurrent-statefulset-syncs', '7', { concurrentSyncs: { statefulset: 7 } }],
  ['--concurrent-daemonset-syncs', '7', { concurrentSyncs: { daemonset: 7 } }],
  ['--concurrent-resourceclaim-syncs', '7', { concurrentSyncs: { resourceclaim: 7 } }],
  ['--legacy-service-account-token-clean-up-period', '720h', { legacyTokenCleanUpPeriodMs: 720 * HOUR }],
  ['--generic-ttl', true, { genericTtl: { alsoKinds: [] } }],
  ['--deployment-cleanup-during-rollout', true, { deploymentCleanUpDuringRollout: true }],
  ['--pod-ttl', true, { podTtl: true }],
  ['--unused-claims', 'delete', { unusedClaims: 'delete' }],
  ['--pvc-protection-ignore-finished-pods', true, { claimProtection: { ignoreFinishedPods: true } }],
];

describe('the flags of lifecycle controllers', () => {
  it.each(table)('%s is a flag of kubegc up and kubegc collect, and sets its controller', (flag, value, settings) => {
    const option = lifecycleOptions.find(named(flag));
    expect([upOptions.filter(named(flag)).length, collectOptions.filter(named(flag)).length]).toEqual([1, 1]);
    const flags: LifecycleFlags = { [option?.key ?? '']: value };
    expect(lifecycleSettingsOf(flags)).toMatchObject(settings);
    expect(lifecycleSettingsOf({})).not.toMatchObject(settings);
  });

  it.each([
    ['--pod-gc-quarantine', { podGcQuarantine: '0' }],
    ['--pod-gc-max-terminated-per-namespace', { podGcMaxTerminatedPerNamespace: '-1' }],
    ['--pod-gc-terminated-ttl', { podGcTerminatedTtl: '-1h' }],
    ['--csr-pending-expiration', { csrPendingExpiration: 'soon' }],
    ['--node-lease-min-age', { nodeLeaseMinAge: '-1h' }],
    ['--namespace-sync-period', { namespaceSyncPeriod: '1ms' }],
    ['--concurrent-namespace-syncs', { concurrentNamespaceSyncs: '0' }],
  ])('%s is named when its value is wrong', (flag, flags) => {
    expect(() => lifecycleSettingsOf(flags)).toThrow(flag);
  });

  it('the key of each is the one that the command line gives it', () => {
    const keys = lifecycleOptions.map(({ flags }) =>
      (/^--([\w-]+)/.exec(flags)?.[1] ?? '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    );
    expect(keys).toEqual(lifecycleOptions.map(({ key }) => key));
  });
});
