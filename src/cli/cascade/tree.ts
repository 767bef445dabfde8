import { yamlPieces } from '../../api/codec/yaml/yaml-pieces.ts';
import { indentedJson } from '../../base/json/json-pieces.ts';
import { systemClock } from '../../base/time/clock.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import type { GraphDocument } from '../../cascade/documents/graph-document.ts';
import { Dies } from '../../cascade/dominators/dies.ts';
import { dotPieces, mermaidPieces } from '../../cascade/report/drawing.ts';
import { graphPage } from '../../cascade/report/graph-page.ts';
import { graphDrawing, graphText } from '../../cascade/report/graph-text.ts';
import { objectName } from '../../cascade/preview/object-name.ts';
import { findObjects } from '../../cascade/snapshot/find-objects.ts';
import { readSnapshot } from '../../cascade/snapshot/read-snapshot.ts';
import { readStatuses } from '../../cascade/snapshot/read-statuses.ts';
import { ResourceCatalogue } from '../../cascade/snapshot/resource-catalogue.ts';
import type { Snapshot } from '../../cascade/snapshot/snapshot.ts';
import { graphDocument } from '../../cascade/tree/graph-document.ts';
import { objectsIn, reach, treeTops } from '../../cascade/tree/reach.ts';
import { discover } from '../../client/discovery/discovery.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import { type ClusterAccess, withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import { objectRequests, resourceOf } from './object-arguments.ts';
import { missingObject, warnIncomplete } from './plan-request.ts';
import { terminalStyle } from './terminal-style.ts';
import { counted, textTable } from '../command/text-table.ts';

interface ScopeFlags extends ClusterFlags {
  readonly allNamespaces?: boolean;
}

export interface TreeFlags extends ScopeFlags {
  readonly up?: boolean;
  readonly depth?: string;
  readonly output: 'tree' | 'json' | 'yaml' | 'dot' | 'mermaid';
  readonly all?: boolean;
}

export interface GraphFlags extends ScopeFlags {
  readonly output?: 'json' | 'yaml' | 'dot' | 'mermaid';
  readonly html?: string;
}

export interface TopFlags extends ScopeFlags {
  readonly limit: string;
  readonly output?: 'json';
}

/** Maximum number of objects whose status is read, because a person reads no more. */
const MOST_STATUSES = 500;
/** Maximum number of simulations for one list of dangerous objects. */
const MOST_SIMULATED = 200;

/** Runs `tree`. Resolves with the exit code. */
export function tree(args: readonly string[], flags: TreeFlags, terminal: Terminal): Promise<number> {
  const depth = depthOf(flags.depth);
  return withCluster(flags, terminal, async (cluster) => {
    const snapshot = await read(cluster, terminal);
    const { graph } = snapshot;
    const named = args.length > 0;
    const starts = named
      ? await namedObjects(cluster, snapshot, args)
      : treeTops(graph, flags.allNamespaces === true ? undefined : cluster.namespace);
    const direction = flags.up === true ? 'up' : 'down';
    const ids = reach(graph, starts, { direction, depth });
    const document = graphDocument(snapshot, ids, new Dies(snapshot));
    if (flags.output !== 'tree') {
      for (const piece of asFormat(document, flags.output)) terminal.stdout(piece);
      return EXIT_DONE;
    }
    if (document.nodes.length === 0) {
      terminal.stderr(
        `Nothing owns anything in ${flags.allNamespaces === true ? 'the cluster' : `namespace ${cluster.namespace}`}.\n`,
      );
      return EXIT_DONE;
    }
    const statuses = await readStatuses(
      cluster.client,
      document.nodes.slice(0, MOST_STATUSES).map(({ ref }) => ref),
    );
    terminal.stdout(
      graphText(document, {
        style: terminalStyle(terminal),
        all: flags.all === true,
        direction,
        now: systemClock.now(),
        home: flags.allNamespaces === true ? undefined : cluster.namespace,
        statusOf: (uid) => statuses.get(uid),
        ...(named || direction === 'down' ? { tops: starts.map((id) => graph.uidAt(id)) } : {}),
      }),
    );
    return EXIT_DONE;
  });
}

