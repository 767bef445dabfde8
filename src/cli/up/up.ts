import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import { type PluginFlags, pluginFlagProblems } from '../../apiserver/admission/plugin-selection.ts';
import type { AuthorizationMode } from '../../apiserver/authorization/authorization-mode.ts';
import { type EmulatedVersion, type FeatureGate, parseFeatureGates } from '../../apiserver/emulation/features.ts';
import type { OwnerGuard } from '../../apiserver/registry/resource-store.ts';
import { Cluster, type ClusterOptions } from '../cluster/cluster.ts';
import type { GuardBudget } from '../../cascade/guard/budget.ts';
import { CommandError, endWithError, systemReason } from '../process/command-error.ts';
import { selectControllers } from '../flags/select-controllers.ts';
import { DataDirectory } from '../cluster/data-directory.ts';
import type { EtcdFlags } from '../cluster/etcd-settings.ts';
import { engineHeap, IdleHeap } from './idle-heap.ts';
import { deletionLimitsOf } from '../flags/deletion-limits.ts';
import { type LifecycleFlags, lifecycleSettingsOf } from '../flags/lifecycle-flags.ts';
import type { LeaseTimeFlags } from '../flags/lease-times.ts';
import { parseListenAddress } from '../flags/listen-address.ts';
import type { LogFormat, LogLevel } from '../process/log-level.ts';
import { createLogger } from '../process/logger.ts';
import { readManifests } from '../flags/manifests.ts';
import { type OrphanTimeFlags, orphanTimesOf } from '../flags/orphan-times.ts';
import type { StoreKind } from '../cluster/open-store.ts';
import { selfCheckPeriodOf } from '../flags/self-check-period.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilParentEnds, untilSignal } from '../process/termination.ts';
import { usualLeaseTimes } from '../flags/usual-lease-times.ts';
import { webhookServicesOf } from './webhook-services.ts';

