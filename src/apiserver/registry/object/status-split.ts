import { copyJson } from '../../../api/codec/json/json-value.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { decodeTyped } from '../../../api/schema/decoding/typed-decoding.ts';

export function hasStatusSubresource(info: ResourceInfo): boolean {
  return info.subresources.some((subresource) => subresource.name === 'status');
}

/** A client cannot create status (API-152); the values that Go always prints (API-521) stay. */
export function splitStatusForCreate(object: KubeObject, info: ResourceInfo): void {
  if (!hasStatusSubresource(info)) return;
  const empty = info.typeName === undefined ? undefined : emptyStatus(info.typeName);
  if (empty === undefined) delete object['status'];
  else object['status'] = copyJson(empty);
}

/** By type name; bounded by the number of types. */
const emptyStatuses = new Map<string, unknown>();

function emptyStatus(typeName: string): unknown {
  if (!emptyStatuses.has(typeName)) emptyStatuses.set(typeName, decodeTyped({}, typeName).object['status']);
  return emptyStatuses.get(typeName);
}

/** The main resource keeps the stored status (API-175). */
export function keepStatus(next: KubeObject, previous: KubeObject): void {
  if (previous['status'] === undefined) delete next['status'];
  else next['status'] = previous['status'];
}

/**
 * `/status` changes status and, for built-in kinds, metadata; everything else stays as stored (API-330). Returns a new object that shares
 * unchanged parts with `previous`.
 */
export function onlyStatus(next: KubeObject, previous: KubeObject, keepMetadata: boolean): KubeObject {
  const merged: KubeObject = { ...previous };
  if (!keepMetadata && next.metadata !== undefined) merged.metadata = next.metadata;
  else merged.metadata = { ...previous.metadata };
  if (next['status'] === undefined) delete merged['status'];
  else merged['status'] = next['status'];
  return merged;
}
