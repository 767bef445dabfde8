import { parseYamlDocuments } from '../api/codec/yaml.ts';
import type { ApiObject } from '../api/meta/api-object.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../api/meta/object-meta.ts';
import { messageOf } from '../base/thrown.ts';
import type { ClusterClient } from './cluster-client.ts';
import { creationOrder } from './creation-order.ts';
import { displayName } from './object-ref.ts';
import { ownerKey } from './owner-key.ts';
import type { SeedObject, SeedOwner } from './seed-object.ts';

/** An object in any types, or YAML or JSON text with any number of documents and Lists. */
export type ObjectSource = SeedObject | ApiObject | string;
export type ObjectSources = ObjectSource | readonly ObjectSource[];

/** An object that cannot be created when a cluster starts. */
export class SeedError extends Error {
  constructor(what: string, cause: unknown) {
    super(`cannot create ${what}: ${messageOf(cause)}`, { cause });
    this.name = 'SeedError';
  }
}

/** In the order in which they can be created. */
export function readObjects(sources: ObjectSources | undefined): SeedObject[] {
  if (sources === undefined) return [];
  const list = (Array.isArray(sources) ? sources : [sources]) as readonly ObjectSource[];
  return creationOrder(
    list.flatMap((source) => (typeof source === 'string' ? objectsInText(source) : objectsIn(source))),
  );
}

function objectsInText(text: string): SeedObject[] {
  try {
    return parseYamlDocuments(text).flatMap(objectsIn);
  } catch (error) {
    if (/^[^\n:]+\.(?:ya?ml|json)$/.test(text)) throw new SeedError(`objects from ${JSON.stringify(text)}`, NO_PATH);
    throw error instanceof SeedError ? error : new SeedError('objects from a text', error);
  }
}

const NO_PATH = 'a text is read as YAML, not as the name of a file; read the file first';

function objectsIn(document: unknown): SeedObject[] {
  if (document === null || document === undefined) return [];
  if (typeof document !== 'object' || Array.isArray(document)) throw new SeedError('an object', 'it is not an object');
  const object = document as SeedObject;
  const items = object['items'];
  if (object.kind?.endsWith('List') && Array.isArray(items)) return items.flatMap(objectsIn);
  if (object.apiVersion === undefined || object.kind === undefined) {
    throw new SeedError(JSON.stringify(document).slice(0, 200), 'it has no apiVersion and kind');
  }
  return [object];
}

/**
 * Creates the objects in order. An owner reference may leave out its uid, or carry the uid that the owner has in the same
 * objects: it gets the uid that the server gave, so that whole trees can be written down.
 */
export async function createObjects(client: ClusterClient, objects: readonly SeedObject[]): Promise<void> {
  const uids = new Map<string, string>();
  for (const object of objects) {
    const { kind = '', metadata = {} } = object;
    try {
      const { uid: givenUid, resourceVersion: _, ownerReferences, ...rest } = metadata;
      const resolved = ownerReferences?.map((owner) => resolveOwner(owner, metadata.namespace ?? 'default', uids));
      const created = await client.create<KubeObject>({
        ...object,
        metadata: resolved === undefined ? rest : { ...rest, ownerReferences: resolved },
      });
      const { uid = '', name = '', namespace }: ObjectMeta = created.metadata ?? {};
      if (givenUid !== undefined) uids.set(givenUid, uid);
      uids.set(ownerKey(object, name, namespace), uid);
    } catch (error) {
      throw error instanceof SeedError ? error : new SeedError(displayName({ kind, name: '', ...metadata }), error);
    }
  }
}

function resolveOwner(owner: SeedOwner, namespace: string, uids: ReadonlyMap<string, string>): OwnerReference {
  if (owner.uid) return { ...owner, uid: uids.get(owner.uid) ?? owner.uid };
  const uid = uids.get(ownerKey(owner, owner.name, namespace)) ?? uids.get(ownerKey(owner, owner.name, undefined));
  if (uid === undefined) {
    throw new Error(`its owner ${owner.kind}/${owner.name} has no uid and is not among the objects before it`);
  }
  return { ...owner, uid };
}
