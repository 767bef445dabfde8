import { parseGoDuration } from '../api/meta/duration.ts';
import { isDns1123Label, isDns1123Subdomain } from '../api/validation/names.ts';
import { invalidLeaseTimes, type LeaseTimes } from '../client/leader-election.ts';
import { defaultIgnoredResources, type GroupResourceName } from '../collector/resources/deletable-resources.ts';
import type { CollectFlags } from './collect-options.ts';
import { CommandError } from './command-error.ts';
import type { RequestRate } from './request-rate.ts';

export interface LeaseSettings {
  readonly namespace: string;
  readonly name: string;
  readonly times: LeaseTimes;
}

/** What `kubegc collect` is to do, checked. */
export interface CollectSettings {
  readonly mode: CollectFlags['mode'];
  readonly concurrentGcSyncs: number;
  readonly syncPeriodMs: number;
  readonly retryCapMs: number;
  readonly ignoredResources: readonly GroupResourceName[];
  /** Undefined: without leader election. */
  readonly lease: LeaseSettings | undefined;
  /** Undefined: no limit (BETTER-19). */
  readonly rate: RequestRate | undefined;
}

/** The lease by which kube-controller-manager, and with it the collector of most clusters, is known (COL-204, COL-214). */
export const otherCollectorsLease = { namespace: 'kube-system', name: 'kube-controller-manager' } as const;

const MAX_WORKERS = 1000;
const MAX_RATE = 100_000;
const DAY_MS = 24 * 60 * 60_000;

/** Throws a {@link CommandError} that names the flag. */
export function collectSettings(flags: CollectFlags): CollectSettings {
  const qps = numberOf('--kube-api-qps', flags.kubeApiQps, { least: 0, most: MAX_RATE });
  const burst = wholeOf('--kube-api-burst', flags.kubeApiBurst, { least: 0, most: MAX_RATE });
  if (qps === 0 && burst > 0) {
    throw new CommandError('--kube-api-burst does nothing without --kube-api-qps', 'Give both, or neither.');
  }
  return {
    mode: flags.mode,
    concurrentGcSyncs: wholeOf('--concurrent-gc-syncs', flags.concurrentGcSyncs, { least: 1, most: MAX_WORKERS }),
    syncPeriodMs: durationOf('--sync-period', flags.syncPeriod, { least: 1000, most: DAY_MS }),
    retryCapMs: durationOf('--retry-cap', flags.retryCap, { least: 5, most: DAY_MS }),
    // Events are never collected (COL-203), whatever else is left alone.
    ignoredResources: [...defaultIgnoredResources, ...ignoredOf(flags.gcIgnoredResources ?? [])],
    lease: isOn(flags.leaderElect) ? leaseOf(flags) : undefined,
    rate: qps === 0 ? undefined : { qps, burst: burst === 0 ? Math.max(1, Math.ceil(qps * 1.5)) : burst },
  };
}

interface Range {
  readonly least: number;
  readonly most: number;
}

function wholeOf(flag: string, text: string, range: Range): number {
  if (/^\d+$/.test(text)) return numberOf(flag, text, range);
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a whole number from ${range.least} to ${range.most}.`);
}

function numberOf(flag: string, text: string, { least, most }: Range): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a number from ${least} to ${most}.`);
}

function durationOf(flag: string, text: string, { least, most }: Range): number {
  const ms = parseGoDuration(text);
  if (ms === undefined) {
    throw new CommandError(`invalid ${flag} "${text}"`, 'Give a duration such as 30s, 1m30s or 500ms.');
  }
  if (ms >= least && ms <= most) return ms;
  throw new CommandError(`invalid ${flag} "${text}"`, `Give a duration from ${least} ms to ${most / 3_600_000} h.`);
}

function isOn(value: CollectFlags['leaderElect']): boolean {
  if (value === true || value === 'true') return true;
  if (value === 'false') return false;
  throw new CommandError(`invalid --leader-elect "${value}"`, 'Give true or false.');
}

function leaseOf(flags: CollectFlags): LeaseSettings {
  const range = { least: 1, most: DAY_MS };
  const times = {
    leaseDurationMs: durationOf('--leader-elect-lease-duration', flags.leaderElectLeaseDuration, range),
    renewDeadlineMs: durationOf('--leader-elect-renew-deadline', flags.leaderElectRenewDeadline, range),
    retryPeriodMs: durationOf('--leader-elect-retry-period', flags.leaderElectRetryPeriod, range),
  };
  const problem = invalidLeaseTimes(times);
  if (problem !== undefined) {
    throw new CommandError(
      `the times of the leader election do not fit together: ${problem}`,
      'The lease duration is longer than the renew deadline, and that more than 1.2 times the retry period; 15s, 10s and 2s are usual.',
    );
  }
  const { leaderElectResourceName: name, leaderElectResourceNamespace: namespace } = flags;
  refuseUnlessName('--leader-elect-resource-name', name, isDns1123Subdomain(name));
  refuseUnlessName('--leader-elect-resource-namespace', namespace, isDns1123Label(namespace));
  if (name === otherCollectorsLease.name && namespace === otherCollectorsLease.namespace) {
    throw new CommandError(
      `the lease ${namespace}/${name} is that of kube-controller-manager: holding it would stop all of its controllers`,
      'Leave --leader-elect-resource-name away, or choose another name (docs/collect.md).',
    );
  }
  return { name, namespace, times };
}

function refuseUnlessName(flag: string, text: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new CommandError(`invalid ${flag} "${text}"`, problems.join('; '));
}

function ignoredOf(lists: readonly string[]): GroupResourceName[] {
  return lists
    .flatMap((list) => list.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, group = '', resource = ''] = /^(?:([a-z0-9.-]*)\/)?([a-z0-9-]+)$/.exec(entry) ?? [];
      if (resource === '') {
        throw new CommandError(
          `invalid --gc-ignored-resources entry "${entry}"`,
          'Give GROUP/RESOURCE in the plural, for example apps/replicasets, or only RESOURCE of the core group, for example secrets.',
        );
      }
      return { group, resource };
    });
}
