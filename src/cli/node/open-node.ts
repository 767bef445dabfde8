import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemClock } from '../../base/clock.ts';
import { type Logger, silentLogger } from '../../base/logger.ts';
import { systemRandom } from '../../base/random.ts';
import { StateFileError } from '../../nodegc/daemon/image-memory-file.ts';
import { NodeCollection, type NodeCollectionOptions } from '../../nodegc/daemon/node-collection.ts';
import type { NodeConfiguration } from '../../nodegc/config/node-configuration.ts';
import { systemCodeOf } from '../../nodegc/cri/unix-grpc.ts';
import { RuntimeCallError } from '../../nodegc/inventory/runtime.ts';
import { PodSource } from '../../nodegc/pods/pod-source.ts';
import { type KnownPod, knownPod, type PodObject } from '../../nodegc/pods/pod-verdicts.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { openCluster } from '../command/cluster-access.ts';
import { EXIT_TIMED_OUT } from '../command/exit-codes.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import type { NodeFlags } from './node-options.ts';
import { nodeSettings } from './node-settings.ts';

export interface OpenNode {
  readonly collection: NodeCollection;
  readonly configuration: NodeConfiguration;
  /** For events and pods; undefined without `--pods apiserver`. */
  readonly cluster: { readonly client: RestClient; readonly nodeName: string } | undefined;
  close(): Promise<void>;
}

/** How long a command that answers once waits for the first list of pods, ms. */
const FIRST_LIST_MS = 30_000;

export interface OpenOptions extends Pick<NodeCollectionOptions, 'metrics' | 'onRemoval'> {
  readonly logger?: Logger;
  /** Changes what files and flags say. */
  readonly adjust?: (configuration: NodeConfiguration) => NodeConfiguration;
  /** A command by hand waits for the pods, and takes images for as old as the runtime does; the daemon does neither. */
  readonly byHand: boolean;
}

/** Connects to the runtime, and to the API server where pods come from it. Throws a {@link CommandError}. */
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
    const pods = await openPods(flags, terminal, logger, byHand, stop.signal);
    closers.push(pods.close);
    const collection = await NodeCollection.open({
      ...more,
      configuration,
      clock: systemClock,
      logger,
      remember: true,
      unknownImages: byHand ? 'asRecorded' : 'new',
      knownPods: pods.known,
    });
    closers.push(() => Promise.resolve(collection.close()));
    return { collection, configuration, cluster: pods.cluster, close };
  } catch (error) {
    await close();
    throw asCommandError(error, configuration);
  }
}

/** A runtime did not answer in time: the exit code says so. */
export class RuntimeTimeoutError extends CommandError {
  readonly exitCode = EXIT_TIMED_OUT;
}

/** What runtime, state file or pods refuse, as a sentence with the next step. */
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
      'Look at its log, restart it, or give it more time with --runtime-request-timeout.',
      { cause: error },
    );
  }
  return new CommandError(
    `the container runtime failed at ${error.operation}: ${error.message}`,
    'Look at the log of the runtime.',
    {
      cause: error,
    },
  );
}

interface Pods {
  readonly known: () => readonly KnownPod[] | undefined;
  readonly cluster: OpenNode['cluster'];
  readonly close: () => Promise<void>;
}

async function openPods(
  flags: NodeFlags,
  terminal: Terminal,
  logger: Logger,
  wait: boolean,
  stop: AbortSignal,
): Promise<Pods> {
  const nothing = { cluster: undefined, close: () => Promise.resolve() };
  if (flags.pods === 'none') return { ...nothing, known: () => undefined };
  const file = /^file=(.+)$/.exec(flags.pods)?.[1];
  if (file !== undefined) {
    const pods = await readPodList(file);
    return { ...nothing, known: () => pods };
  }
  if (flags.pods !== 'apiserver') {
    throw new CommandError(`invalid --pods "${flags.pods}"`, 'Give none, apiserver, or file=FILE.');
  }
  const nodeName = flags.nodeName ?? process.env['NODE_NAME'] ?? hostname();
  const access = await openCluster({ ...flags, requestTimeout: '60s' } as Parameters<typeof openCluster>[0], terminal);
  const { client } = access;
  const source = new PodSource({ client, clock: systemClock, random: systemRandom, logger, nodeName });
  const running = source.run(stop);
  const close = async (): Promise<void> => {
    await running;
    await access.close();
  };
  if (wait) {
    const bound = AbortSignal.timeout(FIRST_LIST_MS);
    try {
      await source.waitForSync(bound);
    } catch (error) {
      void close();
      throw new CommandError(
        `the API server ${access.server} did not list the pods of node ${nodeName} within ${FIRST_LIST_MS / 1000} s`,
        'Nothing was removed. See --kubeconfig and --node-name.',
        { cause: error },
      );
    }
  }
  return { known: () => source.pods, cluster: { client, nodeName }, close };
}

async function readPodList(path: string): Promise<KnownPod[]> {
  const advice = 'Write it with: kubectl get pods -A -o json --field-selector spec.nodeName=NAME';
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`cannot read the list of pods ${path}: ${systemReason(error)}`, advice, { cause: error });
  });
  let items: unknown;
  try {
    items = (JSON.parse(text) as { items?: unknown } | null)?.items;
  } catch (error) {
    throw new CommandError(`the list of pods ${path} is not JSON`, advice, { cause: error });
  }
  // Anything but a list would be taken for a node without pods, whose containers may all go.
  if (!Array.isArray(items)) throw new CommandError(`the list of pods ${path} has no items`, advice);
  return items.flatMap((item) => knownPod(item as PodObject) ?? []);
}