/** The values of the command line, as unparsed texts. */
export interface UpFlags extends EtcdFlags, LeaseTimeFlags, LifecycleFlags, OrphanTimeFlags {
  readonly dataDir: string;
  readonly store: StoreKind;
  readonly listen: string;
  readonly tlsSan?: readonly string[];
  readonly writeKubeconfig?: string;
  readonly controllers?: readonly string[];
  readonly authorizationMode: AuthorizationMode;
  readonly emulateVersion: EmulatedVersion;
  readonly featureGates?: readonly string[];
  readonly enableAdmissionPlugins?: readonly string[];
  readonly disableAdmissionPlugins?: readonly string[];
  readonly ownerGuard: OwnerGuard;
  readonly webhookService?: readonly string[];
  readonly guard?: boolean;
  readonly guardBudgets?: string;
  readonly record?: boolean;
  readonly recordNoSecrets?: boolean;
  readonly selfCheckPeriod: string;
  readonly maxDeletesPerMinute?: string;
  readonly maxDeletesPerMinuteOverall?: string;
  readonly filename?: readonly string[];
  readonly exitWithParent?: boolean;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** `kubegc up` as a whole program: {@link up} with printed errors. Never throws. */
export function runUp(flags: UpFlags, terminal: Terminal): Promise<number> {
  return up(flags, terminal).catch((error: unknown) => endWithError(error, terminal));
}

/**
 * Serves until SIGINT or SIGTERM, or optionally until the parent ends. Resolves with the exit code; rejects with the error that prevents
 * it.
 */
export async function up(flags: UpFlags, terminal: Terminal): Promise<number> {
  const idleHeap = new IdleHeap({ clock: systemClock, heap: engineHeap });
  idleHeap.start();
  try {
    return await serve(flags, terminal);
  } finally {
    idleHeap.stop();
  }
}

async function serve(flags: UpFlags, terminal: Terminal): Promise<number> {
  const ended = Promise.race([untilSignal(), ...(flags.exitWithParent ? [untilParentEnds()] : [])]);
  const listen = parseListenAddress(flags.listen);
  const controllers = selectControllers(flags.controllers ?? ['*']);
  const selfCheckPeriodMs = selfCheckPeriodOf(flags.selfCheckPeriod);
  const deletionLimits = deletionLimitsOf(flags);
  const orphanTimes = orphanTimesOf(flags);
  const guardBudgets = await guardBudgetsOf(flags);
  const recording = recordingOf(flags);
  const serviceHosts = webhookServicesOf(flags.webhookService);
  const lifecycle = lifecycleSettingsOf(flags);
  const featureGates = featureGatesOf(flags);
  const alsoReachedBy = servingNames(flags.tlsSan ?? []);
  const shared = await sharedStore(flags);
  const manifests = await readManifests(flags.filename ?? []);
  // A server that keeps neither data, records nor its kubeconfig in the directory leaves no directory behind.
  const needsDirectory = flags.store === 'file' || flags.writeKubeconfig === undefined || recording !== undefined;
  const directory = needsDirectory ? await DataDirectory.open(resolve(flags.dataDir)) : undefined;
  const kubeconfigPath = resolve(flags.writeKubeconfig ?? directory?.file('kubeconfig') ?? 'kubeconfig');
  const logger = createLogger({
    level: flags.logLevel,
    format: flags.logFormat,
    write: terminal.stderr,
    now: () => systemClock.now(),
  });

  const cluster = await Cluster.start({
    store: flags.store,
    ...shared,
    alsoReachedBy,
    ...(directory ? { directory } : {}),
    listen,
    controllers,
    selfCheckPeriodMs,
    deletionLimits,
    orphanTimes,
    authorizationMode: flags.authorizationMode,
    emulatedVersion: flags.emulateVersion,
    featureGates,
    admissionPlugins: admissionPlugins(flags),
    ownerGuard: flags.ownerGuard,
    guard: flags.guard === true ? 'on' : 'off',
    guardBudgets,
    recording,
    serviceHosts,
    lifecycle,
    clock: systemClock,
    random: systemRandom,
    logger,
  });
  try {
    // Pods among the manifests wait for the account that a controller creates in their namespace.
    if (manifests.length > 0) cluster.startControllers();
    await cluster.load(manifests);
    try {
      await writeFileAtomically(kubeconfigPath, cluster.kubeconfig, 0o600);
    } catch (error) {
      throw new CommandError(
        `cannot write the kubeconfig ${kubeconfigPath}: ${systemReason(error)}`,
        'Choose another file with --write-kubeconfig.',
        { cause: error },
      );
    }
    terminal.stdout(`kubeconfig: ${kubeconfigPath}\n`);
    terminal.stdout(`kubegc is ready: ${cluster.url} (${flags.store} store, ${manifests.length} objects loaded)\n`);
    // Clients that wait for the line above send requests next, so the controllers start after it.
    cluster.startControllers();
    const outcome = await Promise.race([ended, cluster.failed]);
    if (outcome instanceof Error) {
      terminal.stderr(`error: ${outcome.message}\n`);
      return 1;
    }
    return 0;
  } finally {
    await cluster.stop();
  }
}

async function guardBudgetsOf({ guard, guardBudgets }: UpFlags): Promise<readonly GuardBudget[]> {
  if (guardBudgets === undefined) return [];
  if (guard !== true) throw new CommandError('--guard-budgets does nothing without --guard', 'Give both, or neither.');
  const { readBudgets } = await import('../guard/read-budgets.ts');
  return readBudgets(guardBudgets);
}

function recordingOf({ record, recordNoSecrets }: UpFlags): ClusterOptions['recording'] {
  if (record === true) return { secrets: recordNoSecrets === true ? 'omitted' : 'encrypted' };
  if (recordNoSecrets !== true) return undefined;
  throw new CommandError('--record-no-secrets does nothing without --record', 'Give both, or neither.');
}

function featureGatesOf({ emulateVersion, featureGates = [] }: UpFlags): ReadonlySet<FeatureGate> {
  const gates = parseFeatureGates(featureGates.join(','), emulateVersion);
  if (typeof gates !== 'string') return gates;
  throw new CommandError(`invalid --feature-gates: ${gates}`, 'The gates are listed in docs/up.md.');
}

/** The names of `--tls-san` that a certificate can contain. */
function servingNames(lists: readonly string[]): readonly string[] {
  const names = lists.flatMap((list) => list.split(',')).map((name) => name.trim());
  const wrong = names.find(
    (name) => isIP(name) === 0 && !/^(\*\.)?[a-z\d]([\w-]*[a-z\d])?(\.[a-z\d]([\w-]*[a-z\d])?)*$/i.test(name),
  );
  if (wrong === undefined) return names;
  throw new CommandError(
    `invalid --tls-san "${wrong}"`,
    'Give a DNS name or an IP address, for example kube.example.org.',
  );
}

/** The settings of a store that several servers share; loaded only for one. */
async function sharedStore(flags: UpFlags): Promise<Pick<ClusterOptions, 'etcd' | 'leaseTimes'>> {
  if (
    flags.store !== 'etcd' &&
    Object.entries(flags).every(([name]) => !name.startsWith('etcd') || name === 'etcdPrefix')
  ) {
    refuseLeaseTimes(flags);
    return {};
  }
  const [{ etcdSettings }, { leaseTimesOf }] = await Promise.all([
    import('../cluster/etcd-settings.ts'),
    import('../flags/lease-times.ts'),
  ]);
  const etcd = await etcdSettings(flags.store, flags);
  return etcd === undefined ? {} : { etcd, leaseTimes: leaseTimesOf(flags) };
}

/** Servers elect a leader only if they share a store. */
function refuseLeaseTimes(flags: UpFlags): void {
  const given = (Object.keys(usualLeaseTimes) as (keyof LeaseTimeFlags)[]).find(
    (key) => flags[key] !== usualLeaseTimes[key],
  );
  if (given === undefined) return;
  const name = given.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new CommandError(`--${name} does nothing with --store ${flags.store}`, 'It is for --store etcd.');
}

/** Comma-separated names of both flags. */
function admissionPlugins(flags: UpFlags): PluginFlags {
  const names = (lists: readonly string[] = []): string[] =>
    lists.flatMap((list) => list.split(',')).filter((name) => name !== '');
  const selection = {
    enable: names(flags.enableAdmissionPlugins),
    disable: names(flags.disableAdmissionPlugins),
  };
  const problems = pluginFlagProblems(selection);
  if (problems.length > 0) {
    throw new CommandError(
      problems.join('\n'),
      'The plug-ins there are, and which of them run, are listed in docs/security.md.',
    );
  }
  return selection;
}
