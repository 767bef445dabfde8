import { parsePlacedDocuments, type PlacedDocument } from '../../api/codec/yaml/yaml.ts';
import type { ApiObject } from '../../api/meta/api-object.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ClusterClient } from '../client/cluster-client.ts';
import { creationOrder } from './creation-order.ts';
import { isPath, type ManifestFile, readManifestFiles } from './manifest-files.ts';
import { displayName } from '../client/object-ref.ts';
import { ownerKey } from './owner-key.ts';
import type { SeedObject, SeedOwner } from './seed-object.ts';

/**
 * An object in any types; YAML or JSON text with any number of documents and Lists; or the path of such a file, or of a directory
 * of them.
 */
export type ObjectSource = SeedObject | ApiObject | string | URL;
/** One source or several. */
export type ObjectSources = ObjectSource | readonly ObjectSource[];

/** An object that cannot be created at the start of a cluster. */
export class SeedError extends Error {
  constructor(what: string, cause: unknown) {
    super(`cannot create ${what}: ${messageOf(cause)}`, { cause });
    this.name = 'SeedError';
  }
}

/** The positions of objects from files, as `path:line`. */
const places = new WeakMap<SeedObject, string>();
/** Objects of files that were found in a directory instead of named. */
const foundObjects = new WeakSet<SeedObject>();

/** True for an object from a directory that may also contain unrelated ones. */
export function isFound(object: SeedObject): boolean {
  return foundObjects.has(object);
}

/** The objects in an order in which they can be created. Rejects with a SeedError that names file and line of unreadable text. */
export async function readObjects(sources: ObjectSources | undefined): Promise<SeedObject[]> {
  if (sources === undefined) return [];
  const list = (Array.isArray(sources) ? sources : [sources]) as readonly ObjectSource[];
  const read = await Promise.all(list.map(readSource));
  return creationOrder(read.flat());
}

async function readSource(source: ObjectSource): Promise<SeedObject[]> {
  if (!(source instanceof URL || (typeof source === 'string' && isPath(source)))) {
    return typeof source === 'string' ? objectsInText(source) : objectsIn(source);
  }
  let files: readonly ManifestFile[];
  try {
    files = await readManifestFiles(source);
  } catch (error) {
    throw new SeedError(`objects from ${JSON.stringify(String(source))}`, error);
  }
  return files.flatMap((file) => objectsInText(file.text, file));
}

function objectsInText(text: string, file?: ManifestFile): SeedObject[] {
  return documentsIn(text, file).flatMap(({ value, line }) => {
    const place = file === undefined ? undefined : `${file.path}:${line}`;
    const objects = objectsIn(value, place);
    for (const object of objects) {
      if (place !== undefined) places.set(object, place);
      if (file?.found === true) foundObjects.add(object);
    }
    return objects;
  });
}

/** Throws a SeedError that names file and line. */
function documentsIn(text: string, file: ManifestFile | undefined): PlacedDocument[] {
  try {
    return parsePlacedDocuments(text);
  } catch (error) {
    const [, line] = /\bline (\d+)\b/.exec(messageOf(error)) ?? [];
    const place = file === undefined ? 'a text' : line === undefined ? file.path : `${file.path}:${line}`;
    throw new SeedError(`objects from ${place}`, error);
  }
}

function objectsIn(document: unknown, place?: string): SeedObject[] {
  const at = place === undefined ? '' : ` from ${place}`;
  if (document === null || document === undefined) return [];
  if (typeof document !== 'object' || Array.isArray(document)) {
    throw new SeedError(`an object${at}`, 'it is not an object');
  }
  const object = document as SeedObject;
  const items = object['items'];
  if (object.kind?.endsWith('List') && Array.isArray(items)) return items.flatMap((item) => objectsIn(item, place));
  if (object.apiVersion === undefined || object.kind === undefined) {
    throw new SeedError(`${JSON.stringify(document).slice(0, 200)}${at}`, 'it has no apiVersion and kind');
  }
  return [object];
}

/**
 * Creates the objects in order. An owner reference may omit its uid, or contain the uid that the owner has in the same objects: it gets the
 * uid that the server assigned, so that whole trees can be written down.
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
      if (error instanceof SeedError) throw error;
      const place = places.get(object);
      const name = displayName({ kind, name: '', ...metadata });
      throw new SeedError(place === undefined ? name : `${name} from ${place}`, error);
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
