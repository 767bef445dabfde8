import { readFile } from 'node:fs/promises';
import { systemClock } from '../../base/time/clock.ts';
import { NodeDaemon } from '../../nodegc/daemon/node-daemon.ts';
import { NodeMetrics } from '../../nodegc/daemon/node-metrics.ts';
import type { NodeMode } from '../../nodegc/config/node-configuration.ts';
import { EXIT_DONE, EXIT_REFUSED } from '../command/exit-codes.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { parseListenAddress } from '../flags/listen-address.ts';
import type { LogFormat, LogLevel } from '../process/log-level.ts';
import { createLogger } from '../process/logger.ts';
import { processMetrics } from '../metrics/process-metrics.ts';
import { PrometheusMetrics } from '../metrics/prometheus.ts';
import { usePlainHeaders } from '../process/plain-headers.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilSignal } from '../process/termination.ts';
import { engineHeap } from '../up/idle-heap.ts';
import { findKubelet } from './find-kubelet.ts';
import { warnOfKubelet } from './kubelet-settings.ts';
import type { NodeFlags } from './node-options.ts';
import { nodeSettings } from './node-settings.ts';
import { openNode, type OpenNode } from './open-node.ts';

export interface RunFlags extends NodeFlags {
  readonly mode?: NodeMode;
  readonly dryRun?: boolean;
  readonly bindAddress?: string;
  readonly bindTokenFile?: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** `kubegc node run`: collects until SIGINT or SIGTERM. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  // The daemon works for a moment every few minutes, and should use little of the node's memory.
  engineHeap.prefer('small');
  usePlainHeaders();
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  const wanted = flags.mode ?? (await nodeSettings(flags)).mode;
  const kubelet = await findKubelet();
  if (wanted === 'standalone' && kubelet !== undefined) {
    terminal.stderr(
      `error: --mode standalone is refused: a kubelet runs on this node (${kubelet}), and it may need its dead containers\n` +
        'Use --mode besideKubelet, which leaves containers, sandboxes and logs to the kubelet.\n',
    );
    return EXIT_REFUSED;
  }
  const mode = wanted === 'auto' ? (kubelet === undefined ? 'standalone' : 'besideKubelet') : wanted;
  const { logLevel: level, logFormat: format } = flags;
  const logger = createLogger({ level, format, write: terminal.stderr, now: () => systemClock.now() });
  const metrics = new PrometheusMetrics();
  processMetrics(metrics, process, systemClock.now());
  const listen = flags.bindAddress === undefined ? undefined : parseListenAddress(flags.bindAddress, '--bind-address');
  const token = flags.bindTokenFile === undefined ? undefined : await readToken(flags.bindTokenFile);
  const node = await openNode(flags, terminal, {
    logger,
    metrics,
    byHand: false,
    adjust: (configuration) => ({
      ...configuration,
      mode,
      dryRun: configuration.dryRun || flags.dryRun === true || mode === 'audit',
    }),
    onRemoval: ({ record, reason }, outcome) => {
      const fields = {
        image: record.image.tags[0] ?? record.image.id,
        id: record.image.id,
        tags: record.image.tags,
        reason,
      };
      if (outcome.outcome === 'removed') logger.info('removed an image', fields);
      else if (outcome.outcome === 'spared') logger.info('left an image', { ...fields, why: outcome.why });
    },
  });
  const { collection, configuration } = node;
  const recorder =
    node.cluster === undefined
      ? undefined
      : await (await import('./node-events.ts')).recordEvents(node.cluster, logger);
  const daemon = new NodeDaemon({
    configuration,
    mode,
    images: collection.images,
    containers: collection.containers,
    clock: systemClock,
    logger,
    metrics: new NodeMetrics(metrics, configuration.metrics.kubeletNames),
    memoryFile: configuration.dryRun ? undefined : collection.memoryFile,
    readDisks: () => collection.readDisks(),
    containerEvents: (until) => collection.runtime.containerEvents(until),
    emit: (event) => recorder?.emit(event),
    onSpan: ({ name, durationMs, error }) =>
      logger.debug('span', { name, durationMs: Math.round(durationMs), ...(error === undefined ? {} : { error }) }),
  });
  const server =
    listen &&
    (await (
      await import('../metrics/observation-server.ts')
    ).ObservationServer.start({
      listen,
      token,
      notReadyBecause: () => (daemon.ready ? undefined : 'the first pass over the images has not ended'),
      metrics: () => metrics.expose(),
      debug: { pages: [], prefixes: [], handler: () => Promise.reject(new Error('there is no debug page')) },
    }));
  try {
    if (server !== undefined) terminal.stdout(`health and metrics: ${server.url}\n`);
    terminal.stdout(readyText(node, mode, kubelet));
    if (mode === 'besideKubelet') void warnOfKubelet(node.cluster, logger);
    const recording = recorder?.run(stop.signal);
    await daemon.run(stop.signal);
    await recording;
    return EXIT_DONE;
  } finally {
    await server?.close();
    await node.close();
  }
}

function readyText({ collection, configuration }: OpenNode, mode: string, kubelet: string | undefined): string {
  const { name, version } = collection.info;
  const how = configuration.dryRun ? `${mode}, removes nothing` : mode;
  const beside = kubelet === undefined ? '' : `, beside a kubelet (${kubelet})`;
  return `kubegc node is ready: ${name} ${version} at ${configuration.containerRuntimeEndpoint} (mode ${how}${beside})\n`;
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
