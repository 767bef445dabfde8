import { formatTime } from '../../../api/meta/time.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { newBadRequest } from '../../../api/status-error.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';

/** Metadata of an object, made if it has none: every stored kind has it. */
export function metadataOf(object: KubeObject): ObjectMeta {
  return (object.metadata ??= {});
}

/** API-060: what no client says of a new object. */
export function wipeSystemMetadata(object: KubeObject): void {
  const meta = metadataOf(object);
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.selfLink;
}

/** API-060: what the server alone decides on a new object. `uid` and `now` come from the caller. */
export function stampCreated(object: KubeObject, uid: string, now: number): void {
  const meta = metadataOf(object);
  meta.uid = uid;
  meta.creationTimestamp = formatTime(now);
}

/**
 * API-073 (apiserver `rest.BeforeUpdate`): an update cannot move creation or deletion. A missing uid is filled in; a different
 * one, a deletion of what lives, and a different grace period are left to be refused.
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

/** API-074, create. */
export function setInitialGeneration(object: KubeObject, rule: ResourceInfo['generation']): void {
  if (rule !== 'keep' && rule !== 'rises') metadataOf(object).generation = 1;
}

/** API-074, update: what the client sends is ignored. */
export function setUpdatedGeneration(next: KubeObject, previous: KubeObject, rule: ResourceInfo['generation']): void {
  const old = previous.metadata?.generation;
  const meta = metadataOf(next);
  const counted = rule === 'spec' || rule === 'content' || rule === 'rises';
  const changed = counted && !contentEqual(next, previous, rule);
  const generation = changed ? (old ?? 0) + 1 : old;
  if (generation === undefined) delete meta.generation;
  else meta.generation = generation;
}

/** Everything but type, metadata and, for `spec`, status: `spec` for most kinds, `template`, `webhooks`… for others. */
function contentEqual(a: KubeObject, b: KubeObject, rule: 'spec' | 'content' | 'rises'): boolean {
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (key === 'kind' || key === 'apiVersion' || key === 'metadata') continue;
    if (key === 'status' && rule !== 'content') continue;
    if (!deepEqual(a[key], b[key])) return false;
  }
  return true;
}

/** An object is written under its own name only (API-170). */
export function checkName(object: KubeObject, name: string): void {
  const given = object.metadata?.name ?? '';
  if (given === '') {
    throw newBadRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (given !== name) {
    throw newBadRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
}
