import { encodePartialObjectMetadata } from '../../api/codec/metadata/partial-object-metadata.ts';
import { PROTECT } from '../../api/meta/annotations.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';
import { liveObjectOf } from '../../collector/decide/live-object.ts';
import { applied } from '../../collector/graph/apply.ts';
import { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import type { IncompleteResource } from '../documents/document.ts';
import { ResourceCatalogue } from './resource-catalogue.ts';
import { Snapshot } from './snapshot.ts';
import { builtInDiscovery } from './snapshot-of-objects.ts';

/** 2026-11-26T12:00:00Z */
export const NOW = Date.UTC(2026, 10, 26, 12);

/** A readable uid. */
export const uidOf = (name: string): string =>
  `00000000-0000-4000-8${Buffer.from(name)
    .toString('hex')
    .slice(-15)
    .padStart(15, '0')
    .replace(/^(...)/, '$1-')}`;

/** The built-in resources of the embedded server, and these. */
export const discoveryOf = (more: readonly DiscoveredResource[] = []): DiscoveryResult => builtInDiscovery(more);

export interface SnapshotParts {
  readonly kinds?: readonly DiscoveredResource[];
  readonly incomplete?: readonly IncompleteResource[];
  /** Full objects, by the key of their need. */
  readonly bodies?: Readonly<Record<string, readonly KubeObject[]>>;
}

/** A snapshot of these objects, as after a list. */
export function snapshotOf(
  objects: readonly KubeObject[],
  { kinds, incomplete = [], bodies = {} }: SnapshotParts = {},
): Snapshot {
  const catalogue = new ResourceCatalogue(discoveryOf(kinds));
  const graph = new OwnershipGraph();
  const kept = new Map<string, Uint8Array>();
  const created: number[] = [];
  const protectedUids: string[] = [];
  for (const [i, object] of objects.entries()) {
    const resource = catalogue.deletable.find(
      (each) => each.kind === object.kind && apiVersionOf(each) === object.apiVersion,
    );
    if (resource === undefined) throw new Error(`${object.kind} in ${object.apiVersion} is not served`);
    const metadata = { resourceVersion: String(i + 1), uid: uidOf(object.metadata?.name ?? ''), ...object.metadata };
    applied(graph, { type: 'observed', resource: catalogue.monitored(resource), object: liveObjectOf(metadata) });
    const isProtected = PROTECT in (metadata.annotations ?? {});
    if (isProtected) protectedUids.push(metadata.uid);
    if (metadata.deletionTimestamp || (metadata.finalizers ?? []).length > 0 || isProtected)
      kept.set(metadata.uid, encodePartialObjectMetadata(metadata));
    created[graph.find(metadata.uid)] = NOW / 1000 - 3600;
  }
  const snapshot = new Snapshot({
    graph,
    catalogue,
    kept,
    created,
    readAt: NOW,
    source: 'list',
    incomplete,
    protectedUids,
  });
  for (const [key, list] of Object.entries(bodies)) snapshot.addBodies(key, list);
  return snapshot;
}
