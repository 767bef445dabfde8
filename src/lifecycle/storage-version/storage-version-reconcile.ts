import { type Condition, withCondition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

interface StorageVersionStatus {
  /** The version in which each API server stores the resource, by the name of the server's lease. */
  readonly storageVersions?: readonly { readonly apiServerID?: string; readonly encodingVersion?: string }[] | null;
  /** The version, if it is the same for all servers. */
  readonly commonEncodingVersion?: string;
  readonly conditions?: readonly Condition[] | null;
}

export interface StorageVersion extends KubeObject {
  readonly status?: StorageVersionStatus;
}

/** `unsure` means that the cache has no such lease: only a live read proves that a server is gone. */
export type ServerView = 'alive' | 'unsure' | 'gone';

type StorageVersionDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'terminating' | 'allServersAlive' }
  | { readonly verdict: 'readLeases'; readonly reason: 'leasesNotInCache'; readonly names: readonly string[] }
  | { readonly verdict: 'update'; readonly reason: 'serverGone'; readonly status: StorageVersionStatus }
  | { readonly verdict: 'delete'; readonly reason: 'noServerLeft' };

const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';

/** True if an API server keeps this lease as its identity. */
export function isIdentityLease({ metadata }: KubeObject): boolean {
  return metadata?.labels?.[IDENTITY_LABEL] === 'kube-apiserver';
}

/** Names of the leases of the servers that have reported to a StorageVersion. */
export function serversOf({ status }: StorageVersion): string[] {
  return (status?.storageVersions ?? []).map(({ apiServerID = '' }) => apiServerID);
}

/** Decides which entries of a StorageVersion leave it (LIFE-730). `now` is in epoch ms. Pure. */
export function decideStorageVersion(
  object: StorageVersion,
  viewOf: (server: string) => ServerView,
  now: number,
): StorageVersionDecision {
  if (object.metadata?.deletionTimestamp) return { verdict: 'nothing', reason: 'terminating' };
  const names = serversOf(object).filter((server) => viewOf(server) === 'unsure');
  if (names.length > 0) return { verdict: 'readLeases', reason: 'leasesNotInCache', names };
  const entries = object.status?.storageVersions ?? [];
  const left = entries.filter(({ apiServerID = '' }) => viewOf(apiServerID) === 'alive');
  if (left.length === entries.length) return { verdict: 'nothing', reason: 'allServersAlive' };
  const [first] = left;
  if (first === undefined) return { verdict: 'delete', reason: 'noServerLeft' };
  const common = left.every(({ encodingVersion }) => encodingVersion === first.encodingVersion);
  const { commonEncodingVersion: _, ...status } = object.status ?? {};
  const condition: Condition = {
    type: 'AllEncodingVersionsEqual',
    status: common ? 'True' : 'False',
    reason: common ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: common ? 'Common encoding version set' : 'Common encoding version unset',
  };
  return {
    verdict: 'update',
    reason: 'serverGone',
    status: {
      ...status,
      storageVersions: left,
      ...(common && first.encodingVersion !== undefined ? { commonEncodingVersion: first.encodingVersion } : {}),
      conditions: withCondition(object.status?.conditions, condition, now),
    },
  };
}
