import { ownerKey } from './owner-key.ts';
import type { SeedObject } from './seed-object.ts';

/** One entry for each occurrence of an object. */
interface Place {
  readonly object: SeedObject;
  taken: boolean;
}

/** Other objects need these kinds. */
const rank = ({ kind }: SeedObject): number => (kind === 'Namespace' ? 0 : kind === 'CustomResourceDefinition' ? 1 : 2);

/**
 * Namespaces come first, then definitions, then the others in their order. A namespace or definition comes after the objects that it needs:
 * its owners, and their prerequisites.
 */
export function creationOrder(objects: readonly SeedObject[]): SeedObject[] {
  const places = objects
    .toSorted((left, right) => rank(left) - rank(right))
    .map((object) => ({ object, taken: false }));
  const needs = needsAmong(places);
  const order: SeedObject[] = [];
  const put = (place: Place, early: boolean): void => {
    if (place.taken) return;
    // The object is marked before its prerequisites, which may need it in turn; the server refuses such a cycle on creation.
    place.taken = true;
    if (early || rank(place.object) < 2) for (const needed of needs(place.object)) put(needed, true);
    order.push(place.object);
  };
  for (const place of places) put(place, false);
  return order;
}

function needsAmong(places: readonly Place[]): (object: SeedObject) => Place[] {
  const byName = new Map(places.map((place) => [nameOf(place.object), place]));
  const byUid = new Map(places.map((place) => [place.object.metadata?.uid, place]));
  const byKind = new Map(places.map((place) => [definedKind(place.object), place]));
  return (object) => {
    const { namespace, ownerReferences } = object.metadata ?? {};
    const owners = (Array.isArray(ownerReferences) ? ownerReferences : []).map((owner) =>
      owner.uid
        ? byUid.get(owner.uid)
        : (byName.get(ownerKey(owner, owner.name, namespace ?? 'default')) ??
          byName.get(ownerKey(owner, owner.name, undefined))),
    );
    const needed = [
      ...(namespace === undefined ? [] : [byName.get(ownerKey(NAMESPACE, namespace, undefined))]),
      byKind.get(ownerKey(object, '', undefined)),
      ...owners,
    ];
    return needed.filter((place) => place !== undefined);
  };
}

const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace' };

function nameOf(object: SeedObject): string {
  return ownerKey(object, object.metadata?.name ?? '', object.metadata?.namespace);
}

/** The kind that a definition defines, in the form of {@link ownerKey}; undefined for other objects. */
function definedKind({ kind, spec }: SeedObject): string | undefined {
  if (kind !== 'CustomResourceDefinition') return undefined;
  const { group, names } = (spec ?? {}) as { readonly group?: string; readonly names?: { readonly kind?: string } };
  return ownerKey({ apiVersion: `${group}/`, kind: names?.kind ?? '' }, '', undefined);
}
