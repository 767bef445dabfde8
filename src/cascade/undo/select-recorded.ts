import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { groupKind } from './rebuilt-by-controller.ts';

/**
 * The recorded objects that belong to the given ones: themselves, their dependents at any depth, all objects in a given namespace, and all
 * objects of a given definition. In the order of the record.
 */
export function selectRecorded(
  objects: readonly RecordedObject[],
  isRoot: (body: KubeObject) => boolean,
): RecordedObject[] {
  const selected = new Set<RecordedObject>();
  const byOwner = new Map<string, RecordedObject[]>();
  for (const object of objects) {
    for (const key of holdersOf(object.body)) {
      const held = byOwner.get(key);
      if (held === undefined) byOwner.set(key, [object]);
      else held.push(object);
    }
  }
  const open = objects.filter(({ body }) => isRoot(body));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (selected.has(next)) continue;
    selected.add(next);
    for (const key of holderKeys(next.body)) {
      for (const held of byOwner.get(key) ?? []) open.push(held);
    }
  }
  return objects.filter((object) => selected.has(object));
}

/** Keys of an object's owners, namespace and definition. */
function holdersOf({ apiVersion, kind, metadata }: KubeObject): string[] {
  const owners = (metadata?.ownerReferences ?? []).map(({ uid }) => `uid ${uid}`);
  const namespace = metadata?.namespace === undefined ? [] : [`namespace ${metadata.namespace}`];
  return [...owners, ...namespace, `kind ${groupKind(apiVersion, kind)}`];
}

/** Keys under which an object is found as owner, namespace or definition. */
function holderKeys(body: KubeObject): string[] {
  const { apiVersion, kind, metadata } = body;
  const keys = [`uid ${metadata?.uid}`];
  if (groupKind(apiVersion, kind) === '/Namespace') keys.push(`namespace ${metadata?.name}`);
  if (kind === 'CustomResourceDefinition') {
    const { group, names } = (body['spec'] ?? {}) as { group?: string; names?: { kind?: string } };
    keys.push(`kind ${group}/${names?.kind}`);
  }
  return keys;
}
