import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { MonitoredResource } from '../types/event.ts';

/** The facts from discovery about a resource that matter here. */
export interface OfferedResource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface GroupResourceName {
  readonly group: string;
  readonly resource: string;
}

/** Events come by the thousands, are never owners, and expire by themselves (COL-200, COL-203). */
export const defaultIgnoredResources: readonly GroupResourceName[] = [
  { group: '', resource: 'events' },
  { group: 'events.k8s.io', resource: 'events' },
];

const neededVerbs = ['delete', 'list', 'watch'] as const;

/**
 * The server's preferred resources (COL-010) that are to be monitored. Each has all needed verbs (COL-012) and a group/version that parses
 * (COL-013). Subresources (COL-011) and ignored resources, in any version (COL-014), are left out.
 */
export function deletableResources<T extends OfferedResource>(
  preferred: readonly T[],
  ignored: readonly GroupResourceName[],
): T[] {
  return preferred.filter(
    ({ group, version, resource, verbs }) =>
      !resource.includes('/') &&
      neededVerbs.every((verb) => verbs.includes(verb)) &&
      parseGroupVersion(group === '' ? version : `${group}/${version}`) !== undefined &&
      !ignored.some((entry) => sameName(entry, { group, resource })),
  );
}

/** The resource as the graph knows it. */
export function monitoredResourceOf(offered: OfferedResource): MonitoredResource {
  return { apiVersion: apiVersionOf(offered), kind: offered.kind, resource: offered.resource };
}

/** Ignores the version (COL-014). */
export function sameName(a: GroupResourceName, b: GroupResourceName): boolean {
  return a.group === b.group && a.resource === b.resource;
}

/**
 * Whether objects of one may be objects of the other: the same resource in two versions (COL-05A), or one kind that two groups serve
 * (COL-015). Two resources of one kind in one version have separate objects.
 */
export function mayShareObjects(a: OfferedResource, b: OfferedResource): boolean {
  return sameName(a, b) || (a.group !== b.group && a.kind === b.kind);
}

/**
 * The key of a monitored resource in the monitor set. The kind is part of it: a definition may come back under its old name with another
 * kind, and objects are recorded under their kind (COL-045).
 */
export function resourceKey({ group, version, resource, kind }: OfferedResource): string {
  return `${group}/${version}/${resource} (${kind})`;
}

/** The state of a running monitor that a plan needs. */
export interface RunningMonitor<T> {
  readonly resource: T;
  /** Its monitor has shown all its objects once. */
  readonly synced: boolean;
  /** Its last list or watch failed. */
  readonly failing: boolean;
}

interface ResourceChange<T> {
  readonly added: readonly T[];
  /** Keys of monitors to stop. */
  readonly removed: readonly string[];
}

/**
 * The monitors to start and to stop (COL-021). If discovery could not read a group/version this time, its synced monitors stay, and those
 * that never synced are stopped (COL-019). Another version of a resource that stays has the same objects, so it is started only if the one
 * that stays fails.
 */
export function planMonitors<T extends OfferedResource>(
  current: ReadonlyMap<string, RunningMonitor<T>>,
  wanted: readonly T[],
  failedGroupVersions: ReadonlySet<string>,
): ResourceChange<T> {
  const keys = new Set(wanted.map(resourceKey));
  const removed: string[] = [];
  const kept: T[] = [];
  for (const [key, { resource, synced, failing }] of current) {
    if (keys.has(key)) continue;
    const unread = failedGroupVersions.has(
      resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
    );
    if (!(unread && synced)) removed.push(key);
    else if (!failing) kept.push(resource);
  }
  const added = wanted.filter(
    (resource) => !current.has(resourceKey(resource)) && !kept.some((other) => sameName(other, resource)),
  );
  return { added, removed };
}
