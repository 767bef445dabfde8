import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { GroupVersion } from '../../api/meta/group-version-kind.ts';
import { compareVersions } from './version-priority.ts';

export interface ServedVersion extends GroupVersion {
  /** Sorted by name. */
  readonly resources: readonly ResourceInfo[];
  /** `remote`: another server has this version, and does not answer. */
  readonly origin?: 'remote';
}

export interface ServedGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** The preferred version is first (API-398). */
  readonly versions: readonly ServedVersion[];
}

/** Groups in the order of their first resource, which is their priority for ambiguous names (API-398). */
export function servedGroups(resources: readonly ResourceInfo[]): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceInfo[]>>();
  for (const info of resources) {
    let versions = groups.get(info.group);
    if (versions === undefined) groups.set(info.group, (versions = new Map()));
    const served = versions.get(info.version);
    if (served === undefined) versions.set(info.version, [info]);
    else served.push(info);
  }
  const custom = customGroups(resources);
  const names = [...groups.keys()].filter((group) => !custom.includes(group));
  return [...names, ...custom].map((group) => ({
    group,
    versions: Array.from(groups.get(group) ?? [], ([version, served]) => ({
      group,
      version,
      resources: served.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
    })).sort((a, b) => compareVersions(a.version, b.version)),
  }));
}

/** Adds the versions of other servers. A version that this server has as well stays this server's. */
export function withRemote(groups: readonly ServedGroup[], remote: readonly GroupVersion[]): ServedGroup[] {
  const all = new Map(groups.map((each) => [each.group, each]));
  for (const { group, version } of remote) {
    const { versions } = all.get(group) ?? { versions: [] };
    if (versions.some((served) => served.version === version)) continue;
    const added: ServedVersion = { group, version, resources: [], origin: 'remote' };
    all.set(group, { group, versions: [...versions, added].sort((a, b) => compareVersions(a.version, b.version)) });
  }
  return [...all.values()];
}

/** Groups that only definitions have made come last, by name, whichever was there first (API-398). */
function customGroups(resources: readonly ResourceInfo[]): string[] {
  const builtin = new Set(resources.filter(({ typeName }) => typeName !== undefined).map(({ group }) => group));
  return [...new Set(resources.map(({ group }) => group))].filter((group) => !builtin.has(group)).sort();
}
