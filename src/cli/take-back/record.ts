import { setMaxListeners } from 'node:events';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { sleep, systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import { DeletionRecorder } from '../../cascade/record/deletion-recorder.ts';
import { isTransient } from '../../cascade/record/transient-kinds.ts';
import type { IncompleteResource } from '../../cascade/documents/document.ts';
import { resourceName } from '../../cascade/snapshot/resource-catalogue.ts';
import { isForbidden } from '../../api/status-error.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import { isRebuiltByController } from '../../cascade/undo/rebuilt-by-controller.ts';
import { discover, type DiscoveredResource, type DiscoveryResult } from '../../client/discovery/discovery.ts';
import { Informer } from '../../client/reflector/informer.ts';
import { ACCEPT_METADATA_LIST_JSON } from '../../client/codec/accept.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { Terminal } from '../process/terminal.ts';
import { untilSignal } from '../process/termination.ts';
import { withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import { warnIncomplete } from '../cascade/plan-request.ts';
import { CommandError } from '../process/command-error.ts';
import { resourceOf } from '../cascade/object-arguments.ts';
import { openRecordStore, recordArgument, type RecordFlags, withRecords } from '../cascade/record-options.ts';
import { counted } from '../command/text-table.ts';
import { clusterUid } from '../../cascade/record/cluster-uid.ts';

export interface RecorderFlags extends ClusterFlags, RecordFlags {
  readonly types?: string;
  readonly rebuilt?: boolean;
  readonly allNamespaces?: boolean;
}

/** Interval between searches for new kinds. */
const DISCOVERY_PERIOD_MS = 30_000;

/** Runs `record` until SIGINT or SIGTERM. Resolves with the exit code. */
export function record(flags: RecorderFlags, terminal: Terminal): Promise<number> {
  const stop = new AbortController();
  // One listener for each type, but Node warns of a leak above ten.
  setMaxListeners(0, stop.signal);
  void untilSignal().then(() => stop.abort());
  return recordUntil(flags, terminal, stop.signal);
}

/** Runs until the signal is aborted. */
export function recordUntil(flags: RecorderFlags, terminal: Terminal, signal: AbortSignal): Promise<number> {
  return withRecords(() =>
    withCluster(flags, terminal, async ({ client, namespace, server, source }) => {
      const store = openRecordStore(flags);
      let discovery = await discover(client);
      const uid = await clusterUid(client);
      const recorder = new DeletionRecorder({
        writer: store,
        clock: systemClock,
        context: { name: source, server, ...(uid === undefined ? {} : { clusterUid: uid }) },
        resourceOf: (apiVersion, kind) => pluralOf(discovery, apiVersion, kind),
        ...(flags.rebuilt === true ? {} : { ignores: isRebuiltByController }),
        onRecorded: (id, { length: objects }) => {
          terminal.stdout(
            `recorded ${id}: ${counted(objects, 'object')}; kubectl cascade undo ${recordArgument(id, flags)} brings ${objects === 1 ? 'it' : 'them'} back\n`,
          );
          void store.expire().catch((error: unknown) => void terminal.stderr(`Warning: ${String(error)}\n`));
        },
        onFailure: (error, bodies, fate) =>
          terminal.stderr(
            `error: ${counted(bodies.length, 'deleted object')} could not be recorded${fate === 'kept' ? ', will retry' : ''}: ${error.message}\n`,
          ),
      });
      const scope = flags.allNamespaces === true ? undefined : namespace;
      const watches = new Watches(client, { recorder, namespace: scope, signal });
      const wanted = wantedResources(discovery, flags.types, scope);
      const readable = await readableOf(client, wanted, { namespace: scope, terminal });
      watches.follow(readable);
      if (await watches.synced()) {
        const where = scope === undefined ? 'the cluster' : `namespace ${scope}`;
        terminal.stdout(`kubegc records deletions in ${where}: ${counted(watches.size, 'type')}, ${server}\n`);
      }
      while (!signal.aborted) {
        try {
          await sleep(systemClock, DISCOVERY_PERIOD_MS, signal);
          discovery = await discover(client);
          // Kinds that may not be listed stay unwatched; new kinds are tried.
          const known = new Set(wanted.map(keyOf));
          watches.follow(wantedResources(discovery, flags.types, scope).filter((each) => !known.has(keyOf(each))));
        } catch (error) {
          if (!isAbortError(error) && !signal.aborted) terminal.stderr(`Warning: discovery failed: ${String(error)}\n`);
        }
      }
      await watches.ended();
      await recorder.close();
      return EXIT_DONE;
    }),
  );
}

const keyOf = ({ group, resource }: DiscoveredResource): string => `${group}/${resource}`;

/** The kinds that may be listed, with a warning about the others. Throws a {@link CommandError} if there is none. */
async function readableOf(
  client: RestClient,
  wanted: readonly DiscoveredResource[],
  { namespace, terminal }: { readonly namespace: string | undefined; readonly terminal: Terminal },
): Promise<DiscoveredResource[]> {
  const incomplete: IncompleteResource[] = [];
  const inFlight = new Semaphore({ permits: PARALLEL });
  const allowed = await Promise.all(
    wanted.map((resource) =>
      inFlight.use(async () => {
        const { group, version, resource: plural } = resource;
        const ref = { gvr: { group, version, resource: plural }, ...(namespace === undefined ? {} : { namespace }) };
        try {
          await client.list(ref, { query: { limit: 1 }, accept: ACCEPT_METADATA_LIST_JSON });
        } catch (error) {
          if (!isForbidden(error)) return true;
          incomplete.push({ resource: resourceName(resource), reason: 'you have no right to list it' });
          return false;
        }
        return true;
      }),
    ),
  );
  const readable = wanted.filter((_, i) => allowed[i]);
  warnIncomplete({ incomplete }, terminal);
  if (readable.length > 0 || wanted.length === 0) return readable;
  const where = namespace === undefined ? 'the cluster' : `namespace ${namespace}`;
  throw new CommandError(
    `there is nothing in ${where} that you may record`,
    'Choose a namespace where you may list and watch objects with -n, or ask for the right.',
  );
}

/** Maximum number of concurrent lists. */
const PARALLEL = 16;

/** The given types, or all that can be watched and deleted. With one namespace, only namespaced ones. */
function wantedResources(
  discovery: DiscoveryResult,
  types: string | undefined,
  namespace: string | undefined,
): DiscoveredResource[] {
  const all =
    types === undefined
      ? discovery.preferred.filter((each) => !isTransient(each))
      : types.split(',').map((type) => resourceOf(discovery, type.trim()));
  return all.filter(
    ({ verbs, namespaced }) =>
      ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb)) && (namespaced || namespace === undefined),
  );
}

