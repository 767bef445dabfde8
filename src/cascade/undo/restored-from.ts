import type { ObjectMeta } from '../../api/meta/object-meta.ts';

/** The annotation of every restored object: `<record id>/<uid in the record>`. It shows a second undo the work of the first. */
export const RESTORED_FROM = 'kubegc.io/restored-from';

export const formatRestoredFrom = (recordId: string, uid: string): string => `${recordId}/${uid}`;

/** The object's uid in its record; undefined if the object was not restored. */
export function restoredFromUid(metadata: ObjectMeta | undefined): string | undefined {
  const value = metadata?.annotations?.[RESTORED_FROM];
  return value === undefined ? undefined : value.slice(value.indexOf('/') + 1);
}
