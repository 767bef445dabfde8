import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import { PROTECT } from '../../api/meta/annotations.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { stringifyExactJson } from '../../base/json/exact-json.ts';
import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';
import { liveObjectOf } from '../../collector/decide/live-object.ts';
import { applied } from '../../collector/graph/apply.ts';
import { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import { ResourceCatalogue } from './resource-catalogue.ts';
import { Snapshot } from './snapshot.ts';

/** A kind that is not built in. */
export interface ServedKind {
  /** Empty for the core group. */
  readonly group: string;
  /** `v1` */
  readonly version: string;
  /** `Widget` */
  readonly kind: string;
  /** Plural: `widgets`. */
  readonly resource: string;
  /** Whether its objects are in namespaces. */
  readonly namespaced: boolean;
}

/**
 * A snapshot of a cluster that has exactly these objects, of built-in kinds and of these. Pure. Throws an Error for an object whose kind is
 * not served, or that has no uid.
 * @param now milliseconds since the epoch
 */
export function snapshotOfObjects(
  objects: readonly KubeObject[],
  { kinds, now }: { readonly kinds: readonly ServedKind[]; readonly now: number },
): Snapshot {
  const catalogue = new ResourceCatalogue(builtInDiscovery(kinds.map(resourceOf)));
  const resources = new Map(catalogue.deletable.map((each) => [`${apiVersionOf(each)} ${each.kind}`, each]));
  const graph = new OwnershipGraph();
  const kept = new Map<string, Uint8Array>();
  const protectedUids: string[] = [];
  for (const { apiVersion = '', kind = '', metadata = {} } of objects) {
    const resource = resources.get(`${apiVersion} ${kind}`);
    if (resource === undefined) throw new Error(`${kind} in ${apiVersion} is not a kind that is served`);
    const { uid = '', annotations = {} } = metadata;
    if (uid === '') throw new Error(`${kind} ${metadata.name} has no uid`);
    applied(graph, { type: 'observed', resource: catalogue.monitored(resource), object: liveObjectOf(metadata) });
    if (PROTECT in annotations) protectedUids.push(uid);
    kept.set(uid, Buffer.from(stringifyExactJson({ metadata })));
  }
  return new Snapshot({
    graph,
    catalogue,
    kept,
    created: [],
    readAt: now,
    source: 'list',
    incomplete: [],
    protectedUids,
  });
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;

const resourceOf = (served: ServedKind): DiscoveredResource => ({
  ...served,
  singular: served.kind.toLowerCase(),
  verbs: VERBS,
  shortNames: [],
  categories: [],
  subresources: [],
});

/** The built-in resources of the embedded server, and these. */
export function builtInDiscovery(more: readonly DiscoveredResource[]): DiscoveryResult {
  const resources = [...builtinResources().map((row): DiscoveredResource => ({ ...row, subresources: [] })), ...more];
  const preferred = new Map<string, DiscoveredResource>();
  for (const each of resources) {
    const name = `${each.group}/${each.resource}`;
    if (!preferred.has(name)) preferred.set(name, each);
  }
  const failedGroupVersions = new Map<string, Error>();
  return { groups: [], resources, preferred: [...preferred.values()], failedGroupVersions, withoutKind: [] };
}
