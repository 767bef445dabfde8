import { describe, expect, it } from 'vitest';
import { type LifecycleFlags, lifecycleSettingsOf } from './lifecycle-flags.ts';

describe('the flags of the lifecycle controllers', () => {
  it('take the names of kube-controller-manager', () => {
    const settings = lifecycleSettingsOf({
      concurrentDeploymentSyncs: '3',
      concurrentRcSyncs: '4',
      concurrentJobSyncs: '7',
      pvclaimbinderSyncPeriod: '1m',
      nodeMonitorGracePeriod: '2m',
      nodeExistenceSource: 'lease',
      nodeAbsentAfter: '1h',
      unusedClaims: 'report',
      legacyServiceAccountTokenCleanUpPeriod: '720h',
    });
    expect(settings).toMatchObject({
      concurrentSyncs: { deployment: 3, rc: 4 },
      concurrentJobSyncs: 7,
      volumeSyncPeriodMs: 60_000,
      nodeHealth: { mode: 'auto', gracePeriodMs: 120_000 },
      nodeExistence: { source: { kind: 'lease', absentAfterMs: 3_600_000 } },
      legacyTokenCleanUpPeriodMs: 2_592_000_000,
      unusedClaims: 'report',
    });
    expect(lifecycleSettingsOf({}).nodeExistence).toBeUndefined();
    expect(lifecycleSettingsOf({ unusedClaims: 'off' }).unusedClaims).toBeUndefined();
    expect(lifecycleSettingsOf({}).genericTtl).toBeUndefined();
    expect(lifecycleSettingsOf({ genericTtl: true }).genericTtl).toEqual({ alsoKinds: [] });
    const alsoKinds = ['namespaces', 'apiextensions.k8s.io/customresourcedefinitions'];
    const genericTtlKinds = alsoKinds.join(', ');
    expect(lifecycleSettingsOf({ genericTtl: true, genericTtlKinds }).genericTtl).toEqual({ alsoKinds });
  });

  it('LIFE-018 run all controllers dry but those with a minus, also the ones that are off by default', () => {
    const { dryRun } = lifecycleSettingsOf({ dryRunControllers: '*,-job-controller' });
    expect(dryRun).toContain('token-cleaner-controller');
    expect(dryRun).toContain('namespace-controller');
    expect(dryRun).not.toContain('job-controller');
    expect(dryRun).not.toContain('garbage-collector-controller');
    expect(lifecycleSettingsOf({}).dryRun).toBeUndefined();
  });

  it.each<[LifecycleFlags]>([
    [{ podGcMaxTerminatedPerNamespace: '1' }],
    [{ podGcTerminatedTtl: '1h' }],
    [{ podTtl: true }],
    [{ genericTtl: true }],
    [{ unusedClaims: 'delete' }],
    [{ pvcProtectionIgnoreFinishedPods: true }],
    [{ deploymentCleanupDuringRollout: true }],
    [{ nodeExistenceSource: 'lease' }],
  ])(
    'LIFE-066 LIFE-067 LIFE-090 LIFE-155 LIFE-175 LIFE-315 strict refuses what Kubernetes does not have: %j',
    (flags) => {
      expect(() => lifecycleSettingsOf({ ...flags, compat: 'strict' })).toThrow('--compat strict adds nothing');
      expect(lifecycleSettingsOf({ ...flags, compat: 'improved' }).compat).toBeUndefined();
    },
  );

  it.each([
    [{ compat: 'loose' }, '--compat'],
    [{ dryRunControllers: 'garbage-collector-controller' }, '--dry-run-controllers'],
    [{ concurrentStatefulsetSyncs: '0' }, '--concurrent-statefulset-syncs'],
    [{ concurrentDaemonsetSyncs: 'many' }, '--concurrent-daemonset-syncs'],
    [{ pvclaimbinderSyncPeriod: '5' }, '--pvclaimbinder-sync-period'],
    [{ genericTtl: true, genericTtlKinds: 'namespaces,pods' }, '--generic-ttl-kinds'],
    [{ genericTtlKinds: 'namespaces' }, '--generic-ttl'],
    [{ unusedClaims: 'on' }, '--unused-claims'],
    [{ nodeHealth: 'maybe' }, '--node-health'],
    [{ nodeExistenceSource: 'aws' }, '--node-existence-source'],
    [{ legacyServiceAccountTokenCleanUpPeriod: '0' }, '--legacy-service-account-token-clean-up-period'],
    [{ nodeAbsentAfter: '1m' }, '--node-absent-after'],
    [{ nodeExistenceSource: 'lease', nodeExistenceMaxDeleteFraction: '2' }, '--node-existence-max-delete-fraction'],
  ])('name the flag that is wrong in %j', (flags, flag) => {
    expect(() => lifecycleSettingsOf(flags)).toThrow(flag);
  });
});
