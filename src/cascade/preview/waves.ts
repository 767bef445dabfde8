import { grouped } from '../../base/collections/grouped.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** kro stamps this on each object that it applies: the place in its order. The object that was applied last is deleted first. */
export const APPLY_ORDER = 'internal.kro.run/apply-order';
/** `<kind>/<name>`, several separated by commas: the object is deleted when these are gone. */
export const DELETE_AFTER = 'kubegc.io/delete-after';

/** An object of a request with the annotations that say its place. */
export interface OrderedRoot {
  readonly ref: ObjectReference;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Waves by uid, from 1; or objects that wait for each other in a circle, the first one named again at the end. */
export type Waves = { readonly waves: ReadonlyMap<string, number> } | { readonly circle: readonly ObjectReference[] };

/**
 * The wave in which each object of one request is deleted (CAS-054): one more than the highest wave of the objects before it. Only objects
 * of the request count; an annotation that names another one has no effect. Pure.
 */
export function wavesOf(roots: readonly OrderedRoot[]): Waves {
  const before = predecessors(roots);
  const refs = new Map(roots.map(({ ref }) => [ref.uid, ref]));
  const waves = new Map<string, number>();
  const open = new Set<string>();
  // Depth first, with the path as a stack of its own: a chain may be as long as the request.
  for (const { ref } of roots) {
    const path = [{ uid: ref.uid, next: 0 }];
    if (waves.has(ref.uid)) continue;
    open.add(ref.uid);
    while (path.length > 0) {
      const step = path.at(-1)!;
      const earlier = before.get(step.uid)!;
      const other = earlier[step.next++];
      if (other === undefined) {
        waves.set(step.uid, 1 + earlier.reduce((latest, uid) => Math.max(latest, waves.get(uid)!), 0));
        open.delete(step.uid);
        path.pop();
      } else if (open.has(other)) {
        const circle = path.slice(path.findIndex(({ uid }) => uid === other)).map(({ uid }) => refs.get(uid)!);
        return { circle: [...circle, refs.get(other)!] };
      } else if (!waves.has(other)) {
        open.add(other);
        path.push({ uid: other, next: 0 });
      }
    }
  }
  return { waves };
}

/** By uid, the objects of the request that go before it. */
function predecessors(roots: readonly OrderedRoot[]): ReadonlyMap<string, readonly string[]> {
  const byName = grouped(roots, ({ ref }) => ref.name);
  const placed = roots.filter((root) => placeOf(root) !== undefined);
  const byPlace = [...grouped(placed, (root) => String(placeOf(root)))];
  const places = byPlace.toSorted(([a], [b]) => Number(a) - Number(b));
  const before = new Map<string, readonly string[]>();
  for (const root of roots) {
    const found = new Set<string>();
    for (const text of (root.annotations[DELETE_AFTER] ?? '').split(',')) {
      const name = text.trim();
      for (const { ref } of byName.get(name.slice(name.indexOf('/') + 1)) ?? []) {
        if (isNamed(ref, name, root.ref)) found.add(ref.uid);
      }
    }
    before.set(root.ref.uid, [...found]);
  }
  // Objects of the next higher place precede those of this place; objects of all higher places precede both.
  for (const [i, [, each]] of places.entries()) {
    const next = places[i + 1]?.[1].map(({ ref }) => ref.uid) ?? [];
    for (const { ref } of each) before.set(ref.uid, [...before.get(ref.uid)!, ...next]);
  }
  return before;
}

function placeOf({ annotations }: OrderedRoot): number | undefined {
  const text = annotations[APPLY_ORDER];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Accepts a kind, or a resource as kubectl does, in any letter case; in the same namespace, or cluster-scoped. */
function isNamed(ref: ObjectReference, name: string, by: ObjectReference): boolean {
  const slash = name.indexOf('/');
  if (slash < 0) return false;
  if (ref.namespace !== undefined && by.namespace !== undefined && ref.namespace !== by.namespace) return false;
  const type = name.slice(0, slash).toLowerCase();
  const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0]! : '';
  return [ref.kind.toLowerCase(), ref.resource].some((each) => type === each || type === `${each}.${group}`);
}
