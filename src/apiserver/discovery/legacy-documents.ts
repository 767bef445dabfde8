import type { ResourceInfo, SubresourceInfo } from '../../api/kinds/resource-info.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { ServedGroup, ServedVersion } from './api-groups.ts';
import { isStored, storageVersionHash, storageVersionOf } from './storage-version-hash.ts';

/** The unaggregated discovery documents, one for each path (API-390, API-391). */

export function apiVersions(groups: readonly ServedGroup[], serverAddress: string): unknown {
  const core = groups.find(({ group }) => group === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ version }) => version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

export function apiGroupList(groups: readonly ServedGroup[]): unknown {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.filter(({ group }) => group !== '').map(groupEntry),
  };
}

export function apiGroup(group: ServedGroup): unknown {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry({ group, versions }: ServedGroup): {
  name: string;
  versions: unknown[];
  preferredVersion: unknown;
} {
  const entries = versions.map((served) => ({ groupVersion: apiVersionOf(served), version: served.version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** The list of core has no apiVersion, for compatibility. */
export function apiResourceList(served: ServedVersion): unknown {
  return {
    kind: 'APIResourceList',
    ...(served.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(served),
    resources: served.resources.flatMap((info) => [
      resourceEntry(info),
      ...info.subresources.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((sub) => subresourceEntry(info, sub)),
    ]),
  };
}

function resourceEntry(info: ResourceInfo): unknown {
  return {
    name: info.resource,
    singularName: info.singular,
    namespaced: info.namespaced,
    kind: info.kind,
    verbs: (info.discoveryVerbs ?? info.verbs).toSorted(),
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
    ...(info.categories.length === 0 ? {} : { categories: info.categories }),
    ...(isStored(info) ? { storageVersionHash: storageVersionHash(storageVersionOf(info)) } : {}),
  };
}

function subresourceEntry(info: ResourceInfo, sub: SubresourceInfo): unknown {
  return {
    name: `${info.resource}/${sub.name}`,
    singularName: '',
    namespaced: info.namespaced,
    ...(isKindOfVersion(info, sub) ? {} : { group: sub.kind.group, version: sub.kind.version }),
    kind: sub.kind.kind,
    verbs: sub.verbs.toSorted(),
  };
}

/** True if the kind belongs to the enclosing group version, which documents then omit. */
export function isKindOfVersion(info: ResourceInfo, sub: SubresourceInfo): boolean {
  return sub.kind.group === info.group && sub.kind.version === info.version;
}
