import { systemClock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import { StateFileError } from '../../nodegc/daemon/image-memory-file.ts';
import { NodeCollection, type NodeCollectionOptions } from '../../nodegc/daemon/node-collection.ts';
import type { NodeConfiguration } from '../../nodegc/config/node-configuration.ts';
import { systemCodeOf } from '../../nodegc/cri/unix-grpc.ts';
import { RuntimeCallError } from '../../nodegc/inventory/runtime.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { EXIT_TIMED_OUT } from '../command/exit-codes.ts';
import { CommandError } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import type { NodeFlags } from './node-options.ts';
import type { Pods } from './open-pods.ts';
import { nodeSettings } from './node-settings.ts';

export interface OpenNode {
  readonly collection: NodeCollection;
  readonly configuration: NodeConfiguration;
  /** The client for Events and pods; undefined without `--pods apiserver`. */
  readonly cluster: { readonly client: RestClient; readonly nodeName: string } | undefined;
  close(): Promise<void>;
}

export interface OpenOptions extends Pick<NodeCollectionOptions, 'metrics' | 'onRemoval'> {
  readonly logger?: Logger;
  /** Changes the settings of files and flags. */
  readonly adjust?: (configuration: NodeConfiguration) => NodeConfiguration;
  /** True for a single command, which waits for the pods, and takes the ages of images from the runtime. The daemon does neither. */
  readonly byHand: boolean;
}

/** A source that does not know which pods exist. */
const noPods: Pods = { known: () => undefined, cluster: undefined, close: () => Promise.resolve() };

/** Connects to the runtime, and to the API server if it provides the pods. Throws a {@link CommandError}. */
export async function openNode(flags: NodeFlags, terminal: Terminal, options: OpenOptions): Promise<OpenNode> {
  const { logger = silentLogger, adjust = (configuration) => configuration, byHand, ...more } = options;
  const configuration = adjust(await nodeSettings(flags));
  const stop = new AbortController();
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    stop.abort();
    for (const each of closers.toReversed()) await each();
  };
  try {
    // The client of the API server is loaded only if it provides the pods, to save memory on the node.
    const pods =
      flags.pods === 'none' && flags.protectConfigmaps === undefined
        ? noPods
        : await (await import('./open-pods.ts')).openPods(flags, terminal, logger, byHand, stop.signal);
    closers.push(pods.close);
    const collection = await NodeCollection.open({
      ...more,
      configuration,
      clock: systemClock,
      logger,
      remember: true,
      unknownImages: byHand ? 'asRecorded' : 'new',
      knownPods: pods.known,
      ...(pods.clusterLists === undefined ? {} : { clusterLists: pods.clusterLists }),
    });
    closers.push(() => Promise.resolve(collection.close()));
    return { collection, configuration, cluster: pods.cluster, close };
  } catch (error) {
    await close();
    throw asCommandError(error, configuration);
  }
}

/** A runtime did not answer in time, which has its own exit code. */
export class RuntimeTimeoutError extends CommandError {
  readonly exitCode = EXIT_TIMED_OUT;
}

/** Describes a failure of runtime, state file or pods, with the next step. */
export function asCommandError(error: unknown, configuration: NodeConfiguration): unknown {
  if (error instanceof StateFileError) {
    return new CommandError(
      error.message,
      `Nothing was removed. Move ${error.path} away to begin anew, or give another --state-file.`,
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof RuntimeCallError)) return error;
  const endpoint = configuration.containerRuntimeEndpoint;
  const code = systemCodeOf(error);
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return new CommandError(
      `cannot reach the container runtime at ${endpoint}: ${code === 'ENOENT' ? 'there is no such socket' : 'nobody listens there'}`,
      'Nothing was removed. Is the runtime running? Give another socket with --container-runtime-endpoint.',
      { cause: error },
    );
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new CommandError(
      `cannot reach the container runtime at ${endpoint}: permission denied`,
      'Nothing was removed. Sockets of runtimes are for root: run as root, or with sudo.',
      { cause: error },
    );
  }
  if (error.failure === 'unsupported') {
    return new CommandError(
      error.message,
      'Nothing was removed. kubegc needs CRI v1: containerd 1.6, CRI-O 1.23, or later.',
      { cause: error },
    );
  }
  if (/timed out|deadline/i.test(error.message)) {
    return new RuntimeTimeoutError(
      `the container runtime at ${endpoint} does not answer: ${error.message}`,
      'Read its log, restart it, or give it more time with --runtime-request-timeout.',
      { cause: error },
    );
  }
  return new CommandError(
    `the container runtime failed at ${error.operation}: ${error.message}`,
    'Read the log of the runtime.',
    {
      cause: error,
    },
  );
}
