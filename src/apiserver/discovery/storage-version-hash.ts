import { createHash } from 'node:crypto';
import { storageResource } from '../../api/conversion/convert.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';

/** base64 of the first eight bytes of the SHA-256 of `<group>/<version>/<Kind>` (API-392). */
export function storageVersionHash(stored: GroupVersionKind): string {
  const digest = createHash('sha256').update(`${stored.group}/${stored.version}/${stored.kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}

/** The storage version of a resource: its own, except for the few built-in kinds that share their storage with another version or group. */
export function storageVersionOf(info: ResourceInfo): GroupVersionKind {
  const shared = info.typeName === undefined ? undefined : storageResource(info.group, info.resource);
  return shared ?? { group: info.group, version: info.storageVersion ?? info.version, kind: info.kind };
}

/** Only stored resources have a storage version; reviews, bindings and component statuses are not stored. */
export function isStored(info: ResourceInfo): boolean {
  return info.verbs.includes('create') && info.verbs.includes('get');
}
