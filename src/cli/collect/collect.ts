import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { untilAborted } from '../../base/time/abort.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { sleep, systemClock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Service } from '../../base/service.ts';
import { systemRandom } from '../../base/random/random.ts';
import { loadClientConfig } from '../../client/kubeconfig/client-config.ts';
import { connect } from '../../client/http/connect.ts';
import type { ClientConfig } from '../../client/http/connect-options.ts';
import { KubeconfigError } from '../../client/kubeconfig/kubeconfig.ts';
import { LeaderElector } from '../../client/election/leader-elector.ts';
import { requestMetrics } from '../../client/rest/request-metrics.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { DEBUG_BASES, debugPages } from '../../collector/observation/debug-handler.ts';
import { ClusterIdentity } from '../../collector/trust/cluster-identity.ts';
import { GarbageCollector } from '../../collector/garbage-collector.ts';
import type { CollectFlags } from './collect-options.ts';
import { collectSettings, type CollectSettings, otherCollectorsLease } from './collect-settings.ts';
import { CollectorProbe } from './collector-probe.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { explainDecision } from './explain-decision.ts';
import { CombinedVerdict, watchEmbeddedCollector } from './embedded-collector.ts';
import { firstContact } from './first-contact.ts';
import { Leadership } from './leadership.ts';
import { parseListenAddress } from '../flags/listen-address.ts';
import { createLogger } from '../process/logger.ts';
import { refuseRunning, type RunningControllersOptions, watchRunning } from './running-controllers.ts';
import { ObservationServer } from '../metrics/observation-server.ts';
import { type OtherCollector, OtherCollectorWatch } from './other-collector.ts';
import { ProbedCollectorWatch, type WatchLease } from './probed-collector-watch.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { PrometheusMetrics } from '../metrics/prometheus.ts';
import { systemKubeconfigIo } from '../process/system-kubeconfig-io.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilSignal } from '../process/termination.ts';
import { kubegcVersion } from '../process/version.ts';
import { workClients } from './work-clients.ts';

const clock = systemClock;
const random = systemRandom;
/** Timeout of requests without their own. The server itself ends all requests except watches after a minute. */
const REQUEST_TIMEOUT_MS = 60_000;
const STARTED_POLL_MS = 20;

/** Collects or observes until SIGINT or SIGTERM. Resolves with the exit code; rejects with the error that prevents it. */
export async function collect(flags: CollectFlags, terminal: Terminal): Promise<number> {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  const settings = collectSettings(flags);
  const collects = settings.garbageCollector === 'on';
  if (!collects && settings.controllers.size === 0) {
    terminal.stdout(
      'nothing runs: neither the collector nor another controller is selected (--enable-garbage-collector, --controllers)\n',
    );
    return 0;
  }
  if (flags.explainEveryAction === true && !['debug', 'info'].includes(flags.logLevel)) {
    throw new CommandError(
      `--explain-every-action logs at level info, which --log-level ${flags.logLevel} hides`,
      'Leave one of the two away.',
    );
  }
  if (flags.bindTokenFile !== undefined && flags.bindAddress === undefined) {
    throw new CommandError('--bind-token-file does nothing without --bind-address', 'Give both, or neither.');
  }
  const listen = flags.bindAddress === undefined ? undefined : parseListenAddress(flags.bindAddress, '--bind-address');
  const token = flags.bindTokenFile === undefined ? undefined : await readToken(flags.bindTokenFile);
  const { logLevel: level, logFormat: format } = flags;
  const logger = createLogger({ level, format, write: terminal.stderr, now: () => clock.now() });
  if (settings.deletionLimits !== undefined && settings.mode === 'observe') {
    logger.info('no limit of deletions applies, because --mode observe deletes nothing');
  }
  const config = await clientConfig(flags);

  const identity = new ClusterIdentity({ clock, logger });
  identity.foreign.addEventListener('abort', () => stop.abort(), { once: true });
  const parts = assemble({ settings, config, logger, explain: flags.explainEveryAction === true, identity });
  const { collector, leadership, client, metrics } = parts;
  const running = { client, clock, controllers: settings.controllers, server: config.server };
  const progress: { answered: boolean } = { answered: false };
  const server =
    listen &&
    (await ObservationServer.start({
      listen,
      token,
      notReadyBecause: () => {
        if (!progress.answered) return 'the API server has not answered yet';
        return !collects || collector.started ? undefined : 'the first lists are not complete';
      },
      metrics: () => metrics.expose(),
      debug: { prefixes: DEBUG_BASES, handler: collector.debugHandler, pages: debugPages },
    }));
  try {
    if (server !== undefined) terminal.stdout(`health, metrics and the debug graph: ${server.url}\n`);
    const isContext = config.source !== 'in-cluster' && config.source !== '--master';
    const source = isContext ? `context ${config.source}` : config.source;
    await firstContact({ client, clock, random, logger, server: config.server, source }, stop.signal);
    await refuseRunning(running, stop.signal);
    progress.answered = true;
    const ready = (): void => {
      terminal.stdout(`kubegc is ready: ${config.server} (${source}, mode ${settings.mode})\n`);
    };
    await run({ collector: collects ? collector : undefined, leadership, stop, ready, running });
    identity.foreign.throwIfAborted();
    return 0;
  } catch (error) {
    identity.foreign.throwIfAborted();
    if (isAbortError(error) && stop.signal.aborted) return 0;
    throw error;
  } finally {
    await server?.close();
    await client.close();
  }
}

