import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';
import type { RecordStore } from '../record/record-store.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { selectRecorded } from './select-recorded.ts';

export interface GatheredObjects {
  /** The newest record that has one of the wanted objects. */
  readonly record: CascadeRecord;
  readonly objects: readonly RecordedObject[];
}

/**
 * The recorded objects that are wanted, with what they owned or contained. A recorder writes a long cascade into several records, so the
 * other records since the deletion began are searched, too. Undefined if no record has such an object.
 */
export async function gatherRecorded(
  store: Pick<RecordStore, 'list' | 'objects'>,
  isWanted: (body: KubeObject) => boolean,
): Promise<GatheredObjects | undefined> {
  const { records } = await store.list();
  for (const [index, record] of records.entries()) {
    const objects = await store.objects(record.id);
    if (!objects.some(({ body }) => isWanted(body))) continue;
    const begun = beginOf(objects, isWanted, record);
    const isSame = ({ context, time }: CascadeRecord): boolean =>
      context.clusterUid === record.context.clusterUid && (parseTime(time) ?? 0) >= begun;
    const later = records.slice(0, index).filter(isSame).toReversed();
    const earlier = records.slice(index + 1).filter(isSame);
    // Only what identifies the objects of other records is kept, because these may be large.
    const outlines = [
      ...(await outlinesOf(store, later, withoutContainer)),
      ...(await outlinesOf(store, earlier, (body) => body)),
    ];
    const known = new Set(objects.map(({ body }) => body.metadata?.uid));
    const others = outlines.filter(({ body }) => !known.has(body.metadata?.uid));
    const selected = new Set(
      selectRecorded([...objects, ...others], isWanted).map(({ body }) => body.metadata?.uid ?? ''),
    );
    const found = objects.filter(({ body }) => selected.delete(body.metadata?.uid ?? ''));
    const ids = new Set(others.flatMap(({ body, id }) => (selected.has(body.metadata?.uid ?? '') ? [id] : [])));
    for (const id of ids) {
      for (const object of await store.objects(id)) {
        if (selected.delete(object.body.metadata?.uid ?? '')) found.push(object);
      }
    }
    return { record, objects: found };
  }
  return undefined;
}

/** When the deletion of a wanted object began, in milliseconds of the epoch. */
function beginOf(
  objects: readonly RecordedObject[],
  isWanted: (body: KubeObject) => boolean,
  record: CascadeRecord,
): number {
  const times = objects
    .filter(({ body }) => isWanted(body))
    .map(({ body }) => parseTime(body.metadata?.deletionTimestamp ?? ''))
    .filter((time) => time !== undefined);
  return Math.min(parseTime(record.time) ?? 0, ...times);
}

interface Outline extends RecordedObject {
  readonly id: string;
}

async function outlinesOf(
  store: Pick<RecordStore, 'objects'>,
  records: readonly CascadeRecord[],
  change: (body: KubeObject) => KubeObject,
): Promise<Outline[]> {
  const outlines: Outline[] = [];
  for (const { id } of records) {
    for (const { body } of await store.objects(id)) outlines.push({ id, body: change(outlineOf(body)) });
  }
  return outlines;
}

function outlineOf({ apiVersion, kind, metadata, ...rest }: KubeObject): KubeObject {
  const { uid, name, namespace, ownerReferences } = metadata ?? {};
  const outline = { apiVersion, kind, metadata: { uid, name, namespace, ownerReferences } } as KubeObject;
  if (kind !== 'CustomResourceDefinition') return outline;
  const { group, names } = (rest['spec'] ?? {}) as { group?: unknown; names?: unknown };
  return { ...outline, spec: { group, names } };
}

/** For an object that went after its namespace or definition, which it can only have outlived under a new one of the same name. */
function withoutContainer(body: KubeObject): KubeObject {
  const { uid, ownerReferences } = body.metadata ?? {};
  return { metadata: { ...(uid === undefined ? {} : { uid }), ...(ownerReferences && { ownerReferences }) } };
}
