import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { systemClock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { systemRandom } from '../../base/random/random.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ProtectPattern } from '../../nodegc/patterns/protect-pattern.ts';
import { PodSource } from '../../nodegc/pods/pod-source.ts';
import { type KnownPod, knownPod, type PodObject } from '../../nodegc/pods/pod-verdicts.ts';
import { ProtectListSource } from '../../nodegc/protectlists/protect-list-source.ts';
import { openCluster } from '../command/cluster-access.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import type { NodeFlags } from './node-options.ts';

/** How long a single command waits for the first list of pods, ms. */
const FIRST_LIST_MS = 30_000;

/** The source of pods that `--pods` selects. */
export interface Pods {
  readonly known: () => readonly KnownPod[] | undefined;
  /** Undefined without `--pods apiserver`. */
  readonly cluster: { readonly client: RestClient; readonly nodeName: string } | undefined;
  /** Undefined without `--protect-configmaps`; answers undefined until the lists are known. */
  readonly clusterLists?: () => readonly ProtectPattern[] | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the source of pods that `--pods` selects. Throws a {@link CommandError}. */
export async function openPods(
  flags: NodeFlags,
  terminal: Terminal,
  logger: Logger,
  wait: boolean,
  stop: AbortSignal,
): Promise<Pods> {
  if (flags.protectConfigmaps !== undefined && flags.pods !== 'apiserver') {
    throw new CommandError(
      '--protect-configmaps needs an API server to read them from',
      'Nothing was removed. Give --pods apiserver as well.',
    );
  }
  const nothing = { cluster: undefined, close: () => Promise.resolve() };
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
  const namespace = flags.protectConfigmaps;
  const lists =
    namespace === undefined
      ? undefined
      : new ProtectListSource({ client, clock: systemClock, random: systemRandom, logger, namespace, nodeName });
  const running = Promise.all([source.run(stop), lists?.run(stop)]);
  const close = async (): Promise<void> => {
    await running;
    await access.close();
  };
  if (wait) {
    const bound = AbortSignal.timeout(FIRST_LIST_MS);
    try {
      await Promise.all([source.waitForSync(bound), lists?.waitForSync(bound)]);
    } catch (error) {
      void close();
      throw new CommandError(
        `the API server ${access.server} did not list the pods of node ${nodeName}${lists === undefined ? '' : ` and the ConfigMaps of ${namespace}`} within ${FIRST_LIST_MS / 1000} s`,
        'Nothing was removed. See --kubeconfig and --node-name.',
        { cause: error },
      );
    }
  }
  return {
    known: () => source.pods,
    cluster: { client, nodeName },
    ...(lists === undefined ? {} : { clusterLists: () => lists.patterns }),
    close,
  };
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
  // Without this check, any other value would look like a node without pods, whose containers may all be removed.
  if (!Array.isArray(items)) throw new CommandError(`the list of pods ${path} has no items`, advice);
  return items.flatMap((item) => knownPod(item as PodObject) ?? []);
}