interface Parts {
  readonly collector: GarbageCollector;
  readonly leadership: Leadership;
  readonly client: RestClient;
  readonly metrics: PrometheusMetrics;
}

function assemble(options: {
  readonly settings: CollectSettings;
  readonly config: ClientConfig;
  readonly logger: Logger;
  readonly explain: boolean;
  /** Restricts all requests to one cluster, including those of the election. */
  readonly identity: ClusterIdentity;
}): Parts {
  const { settings, config, logger, explain, identity } = options;
  const { initialSyncTimeoutMs, absentOwners, retry } = settings;
  const { mode, lease, rate, contentType, concurrentGcSyncs, syncPeriodMs, retryCapMs, selfCheckPeriodMs } = settings;
  const { ignoredResources, orphanBarrier, orphanRecords, unservedVersions, deletionLimits } = settings;
  const metrics = new PrometheusMetrics();
  processMetrics(metrics, process, clock.now());
  const counted = requestMetrics(metrics, new URL(config.server).host);
  const common = {
    transport: connect({ ...config, clock }),
    clock,
    userAgent: `kubegc/${kubegcVersion} (${process.platform}/${process.arch})`,
    defaultTimeoutMs: REQUEST_TIMEOUT_MS,
  };
  // A client only for the lease, which must be renewed while other requests wait, and acquired before writes are allowed.
  const client = new RestClient({ ...common, interceptors: [identity.intercept, counted] });
  const elector =
    lease &&
    new LeaderElector({
      ...lease,
      client: client.as('leader-election'),
      clock,
      random,
      logger,
      metrics,
      identity: `${hostname()}_${random.uuid()}`,
    });
  const { forCollector, forControllers } = workClients({
    common,
    clock,
    identity,
    mayWrite,
    counted,
    rate,
    contentType,
  });
  const collector = new GarbageCollector({
    client: forCollector.as('generic-garbage-collector'),
    identity,
    clock,
    random,
    logger,
    metrics,
    ...(mode === 'observe'
      ? { workers: 'always' as const, writes: 'withheld' as const }
      : { workers: 'whenLeading' as const }),
    concurrentGcSyncs,
    syncPeriodMs,
    initialSyncTimeoutMs,
    absentOwners,
    retry,
    retryCapMs,
    selfCheckPeriodMs,
    ignoredResources,
    orphanBarrier,
    orphanRecords,
    ...settings.orphanTimes,
    unservedVersions,
    deletionLimits,
    terminatingObjects: 'reported',
    ...(explain
      ? {
          onDecision: (decision) => {
            const { message, fields } = explainDecision(decision);
            logger.info(message, fields);
          },
        }
      : {}),
  });
  const leadership = new Leadership({
    mode,
    elector,
    watchOther: (signal, onChange) => watchOther(settings, client, { signal, onChange }),
    lead: async (signal) => {
      const services = await otherControllers({ settings, client: forControllers, logger, metrics });
      await Promise.all([
        settings.garbageCollector === 'on' && collector.lead(signal),
        ...services.map((service) => service.run(signal)),
      ]);
    },
    logger,
    metrics,
  });
  // The write guard calls this with the first request, when everything here is initialized.
  function mayWrite(): boolean {
    return leadership.mayWrite;
  }
  return { collector, leadership, client, metrics };
}

/** Creates the controllers that run beside the collector in one term. They keep no state between terms. */
async function otherControllers(options: {
  readonly settings: CollectSettings;
  readonly client: RestClient;
  readonly logger: Logger;
  readonly metrics: PrometheusMetrics;
}): Promise<readonly Service[]> {
  const { settings, client, logger, metrics } = options;
  if (settings.controllers.size === 0) return [];
  const { buildControllers } = await import('../../assembly/build-controllers.ts');
  const { services } = await buildControllers({
    selected: settings.controllers,
    client,
    clock,
    randomOf: () => random,
    logger,
    metrics,
    collector: {},
    lifecycle: settings.lifecycle,
    rootCaPem: '',
    issueSecretToken: undefined,
    mount: () => {},
  });
  return services;
}

