import { deletionOf, generationOf, nameRuleOf, updateRulesOf } from './resource-rules.ts';
import { resourcesJson } from './resources.generated.ts';
import type { ResourceInfo, SubresourceInfo, Verb } from './resource-info.ts';

export interface ApiGroup {
  readonly group: string;
  /** The preferred version is first. */
  readonly versions: readonly string[];
}

interface ResourceRow {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** If absent, all eight. */
  readonly verbs?: readonly Verb[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SubresourceInfo[];
}

const ALL_VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

let resources: readonly ResourceInfo[] | undefined;
const byName = new Map<string, ResourceInfo>();

/**
 * The Go package of a group's types, which is the key into the type table. The name is written here so that the table need not be loaded.
 */
function typePackage(group: string, version: string): string {
  if (group === 'apiextensions.k8s.io') return `apiextensions-apiserver/pkg/apis/apiextensions/${version}`;
  if (group === 'apiregistration.k8s.io') return `kube-aggregator/pkg/apis/apiregistration/${version}`;
  return `api/${group === '' ? 'core' : group.split('.', 1)[0]}/${version}`;
}

function resourceFrom(row: ResourceRow): ResourceInfo {
  return {
    group: row.group,
    version: row.version,
    resource: row.resource,
    kind: row.kind,
    listKind: `${row.kind}List`,
    singular: row.singular,
    namespaced: row.namespaced,
    verbs: row.verbs ?? ALL_VERBS,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    subresources: row.subresources ?? [],
    typeName: `${typePackage(row.group, row.version)}.${row.kind}`,
    ...deletionOf(row),
    ...updateRulesOf(row),
    generation: generationOf(row),
    nameRule: nameRuleOf(row),
  };
}

/** Resources served by default (API-399): core first, then groups in the order of API-398, each with its preferred version first. */
export function builtinResources(): readonly ResourceInfo[] {
  if (resources === undefined) {
    resources = (JSON.parse(resourcesJson) as ResourceRow[]).map(resourceFrom);
    for (const info of resources) byName.set(`${info.group}/${info.version}/${info.resource}`, info);
  }
  return resources;
}

export function findResource(group: string, version: string, resource: string): ResourceInfo | undefined {
  builtinResources();
  return byName.get(`${group}/${version}/${resource}`);
}

/** The groups under `/apis` in the order of API-398. The core group is under `/api` and not among them. */
export function apiGroups(): ApiGroup[] {
  const groups = new Map<string, string[]>();
  for (const { group, version } of builtinResources()) {
    if (group === '') continue;
    const versions = groups.get(group);
    if (versions === undefined) groups.set(group, [version]);
    else if (!versions.includes(version)) versions.push(version);
  }
  return Array.from(groups, ([group, versions]) => ({ group, versions }));
}
