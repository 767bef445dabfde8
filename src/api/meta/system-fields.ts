import type { ObjectMeta } from './object-meta.ts';

/** Metadata that belongs to the server: what clients send there is not read (API-060, API-073). */

/** Metadata of a create request without the server's fields; `generation` is the type's business (API-074). */
export function withoutSystemFields(meta: ObjectMeta): ObjectMeta {
  const {
    uid: _uid,
    creationTimestamp: _creationTimestamp,
    deletionTimestamp: _deletionTimestamp,
    deletionGracePeriodSeconds: _deletionGracePeriodSeconds,
    selfLink: _selfLink,
    ...rest
  } = meta;
  return rest;
}

/**
 * Metadata of an update with the stored server fields put back, so that leaving them out is no error and nobody can undelete.
 * A uid or grace period that the client did send stays, for validation to judge (API-073, API-074, API-174).
 */
export function withStoredSystemFields(next: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const { generation: _generation, selfLink: _selfLink, ...out } = next;
  if (previous.generation !== undefined) (out as ObjectMeta).generation = previous.generation;
  if (!out.uid && previous.uid !== undefined) out.uid = previous.uid;
  if (previous.creationTimestamp) out.creationTimestamp = previous.creationTimestamp;
  if (previous.deletionTimestamp) out.deletionTimestamp = previous.deletionTimestamp;
  if ((out.deletionGracePeriodSeconds ?? null) === null && (previous.deletionGracePeriodSeconds ?? null) !== null) {
    out.deletionGracePeriodSeconds = previous.deletionGracePeriodSeconds!;
  }
  return out;
}
