import { createHash } from 'node:crypto';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersionKind } from '../../api/meta/group-version-kind.ts';

/** base64 of the first eight bytes of the SHA-256 of `<group>/<version>/<Kind>` (API-392). */
export function storageVersionHash(stored: GroupVersionKind): string {
  const digest = createHash('sha256').update(`${stored.group}/${stored.version}/${stored.kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}

/** The version a resource is kept in: its own, except for the few kinds that share their storage with another version. */
export function storageVersionOf(info: ResourceInfo): GroupVersionKind {
  const { kind } = info;
  return STORED_AS[`${info.group}/${info.resource}`] ?? { group: info.group, version: info.version, kind };
}

/** Only what is stored has a storage version: reviews, bindings and component statuses are answered, never kept. */
export function isStored(info: ResourceInfo): boolean {
  return info.verbs.includes('create') && info.verbs.includes('get');
}

const STORED_AS: Readonly<Record<string, GroupVersionKind>> = {
  'autoscaling/horizontalpodautoscalers': { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  'events.k8s.io/events': { group: '', version: 'v1', kind: 'Event' },
};
