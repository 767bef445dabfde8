import type { ObjectMeta } from '../../api/meta/object-meta.ts';

/** On every restored object: `<record id>/<uid in the record>`. By it a second undo knows what the first one did. */
export const RESTORED_FROM = 'kubegc.io/restored-from';

export const formatRestoredFrom = (recordId: string, uid: string): string => `${recordId}/${uid}`;

/** The uid that the object had in its record; undefined when the object was not restored. */
export function restoredFromUid(metadata: ObjectMeta | undefined): string | undefined {
  const value = metadata?.annotations?.[RESTORED_FROM];
  return value === undefined ? undefined : value.slice(value.indexOf('/') + 1);
}
