import { describe, expect, it } from 'vitest';
import { type CollectFlags, collectOptions } from './collect-options.ts';
import { collectSettings } from './collect-settings.ts';
import { lifecycleSettingsOf } from '../flags/lifecycle-flags.ts';
import { CommandError } from '../process/command-error.ts';

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const defaults = Object.fromEntries(
  collectOptions.flatMap((option) =>
    option.default === undefined ? [] : [[camel(/--([\w-]+)/.exec(option.flags)?.[1] ?? ''), option.default]],
  ),
) as unknown as CollectFlags;

const settings = (flags: Partial<CollectFlags>) => collectSettings({ ...defaults, ...flags });
const events = [
  { group: '', resource: 'events' },
  { group: 'events.k8s.io', resource: 'events' },
];

describe('collectSettings', () => {
  it("COL-200 COL-201 COL-204 BETTER-8 BETTER-19 has kube-controller-manager's defaults, a lease of its own and no client limit", () => {
    expect(settings({})).toEqual({
      garbageCollector: 'on',
      mode: 'observe',
      controllers: new Set(),
      orphanTimes: {},
      // One of several API servers may still admit a write into a namespace that is deleted (LIFE-449).
      lifecycle: { ...lifecycleSettingsOf({}), namespaces: { deletionDelayMs: 5000 } },
      probe: undefined,
      concurrentGcSyncs: 20,
      syncPeriodMs: 30_000,
      initialSyncTimeoutMs: 30_000,
      absentOwners: 500,
      retry: { baseMs: 5, ratePerSecond: 10, burst: 100 },
      retryCapMs: 60_000,
      selfCheckPeriodMs: undefined,
      ignoredResources: events,
      orphanBarrier: 'on',
      orphanRecords: 'events',
      unservedVersions: 'unresolved',
      lease: {
        namespace: 'kube-system',
        name: 'kubegc-collector',
        times: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 },
      },
      rate: undefined,
      contentType: 'application/vnd.kubernetes.protobuf',
    });
  });

  it('LIFE-016 takes * for all controllers but those that need the keys of the server', () => {
    const { garbageCollector, controllers, lease } = settings({ mode: 'collect', controllers: ['*'] });
    expect(garbageCollector).toBe('on');
    expect(controllers).toContain('namespace-controller');
    expect(controllers).not.toContain('serviceaccount-token-controller');
    expect(controllers).not.toContain('root-ca-certificate-publisher-controller');
    expect(lease?.name).toBe('kubegc-collector');
    expect(settings({ mode: 'collect', controllers: ['job-controller'] }).lease?.name).toBe(
      'kubegc-collect-controllers',
    );
  });

  it.each([
    [
      { mode: 'collect', controllers: ['job-controller', 'garbage-collector-controller'] },
      { garbageCollector: 'on', controllers: new Set(['job-controller']) },
    ],
    [
      { mode: 'auto', controllers: ['deployment-controller,replicaset'] },
      { garbageCollector: 'off', controllers: new Set(['deployment-controller', 'replicaset-controller']) },
    ],
    [
      { mode: 'collect', controllers: ['ttl-after-finished'], genericTtl: true, podTtl: true, unusedClaims: 'off' },
      { lifecycle: { genericTtl: { alsoKinds: [] }, podTtl: true } },
    ],
    [
      { mode: 'collect', controllers: ['podgc'], podGcMaxTerminatedPerNamespace: '5', podGcTerminatedTtl: '1h' },
      { lifecycle: { podGc: { maxTerminatedPerNamespace: 5, terminatedTtlMs: 3_600_000 } } },
    ],
    [{ podGcTerminatedTtl: '0' }, { lifecycle: { podGc: { terminatedTtlMs: 0 } } }],
    [
      { mode: 'auto', controllers: ['pvc-protection'], unusedClaims: 'delete' },
      { lifecycle: { unusedClaims: 'delete' } },
    ],
    [{ kubeApiQps: '20', kubeApiBurst: '30' }, { rate: { qps: 20, burst: 30 } }],
    [{ kubeApiQps: '20' }, { rate: { qps: 20, burst: 30 } }],
    [{ kubeApiQps: '0.5' }, { rate: { qps: 0.5, burst: 1 } }],
    [{ leaderElect: 'false' }, { lease: undefined }],
    [{ enableGarbageCollector: 'false' }, { garbageCollector: 'off' }],
    [{ enableGarbageCollector: true }, { garbageCollector: 'on' }],
    [{ kubeApiContentType: 'application/json' }, { contentType: 'application/json' }],
    [{ selfCheckPeriod: '0s' }, { selfCheckPeriodMs: undefined }],
    [{ selfCheckPeriod: '1h30m' }, { selfCheckPeriodMs: 5_400_000 }],
    [
      { probe: 'default', mode: 'auto' },
      { probe: 'default', mode: 'auto' },
    ],
    [
      { initialSyncTimeout: '5s', absentOwnerCacheSize: '7', retryBase: '1s', retryQps: '0.5', retryBurst: '3' },
      { initialSyncTimeoutMs: 5000, absentOwners: 7, retry: { baseMs: 1000, ratePerSecond: 0.5, burst: 3 } },
    ],
    [
      { retryBase: '1m', retryCap: '60s' },
      { retry: { baseMs: 60_000 }, retryCapMs: 60_000 },
    ],
    [{ maxDeletesPerMinute: '100' }, { deletionLimits: { perCause: 100 } }],
    [{ maxDeletesPerMinute: '1', maxDeletesPerMinuteOverall: '9' }, { deletionLimits: { perCause: 1, overall: 9 } }],
    [{ orphanBarrier: 'false' }, { orphanBarrier: 'off' }],
    [
      { orphanTombstoneTtl: '2h', orphanBarrierTimeout: '10s' },
      { orphanTimes: { orphanRecordLifetimeMs: 7_200_000, orphanBarrierTimeoutMs: 10_000 } },
    ],
    [{ namespaceDeletionDelay: '0' }, { lifecycle: { namespaces: { deletionDelayMs: 0 } } }],
    [{ resolveUnservedVersions: true }, { unservedVersions: 'otherVersion' }],
    [
      { concurrentGcSyncs: '1', syncPeriod: '1m30s', retryCap: '500ms' },
      { syncPeriodMs: 90_000, retryCapMs: 500 },
    ],
    [
      { gcIgnoredResources: ['apps/replicasets, secrets', '/configmaps', 'events'] },
      {
        ignoredResources: [
          ...events,
          { group: 'apps', resource: 'replicasets' },
          { group: '', resource: 'secrets' },
          { group: '', resource: 'configmaps' },
          { group: '', resource: 'events' },
        ],
      },
    ],
  ] as const)('reads %o', (flags, expected) => {
    expect(settings(flags)).toMatchObject(expected);
  });

  it('takes --leader-elect without a value for true', () => {
    expect(settings({ leaderElect: true }).lease).toBeDefined();
  });

  it.each([
    [{ controllers: ['job-controller'] }, '--controllers does nothing with --mode observe'],
    [{ mode: 'auto', controllers: ['job-controller'], probe: 'default' }, '--probe finds out about collectors only'],
    [
      { mode: 'collect', controllers: ['serviceaccount-token-controller'] },
      'serviceaccount-token-controller runs only inside an API server',
    ],
    [{ genericTtl: true }, '--generic-ttl does nothing without ttl-after-finished-controller'],
    [{ podTtl: true }, '--pod-ttl does nothing without ttl-after-finished-controller'],
    [
      { mode: 'collect', controllers: ['*', '-ttl-after-finished'], podTtl: true },
      '--pod-ttl does nothing without ttl-after-finished-controller',
    ],
    [
      { mode: 'collect', controllers: ['ttl-after-finished'], unusedClaims: 'report' },
      '--unused-claims does nothing without persistentvolumeclaim-protection-controller',
    ],
    [
      { podGcMaxTerminatedPerNamespace: '5', podGcTerminatedTtl: '0' },
      '--pod-gc-max-terminated-per-namespace does nothing without pod-garbage-collector-controller',
    ],
    [
      { pvcProtectionIgnoreFinishedPods: true },
      '--pvc-protection-ignore-finished-pods does nothing without persistentvolumeclaim-protection-controller',
    ],
    [
      { deploymentCleanupDuringRollout: true },
      '--deployment-cleanup-during-rollout does nothing without deployment-controller',
    ],
    [{ podGcTerminatedTtl: '1h' }, '--pod-gc-terminated-ttl does nothing without pod-garbage-collector-controller'],
    [{ concurrentGcSyncs: '0' }, 'invalid --concurrent-gc-syncs "0"'],
    [{ concurrentGcSyncs: '1001' }, 'invalid --concurrent-gc-syncs "1001"'],
    [{ concurrentGcSyncs: '2.5' }, 'invalid --concurrent-gc-syncs "2.5"'],
    [{ concurrentGcSyncs: 'many' }, 'invalid --concurrent-gc-syncs "many"'],
    [{ syncPeriod: '30' }, 'invalid --sync-period "30"'],
    [{ syncPeriod: '0s' }, 'invalid --sync-period "0s"'],
    [{ syncPeriod: '-5s' }, 'invalid --sync-period "-5s"'],
    [{ retryCap: '25h' }, 'invalid --retry-cap "25h"'],
    [{ retryBase: '2m', retryCap: '1m' }, '--retry-cap 1m is shorter than --retry-base 2m'],
    [{ retryBase: '2m' }, '--retry-cap 1m is shorter than --retry-base 2m'],
    [{ selfCheckPeriod: '59s' }, 'invalid --self-check-period "59s"'],
    [{ selfCheckPeriod: 'often' }, 'invalid --self-check-period "often"'],
    [{ maxDeletesPerMinute: '0' }, 'invalid --max-deletes-per-minute "0"'],
    [{ maxDeletesPerMinuteOverall: 'few' }, 'invalid --max-deletes-per-minute-overall "few"'],
    [{ kubeApiQps: '-1' }, 'invalid --kube-api-qps "-1"'],
    [{ kubeApiQps: 'NaN' }, 'invalid --kube-api-qps "NaN"'],
    [{ kubeApiBurst: '1.5' }, 'invalid --kube-api-burst "1.5"'],
    [{ kubeApiBurst: '5' }, '--kube-api-burst does nothing without --kube-api-qps'],
    [{ initialSyncTimeout: 'soon' }, 'invalid --initial-sync-timeout "soon"'],
    [{ absentOwnerCacheSize: '0' }, 'invalid --absent-owner-cache-size "0"'],
    [{ retryBase: '0s' }, 'invalid --retry-base "0s"'],
    [{ retryQps: '0' }, 'invalid --retry-qps "0"'],
    [{ retryBurst: '1.5' }, 'invalid --retry-burst "1.5"'],
    [{ probe: 'Not A Name', mode: 'auto' }, 'invalid --probe "Not A Name"'],
    [{ probe: 'default', mode: 'collect' }, '--probe does nothing with --mode collect'],
    [{ orphanTombstoneTtl: '59m' }, 'invalid --orphan-tombstone-ttl "59m"'],
    [{ orphanBarrierTimeout: '0' }, 'invalid --orphan-barrier-timeout "0"'],
    [{ orphanBarrier: 'no' }, 'invalid --orphan-barrier "no"'],
    [{ enableGarbageCollector: 'no' }, 'invalid --enable-garbage-collector "no"'],
    [{ leaderElect: 'maybe' }, 'invalid --leader-elect "maybe"'],
    [{ leaderElectLeaseDuration: 'x' }, 'invalid --leader-elect-lease-duration "x"'],
    [{ leaderElectLeaseDuration: '10s' }, 'leaseDuration must be greater than renewDeadline'],
    [{ leaderElectRenewDeadline: '2s' }, 'renewDeadline must be greater than retryPeriod*JitterFactor'],
    [{ leaderElectResourceName: 'Not A Name' }, 'invalid --leader-elect-resource-name "Not A Name"'],
    [{ leaderElectResourceNamespace: 'a.b' }, 'invalid --leader-elect-resource-namespace "a.b"'],
    [{ leaderElectResourceName: 'kube-controller-manager' }, 'is that of kube-controller-manager'],
    [{ gcIgnoredResources: ['apps/v1/replicasets'] }, 'invalid --gc-ignored-resources entry "apps/v1/replicasets"'],
    [{ gcIgnoredResources: ['apps/'] }, 'invalid --gc-ignored-resources entry "apps/"'],
    [{ gcIgnoredResources: ['Pods'] }, 'invalid --gc-ignored-resources entry "Pods"'],
    [
      { gcIgnoredResources: ['secrets,v1/configmaps'] },
      'invalid --gc-ignored-resources entry "v1/configmaps": v1 is a version, not a group',
    ],
    [{ gcIgnoredResources: ['v1beta1/widgets'] }, 'entry "v1beta1/widgets": v1beta1 is a version'],
  ] as const)('refuses %o', (flags, message) => {
    let refusal: unknown;
    try {
      settings(flags);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(CommandError);
    expect((refusal as CommandError).message).toContain(message);
    expect((refusal as CommandError).advice).toBeTruthy();
  });

  it('does not check the lease of an election that is off', () => {
    expect(
      settings({ leaderElect: 'false', leaderElectResourceName: 'kube-controller-manager' }).lease,
    ).toBeUndefined();
  });
});