/** Runs `graph`. Resolves with the exit code. */
export async function graph(flags: GraphFlags, terminal: Terminal): Promise<number> {
  if (flags.output === undefined && flags.html === undefined) {
    const code = await tree([], { ...flags, output: 'tree' }, terminal);
    terminal.stderr('--html FILE writes a page of it; -o json, yaml, dot or mermaid print it for a program.\n');
    return code;
  }
  return withCluster(flags, terminal, async (cluster) => {
    const snapshot = await read(cluster, terminal);
    const everywhere = flags.allNamespaces === true;
    const ids = objectsIn(snapshot.graph, everywhere ? undefined : cluster.namespace);
    const document = graphDocument(snapshot, ids, new Dies(snapshot));
    if (flags.html === undefined) {
      for (const piece of asFormat(document, flags.output ?? 'json')) terminal.stdout(piece);
      return EXIT_DONE;
    }
    const title = everywhere
      ? `Ownership in ${cluster.source}`
      : `Ownership in namespace ${cluster.namespace} of ${cluster.source}`;
    try {
      await writeFileAtomically(flags.html, graphPage(document, title), 0o644);
    } catch (error) {
      throw new CommandError(`cannot write ${flags.html}: ${systemReason(error)}`, 'Choose another file with --html.', {
        cause: error,
      });
    }
    terminal.stdout(
      `wrote ${flags.html}: ${counted(document.nodes.length, 'object')}, ${counted(document.edges.length, 'reference')}\n`,
    );
    return EXIT_DONE;
  });
}

/** Runs `top`. Resolves with the exit code. */
export function top(type: string | undefined, flags: TopFlags, terminal: Terminal): Promise<number> {
  const limit = wholeNumber('--limit', flags.limit);
  return withCluster(flags, terminal, async (cluster) => {
    const snapshot = await read(cluster, terminal);
    const wanted = type === undefined ? undefined : resourceOf(snapshot.catalogue.discovery, type);
    const dies = new Dies(snapshot);
    const found: { readonly id: NodeId; count: number }[] = [];
    let simulated = 0;
    snapshot.graph.forEachNode((id) => {
      if (!snapshot.graph.isObserved(id)) return;
      const { namespace, uid } = snapshot.graph.identityAt(id);
      const isWanted =
        wanted === undefined
          ? true
          : snapshot.resourceOf(id)?.resource === wanted.resource && snapshot.resourceOf(id)?.group === wanted.group;
      const isHere =
        flags.allNamespaces === true || namespace === cluster.namespace || (wanted !== undefined && !wanted.namespaced);
      if (!isWanted || !isHere) return;
      const simulates = dies.needsSimulation(uid) && simulated < MOST_SIMULATED;
      if (simulates) simulated++;
      found.push({ id, count: simulates ? dies.of(uid) : dies.atLeast(uid) });
    });
    const best = found.toSorted((a, b) => b.count - a.count || a.id - b.id).slice(0, limit);
    if (flags.output === 'json') {
      const ids = best.map(({ id }) => id);
      for (const piece of indentedJson(graphDocument(snapshot, ids, dies))) terminal.stdout(piece);
      return EXIT_DONE;
    }
    if (best.length === 0 && snapshot.incomplete.length > 0) {
      throw new CommandError(
        'nothing was found in what could be read',
        `Ask for the right to list objects${flags.allNamespaces === true ? '' : ` in namespace ${cluster.namespace}`}.`,
      );
    }
    if (best.length === 0) terminal.stderr('No resources found.\n');
    else {
      const rows = best.map(({ id, count }) => {
        const ref = snapshot.referenceOf(id);
        return [objectName(ref), ref.namespace ?? '', count.toLocaleString('en-US')];
      });
      terminal.stdout(textTable(['OBJECT', 'NAMESPACE', 'DIES'], rows));
    }
    return EXIT_DONE;
  });
}

async function read({ client, namespace }: ClusterAccess, terminal: Terminal): Promise<Snapshot> {
  const catalogue = new ResourceCatalogue(await discover(client));
  const namespaces = [namespace];
  const snapshot = await readSnapshot({ client, clock: systemClock, catalogue, detail: 'ages', namespaces });
  warnIncomplete(snapshot, terminal);
  return snapshot;
}

async function namedObjects(
  { client, namespace }: ClusterAccess,
  snapshot: Snapshot,
  args: readonly string[],
): Promise<NodeId[]> {
  const requests = await objectRequests(args, {}, { discovery: snapshot.catalogue.discovery, namespace });
  const found = await findObjects(client, snapshot, requests);
  const missing = requests.find((_, i) => found[i]!.length === 0);
  if (missing !== undefined) throw missingObject(snapshot, missing, 1);
  return [...new Set(found.flat())].map((uid) => snapshot.graph.find(uid));
}

/** The output in pieces. */
function asFormat(document: GraphDocument, format: 'json' | 'yaml' | 'dot' | 'mermaid'): Iterable<string> {
  switch (format) {
    case 'json':
      return indentedJson(document);
    case 'yaml':
      return yamlPieces(document);
    case 'dot':
      return dotPieces(graphDrawing(document));
    case 'mermaid':
      return mermaidPieces(graphDrawing(document));
  }
}

function depthOf(text: string | undefined): number {
  return text === undefined ? Number.POSITIVE_INFINITY : wholeNumber('--depth', text);
}

function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new CommandError(`invalid ${flag} "${text}"`, 'Give a whole number, 1 or more.');
}