interface WatchOptions {
  readonly recorder: DeletionRecorder;
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
}

/** One informer for each resource, from its first use until the end. */
class Watches {
  readonly #client: RestClient;
  readonly #options: WatchOptions;
  readonly #informers = new Map<string, Informer>();
  readonly #running: Promise<void>[] = [];

  constructor(client: RestClient, options: WatchOptions) {
    this.#client = client;
    this.#options = options;
  }

  get size(): number {
    return this.#informers.size;
  }

  follow(resources: readonly DiscoveredResource[]): void {
    const { recorder, namespace, signal } = this.#options;
    for (const resource of resources) {
      const { group, version, resource: plural, kind } = resource;
      const key = `${group}/${plural}`;
      if (this.#informers.has(key)) continue;
      const informer = new Informer({
        client: this.#client,
        clock: systemClock,
        random: systemRandom,
        gvr: { group, version, resource: plural },
        ...(namespace === undefined ? {} : { namespace }),
      });
      // Items of lists lack their type.
      const apiVersion = apiVersionOf(resource);
      informer.addHandler({ deleted: (body: KubeObject) => recorder.deleted({ ...body, apiVersion, kind }) });
      this.#informers.set(key, informer);
      this.#running.push(informer.run(signal));
    }
  }

  /** False if the signal was aborted first. Waits at most ten seconds for a type that may not be listed. */
  async synced(): Promise<boolean> {
    const patience = sleep(systemClock, PATIENCE_MS, this.#options.signal);
    const all = Promise.all([...this.#informers.values()].map((each) => each.waitForSync(this.#options.signal)));
    try {
      await Promise.race([all, patience]);
      return true;
    } catch {
      return false;
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

const PATIENCE_MS = 10_000;

function pluralOf({ resources }: DiscoveryResult, apiVersion: string, kind: string): string {
  return resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion)?.resource ?? '';
}
