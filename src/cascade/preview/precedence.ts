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

/** An object, or a group of objects that others wait for together; then `ref` is absent. */
export interface OrderNode {
  readonly ref?: ObjectReference;
  /** Nodes that must be gone before. */
  readonly before: OrderNode[];
}

/**
 * The order of the objects, by their uids. Objects that wait for the same ones share a group, so the number of links grows with
 * the number of objects and annotations, and not with their product.
 */
export function precedence(roots: readonly OrderedRoot[]): ReadonlyMap<string, OrderNode> {
  const nodes = new Map<string, OrderNode>();
  const byName = new Map<string, ObjectReference[]>();
  const byPlace = new Map<number, OrderNode[]>();
  for (const { ref, annotations } of roots) {
    if (nodes.has(ref.uid)) continue;
    const node: OrderNode = { ref, before: [] };
    nodes.set(ref.uid, node);
    addTo(byName, keyOf(ref.namespace, ref.name), ref);
    // An object that belongs to no namespace waits for those of any.
    if (ref.namespace !== undefined) addTo(byName, keyOf(ANY, ref.name), ref);
    const place = placeOf(annotations);
    if (place !== undefined) addTo(byPlace, place, node);
  }
  const groups = new Map<string, OrderNode>();
  const groupOf = (text: string, namespace: string | undefined): OrderNode => {
    const key = `${namespace ?? ''} ${text}`;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const name = text.slice(text.indexOf('/') + 1);
    const named = [...(byName.get(keyOf(namespace ?? ANY, name)) ?? []), ...(byName.get(keyOf(undefined, name)) ?? [])];
    const before = named.filter((ref) => isOfType(ref, text)).map(({ uid }) => nodes.get(uid)!);
    groups.set(key, { before });
    return groups.get(key)!;
  };
  for (const { ref, annotations } of roots) {
    const { before } = nodes.get(ref.uid)!;
    for (const text of (annotations[DELETE_AFTER] ?? '').split(',')) {
      const group = groupOf(text.trim(), ref.namespace);
      if (group.before.length > 0) before.push(group);
    }
  }
  // Objects of the next higher place precede those of this place; objects of all higher places precede both.
  const places = [...byPlace].toSorted(([a], [b]) => a - b);
  for (const [i, [, each]] of places.entries()) {
    const higher = places[i + 1];
    if (higher === undefined) break;
    const group: OrderNode = { before: higher[1] };
    for (const { before } of each) before.push(group);
  }
  return nodes;
}

/** No name of a namespace. */
const ANY = '*';

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function placeOf(annotations: OrderedRoot['annotations']): number | undefined {
  const text = annotations[APPLY_ORDER];
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Accepts a kind, or a resource as kubectl does, in any letter case. */
function isOfType(ref: ObjectReference, text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const type = text.slice(0, slash).toLowerCase();
  const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0]! : '';
  return [ref.kind.toLowerCase(), ref.resource].some((each) => type === each || type === `${each}.${group}`);
}