/** Reports whether another collector runs: in every mode one inside the API server, and with `auto` one that a lease or a probe proves. */
async function watchOther(
  settings: CollectSettings,
  client: RestClient,
  { signal, onChange }: { readonly signal: AbortSignal; readonly onChange: (verdict: OtherCollector) => void },
): Promise<void> {
  const verdicts = new CombinedVerdict(onChange);
  if (settings.mode !== 'auto') verdicts.elsewhere({ runs: 'no', why: 'asked' });
  await Promise.all([
    settings.garbageCollector === 'on'
      ? watchEmbeddedCollector({ client, clock }, signal, (embedded) => verdicts.embedded(embedded))
      : withoutCollector(verdicts, signal),
    settings.mode === 'auto' &&
      watchElsewhere(settings, client, { signal, onChange: (verdict) => verdicts.elsewhere(verdict) }),
  ]);
}

/** Another collector does not matter to a process that does not collect. */
function withoutCollector(verdicts: CombinedVerdict, signal: AbortSignal): Promise<void> {
  verdicts.embedded('absent');
  return untilAborted(signal);
}

/** Watches the lease of kube-controller-manager, or probes where that is allowed. */
function watchElsewhere(
  { probe: namespace, lease }: CollectSettings,
  client: RestClient,
  { signal, onChange }: { readonly signal: AbortSignal; readonly onChange: (verdict: OtherCollector) => void },
): Promise<void> {
  const watch =
    (of: { readonly namespace: string; readonly name: string }): WatchLease =>
    (until, tell) =>
      new OtherCollectorWatch({ client, clock, namespace: of.namespace, name: of.name, onChange: tell }).run(until);
  if (namespace === undefined) return watch(otherCollectorsLease)(signal, onChange);
  return new ProbedCollectorWatch({
    probe: new CollectorProbe({ client: client.as('collector-probe'), clock, random, namespace }),
    watchOther: watch(otherCollectorsLease),
    watchPeers: lease === undefined ? undefined : watch(lease),
    clock,
    onChange,
  }).run(signal);
}

/** The work ends first and the lease is released, then the watches end (COL-215). */
async function run(options: {
  /** Undefined: only other controllers run. */
  readonly collector: GarbageCollector | undefined;
  readonly leadership: Leadership;
  readonly stop: AbortController;
  readonly ready: () => void;
  readonly running: RunningControllersOptions;
}): Promise<void> {
  const { collector, leadership, stop, ready, running } = options;
  const watching = new AbortController();
  const failures: unknown[] = [];
  const supervised = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      failures.push(error);
      stop.abort();
    });
  const collecting = collector && supervised(collector.run(watching.signal));
  const asking = supervised(watchRunning(running, stop.signal));
  const leading = supervised(leadership.run(stop.signal));
  const announcing = supervised(announce(() => collector?.started ?? true, ready, stop.signal));
  await leading;
  watching.abort();
  await Promise.all([collecting, announcing, asking]);
  if (failures.length > 0) throw failures[0];
}

async function announce(started: () => boolean, ready: () => void, signal: AbortSignal): Promise<void> {
  try {
    while (!started()) await sleep(clock, STARTED_POLL_MS, signal);
    ready();
  } catch (error) {
    if (!isAbortError(error)) throw error;
  }
}

async function clientConfig({ kubeconfig, context, master }: CollectFlags): Promise<ClientConfig> {
  if (kubeconfig === '') {
    throw new CommandError(
      'invalid --kubeconfig "": it is empty',
      'Give --kubeconfig FILE, or leave it away for KUBECONFIG, ~/.kube/config or the pod this runs in.',
    );
  }
  try {
    return await loadClientConfig({
      io: systemKubeconfigIo,
      clock,
      ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
      ...(context === undefined ? {} : { context }),
      ...(master === undefined ? {} : { server: serverOf(master) }),
    });
  } catch (error) {
    if (!(error instanceof KubeconfigError) && !isSystemError(error)) throw error;
    throw new CommandError(
      `cannot find out which cluster to use: ${error.message}`,
      'Give --kubeconfig FILE and --context NAME, set KUBECONFIG, or run in a pod with a service account.',
      { cause: error },
    );
  }
}

function serverOf(master: string): string {
  const url = URL.canParse(master) ? new URL(master) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return master;
  throw new CommandError(`invalid --master "${master}"`, 'Give a URL such as https://10.0.0.1:6443.');
}

/** True for a file that cannot be read. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}

async function readToken(path: string): Promise<string> {
  const token = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`cannot read the token file ${path}: ${systemReason(error)}`, 'See --bind-token-file.', {
      cause: error,
    });
  });
  if (token.trim() !== '') return token.trim();
  throw new CommandError(`the token file ${path} is empty`, 'Put a long random word into it.');
}
