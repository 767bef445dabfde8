import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { ServedGroup } from './api-groups.ts';
import { isKindOfVersion } from './legacy-documents.ts';

/** Supported versions of `apidiscovery.k8s.io`. Their documents differ only in the apiVersion (API-393, 394). */
export type AggregatedVersion = 'v2' | 'v2beta1';

/** All served resources of some groups in one document: of the core group for `/api`, of the others for `/apis` (API-393). */
export function apiGroupDiscoveryList(groups: readonly ServedGroup[], version: AggregatedVersion): unknown {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: versions.map((served) => ({
        version: served.version,
        resources: served.resources.map(resourceDiscovery),
        freshness: served.origin === 'remote' ? 'Stale' : 'Current',
      })),
    })),
  };
}

function resourceDiscovery(info: ResourceInfo): unknown {
  const subresources = info.subresources
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((sub) => ({
      subresource: sub.name,
      responseKind: isKindOfVersion(info, sub) ? { group: '', version: '', kind: sub.kind.kind } : sub.kind,
      verbs: sub.verbs.toSorted(),
    }));
  return {
    resource: info.resource,
    responseKind: { group: '', version: '', kind: info.kind },
    scope: info.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: info.singular,
    verbs: (info.discoveryVerbs ?? info.verbs).toSorted(),
    ...(info.shortNames.length === 0 ? {} : { shortNames: info.shortNames }),
    ...(info.categories.length === 0 ? {} : { categories: info.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
