import type { RestClient } from '../client/rest-client.ts';
import { checkInvariants, compareWithList, type Difference, type Inconsistency } from './graph/check-consistency.ts';
import type { GraphCounts } from './graph/graph.ts';
import type { ObservedObject } from './graph/event.ts';
import type { Uid } from './graph/identity.ts';
import type { OwnershipGraph } from './graph/ownership-graph.ts';
import { freshList } from './fresh-list.ts';
import type { Monitors } from './monitors/monitors.ts';
import { type OfferedResource, resourceKey } from './resources/deletable-resources.ts';

/** Where the graph is not what the server says. */
export interface GraphDifference extends Difference {
  readonly resource: OfferedResource;
  /** Of the listed object; empty for one that is not listed. */
  readonly resourceVersion: string;
}

export interface ConsistencyReport {
  /** Of the synced monitors' resources. */
  readonly differences: readonly GraphDifference[];
  /** What is wrong with the graph in itself. */
  readonly inconsistencies: readonly Inconsistency[];
  /** Could not be listed. */
  readonly unread: readonly OfferedResource[];
}

export interface ConsistencyCheckOptions {
  readonly client: RestClient;
  readonly graph: OwnershipGraph;
  readonly monitors: Monitors;
}

/**
 * Compares the graph with fresh lists of everything that is monitored (ANCHORS' self-check). A single look finds what the
 * watches have not shown yet as well; {@link persisting} tells the two apart.
 */
export class ConsistencyCheck {
  readonly #options: ConsistencyCheckOptions;

  constructor(options: ConsistencyCheckOptions) {
    this.#options = options;
  }

  /** What is compared: the resources that are monitored now. */
  get resources(): readonly OfferedResource[] {
    return this.#options.monitors.resources;
  }

  /** What is wrong with the graph in itself: nothing, unless this program is. O(nodes + references). */
  invariants(): Inconsistency[] {
    return checkInvariants(this.#options.graph);
  }

  /** What the tables hold; everything is 0 when the server has nothing that is monitored. */
  get counts(): GraphCounts & { readonly nameBytes: number } {
    const { graph } = this.#options;
    return { ...graph.counts, nameBytes: graph.bytes.names.used };
  }

  /** One list of each resource, one after the other. Holds the metadata of one resource at a time. */
  async look(signal: AbortSignal): Promise<ConsistencyReport> {
    const { monitors } = this.#options;
    const differences: GraphDifference[] = [];
    const unread: OfferedResource[] = [];
    for (const offered of monitors.resources) {
      if (signal.aborted) break;
      const found = await this.#compare(offered, signal);
      if (found === undefined) unread.push(offered);
      else differences.push(...found);
    }
    return { differences, inconsistencies: this.invariants(), unread };
  }

  async #compare(offered: OfferedResource, signal: AbortSignal): Promise<GraphDifference[] | undefined> {
    const { client, graph, monitors } = this.#options;
    const objects = new Map<Uid, ObservedObject>();
    try {
      for await (const object of freshList(client, offered, signal)) objects.set(object.uid, object);
    } catch {
      return undefined;
    }
    // The graph as of now, not as of the beginning of the list: what came in meanwhile is not different for that.
    const monitor = monitors.ofResource(offered);
    if (monitor === undefined || !monitor.synced) return [];
    return compareWithList(graph, monitor.resource, objects.values()).map((difference) => ({
      ...difference,
      resource: offered,
      resourceVersion: objects.get(difference.uid)?.resourceVersion ?? '',
    }));
  }
}

/**
 * What two looks have in common: the same object, at the same version, differs in the same way. Far enough apart, no
 * watch is so far behind.
 */
export function persisting(first: ConsistencyReport, second: ConsistencyReport): GraphDifference[] {
  const keyOf = ({ resource, uid, difference, resourceVersion }: GraphDifference): string =>
    `${resourceKey(resource)} ${uid} ${difference} ${resourceVersion}`;
  const before = new Set(first.differences.map(keyOf));
  return second.differences.filter((difference) => before.has(keyOf(difference)));
}
