import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { isConflict, isNotFound } from '../../api/status-error.ts';
import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { readLive, type WantedPlace } from './read-undo-facts.ts';
import { coordinatesOf, coordinatesOfOwner, type LiveObject, type UndoFacts } from './undo-facts.ts';
import type { UndoResult } from '../documents/undo-result.ts';

/** An object of the record that exists again, with its intended owners. */
export interface RestoredObject {
  readonly recorded: KubeObject;
  readonly uid: string;
  readonly expectedOwners: readonly OwnerReference[];
}

export interface VerifyOptions {
  readonly client: RestClient;
  readonly served: UndoFacts['served'];
  readonly signal?: AbortNotice;
}

const PARALLEL = 16;
const MAX_CONFLICTS = 5;

/**
 * Reads restored objects and their owners again, adds references that could not be written on creation (cycles, a killed run), and reports
 * which are valid: written, with the uid of an owner at its coordinates (CAS-063).
 */
export async function verifyOwnerEdges(
  restored: readonly RestoredObject[],
  options: VerifyOptions,
): Promise<UndoResult['ownerEdges']> {
  const before = await readLive(placesOf(restored, options.served), options);
  const incomplete = restored.filter((object) => missing(object, before.get(placeOf(object))).length > 0);
  if (incomplete.length > 0) {
    const parallel = new Semaphore({ permits: PARALLEL });
    await Promise.all(incomplete.map((object) => parallel.use(() => addReferences(object, options))));
  }
  const live = incomplete.length === 0 ? before : await readLive(placesOf(restored, options.served), options);
  let total = 0;
  const broken: string[] = [];
  for (const object of restored) {
    const { recorded, expectedOwners } = object;
    const written = live.get(placeOf(object));
    const have = new Set(written?.ownerReferences.map(({ uid }) => uid));
    for (const owner of expectedOwners) {
      total++;
      const there = live.get(coordinatesOfOwner(recorded, owner, options.served));
      if (written?.uid === object.uid && have.has(owner.uid) && there?.uid === owner.uid) continue;
      const { kind = '', metadata } = recorded;
      broken.push(`${kind.toLowerCase()}/${metadata?.name} is not owned by ${owner.kind.toLowerCase()}/${owner.name}`);
    }
  }
  return { total, valid: total - broken.length, broken };
}

function missing({ uid, expectedOwners }: RestoredObject, live: LiveObject | undefined): OwnerReference[] {
  // Another object or none has the name, so nothing may be written.
  if (live?.uid !== uid) return [];
  const have = new Set(live.ownerReferences.map((reference) => reference.uid));
  return expectedOwners.filter((owner) => !have.has(owner.uid));
}

async function addReferences(object: RestoredObject, { client, served, signal }: VerifyOptions): Promise<void> {
  const { apiVersion = '', kind = '', metadata } = object.recorded;
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const { resource, namespaced } = served(apiVersion, kind)!;
  const name = metadata?.name ?? '';
  const ref = { gvr: { group, version, resource }, name, ...(namespaced ? { namespace: metadata?.namespace } : {}) };
  for (let conflicts = 0; ; conflicts++) {
    try {
      const current = await client.get(ref, { signal });
      const { uid, resourceVersion, ownerReferences = [] } = current.metadata ?? {};
      if (uid !== object.uid) return;
      const have = new Set(ownerReferences.map((reference) => reference.uid));
      const added = object.expectedOwners.filter((owner) => !have.has(owner.uid));
      if (added.length === 0) return;
      const body = { metadata: { uid, resourceVersion, ownerReferences: [...ownerReferences, ...added] } };
      await client.patch(ref, { type: 'application/merge-patch+json', body }, { signal });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || conflicts >= MAX_CONFLICTS) throw error;
    }
  }
}

function* placesOf(restored: readonly RestoredObject[], served: UndoFacts['served']): Generator<WantedPlace> {
  const seen = new Set<string>();
  const place = (
    apiVersion: string,
    kind: string,
    namespace: string | undefined,
    name: string,
  ): WantedPlace | undefined => {
    const as = served(apiVersion, kind);
    if (as === undefined) return undefined;
    const within = as.namespaced ? namespace : undefined;
    const at = coordinatesOf(apiVersion, kind, within, name);
    if (seen.has(at)) return undefined;
    seen.add(at);
    return { apiVersion, kind, resource: as.resource, namespace: within, name };
  };
  for (const { recorded, expectedOwners } of restored) {
    const { apiVersion = '', kind = '', metadata } = recorded;
    const own = place(apiVersion, kind, metadata?.namespace, metadata?.name ?? '');
    if (own !== undefined) yield own;
    for (const owner of expectedOwners) {
      const at = place(owner.apiVersion, owner.kind, metadata?.namespace, owner.name);
      if (at !== undefined) yield at;
    }
  }
}

function placeOf({ recorded }: RestoredObject): string {
  const { apiVersion = '', kind = '', metadata } = recorded;
  return coordinatesOf(apiVersion, kind, metadata?.namespace, metadata?.name ?? '');
}
