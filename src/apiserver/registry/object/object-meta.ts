import type { Int64 } from '../../../base/json/exact-json.ts';
import { formatTime } from '../../../api/meta/time.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { newBadRequest } from '../../../api/status-error.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';

/** The metadata of an object, created if absent, because every stored kind has it. */
export function metadataOf(object: KubeObject): ObjectMeta {
  return (object.metadata ??= {});
}

/** Clears fields that a client cannot set on a new object (API-060). */
export function wipeSystemMetadata(object: KubeObject): void {
  const meta = metadataOf(object);
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.selfLink;
}

/** Sets fields of a new object that only the server decides (API-060). `uid` and `now` come from the caller. */
export function stampCreated(object: KubeObject, uid: string, now: number): void {
  const meta = metadataOf(object);
  meta.uid = uid;
  meta.creationTimestamp = formatTime(now);
}

/**
 * An update cannot change creation or deletion (API-073; apiserver `rest.BeforeUpdate`). A missing uid is filled in. Validation refuses
 * another uid, the deletion of a live object, and another grace period.
 */
export function restoreSystemMetadata(next: KubeObject, previous: KubeObject): void {
  const meta = metadataOf(next);
  const old = previous.metadata ?? {};
  restore(meta, old, 'creationTimestamp');
  if (isAbsent(meta.deletionTimestamp) || !isAbsent(old.deletionTimestamp)) restore(meta, old, 'deletionTimestamp');
  if (isAbsent(meta.deletionGracePeriodSeconds)) restore(meta, old, 'deletionGracePeriodSeconds');
  delete meta.selfLink;
  if (meta.uid === undefined || meta.uid === '') restore(meta, old, 'uid');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function restore<K extends keyof ObjectMeta>(meta: ObjectMeta, old: ObjectMeta, field: K): void {
  const value = old[field];
  if (isAbsent(value)) delete meta[field];
  else meta[field] = value;
}

/** The largest generation that a client can give. It can rise as many times again before a number loses digits. */
const LARGEST_GENERATION = 2 ** 52;

/** The generation of a create (API-074). */
export function setInitialGeneration(object: KubeObject, rule: ResourceInfo['generation']): void {
  if (rule !== 'keep' && rule !== 'rises') metadataOf(object).generation = 1;
  const given: Int64 = object.metadata?.generation ?? 0;
  if (typeof given === 'bigint') metadataOf(object).generation = LARGEST_GENERATION * (given < 0 ? -1 : 1);
}

/** The generation of an update (API-074). The client's value is ignored. */
export function setUpdatedGeneration(next: KubeObject, previous: KubeObject, rule: ResourceInfo['generation']): void {
  const old = previous.metadata?.generation;
  const meta = metadataOf(next);
  const counted = rule === 'spec' || rule === 'content' || rule === 'rises';
  const changed = counted && !contentEqual(next, previous, rule);
  const generation = changed ? (old ?? 0) + 1 : old;
  if (generation === undefined) delete meta.generation;
  else meta.generation = generation;
}

/** Everything except type, metadata and, for `spec`, status: `spec` for most kinds; `template`, `webhooks` … for others. */
function contentEqual(a: KubeObject, b: KubeObject, rule: 'spec' | 'content' | 'rises'): boolean {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    if (key === 'status' && rule !== 'content') continue;
    if (!deepEqual(a[key], b[key])) return false;
  }
  return true;
}

/** An object can only be written under its own name (API-170). */
export function checkName(object: KubeObject, name: string): void {
  const given = object.metadata?.name ?? '';
  if (given === '') {
    throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== name) {
    throw newBadRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
}
