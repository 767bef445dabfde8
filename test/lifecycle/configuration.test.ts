import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectOptions } from '../../src/cli/collect/collect-options.ts';
import { upOptions } from '../../src/cli/up/up-options.ts';

/**
 * The configuration keys of the rules: each with its flag, its default, and the flag of the same meaning of kube-controller-manager, which
 * has the same name here unless the last column names it. A flag that was given no value has no default in this table.
 */
const keys: [key: string, flag: string, byDefault: string, byKubeControllerManager?: string][] = [
  ['controllers', '--controllers', ''],
  ['compat', '--compat', 'improved'],
  ['dryRun', '--dry-run-controllers', ''],
  ['podGC.checkPeriod', '--pod-gc-check-period', '20s'],
  ['podGC.quarantine', '--pod-gc-quarantine', '40s'],
  ['podGC.terminatedPodThreshold', '--terminated-pod-gc-threshold', '12500'],
  ['podGC.maxTerminatedPerNamespace', '--pod-gc-max-terminated-per-namespace', '0'],
  ['podGC.terminatedTTL', '--pod-gc-terminated-ttl', '0'],
  ['ttlAfterFinished.workers', '--concurrent-ttl-after-finished-syncs', '5'],
  ['csrCleaner.pollInterval', '--csr-poll-interval', '1h'],
  ['csrCleaner.approvedExpiration', '--csr-approved-expiration', '1h'],
  ['csrCleaner.deniedExpiration', '--csr-denied-expiration', '1h'],
  ['csrCleaner.pendingExpiration', '--csr-pending-expiration', '24h'],
  ['pvBinder.syncPeriod', '--pvclaimbinder-sync-period', '15s'],
  ['nodeExistence.period', '--node-existence-period', '5s', '--node-monitor-period'],
  ['nodeExistence.source', '--node-existence-source', ''],
  ['nodeExistence.maxDeleteFraction', '--node-existence-max-delete-fraction', '0.1'],
  ['nodeLeases.leakCleaner', '--controllers', ''],
  ['nodeLeases.minAge', '--node-lease-min-age', '1h'],
  ['nodeHealth.enabled', '--node-health', 'auto'],
  ['nodeHealth.monitorPeriod', '--node-monitor-period', '5s'],
  ['nodeHealth.gracePeriod', '--node-monitor-grace-period', '50s'],
  ['nodeHealth.startupGracePeriod', '--node-startup-grace-period', '1m'],
  ['namespace.workers', '--concurrent-namespace-syncs', '10'],
  ['namespace.syncPeriod', '--namespace-sync-period', '5m'],
  ['namespace.deletionDelay', '--namespace-deletion-delay', '5s'],
  ['replicaset.workers', '--concurrent-replicaset-syncs', '5'],
  ['replicationcontroller.workers', '--concurrent-rc-syncs', '5', '--concurrent_rc_syncs'],
  ['deployment.workers', '--concurrent-deployment-syncs', '5'],
  ['job.workers', '--concurrent-job-syncs', '5'],
  ['cronjob.workers', '--concurrent-cron-job-syncs', '5'],
  ['statefulset.workers', '--concurrent-statefulset-syncs', '5'],
  ['daemonset.workers', '--concurrent-daemonset-syncs', '2'],
  ['resourceclaim.workers', '--concurrent-resourceclaim-syncs', '50'],
  ['orphan.tombstoneTTL', '--orphan-tombstone-ttl', '1h'],
  // 10 s in the rules; designs/0010 says why it is less.
  ['orphan.barrierTimeout', '--orphan-barrier-timeout', '2s'],
  ['legacyTokens.cleanUpPeriod', '--legacy-service-account-token-clean-up-period', '8760h'],
];

const optionOf = (
  options: readonly { readonly flags: string; readonly description: string; readonly default?: string }[],
  flag: string,
) => options.find(({ flags }) => flags.split(/[ ,]+/).includes(flag));
/** The rows `| flag | default | … |` of a page. */
const rowsOf = (page: string) =>
  new Map(
    [...readFileSync(page, 'utf8').matchAll(/^\| `(?:-\w, )?(--[\w-]+)[^`]*` \|([^|]*)\|/gm)].map(([, flag, value]) => [
      flag,
      (value ?? '').trim().replaceAll('`', ''),
    ]),
  );

describe('the configuration of lifecycle controllers', () => {
  it.each(keys)('LIFE-016 %s is %s, which is "%s" by default', (_, flag, byDefault, named) => {
    const alias = named ?? flag;
    for (const [options, page] of [
      [upOptions, 'docs/up.md'],
      [collectOptions, 'docs/collect.md'],
    ] as const) {
      const option = optionOf(options, flag);
      expect(option, `${page}: ${flag}`).toBeDefined();
      expect(optionOf(options, alias), `${page}: ${alias}`).toBeDefined();
      if (byDefault === '') continue;
      const inHelp = option?.default ?? /\(default: ([^ )]+)/.exec(option?.description ?? '')?.[1];
      expect(inHelp).toBe(byDefault);
      // The embedded server needs no delay (LIFE-449).
      const isDelayOfUp = flag === '--namespace-deletion-delay' && page === 'docs/up.md';
      expect(rowsOf(page).get(flag), `${page}: ${flag}`).toBe(isDelayOfUp ? '0' : byDefault);
    }
  });
});
