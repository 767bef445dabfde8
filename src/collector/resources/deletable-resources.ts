import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { MonitoredResource } from '../types/event.ts';

/** What discovery says about a resource, as far as it matters here. */
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
 * The resources to monitor, out of the server's preferred ones (COL-010): no subresources (COL-011), all of the needed
 * verbs (COL-012), a group/version that parses (COL-013), not ignored, whatever the version (COL-014).
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

/** Whatever the version (COL-014). */
export function sameName(a: GroupResourceName, b: GroupResourceName): boolean {
  return a.group === b.group && a.resource === b.resource;
}

/**
 * Whether objects of the one may be objects of the other: a resource in two versions (COL-05A), or a kind that two groups serve (COL-015).
 * Two resources of a kind in one version have objects of their own.
 */
export function mayShareObjects(a: OfferedResource, b: OfferedResource): boolean {
  return sameName(a, b) || (a.group !== b.group && a.kind === b.kind);
}

/**
 * One string a monitored resource: what the monitor set is keyed by. The kind is part of it, because a definition may
 * come back under its old name with another one, and the kind is what objects are recorded under (COL-045).
 */
export function resourceKey({ group, version, resource, kind }: OfferedResource): string {
  return `${group}/${version}/${resource} (${kind})`;
}

/** What a plan has to know of a monitor that runs. */
export interface RunningMonitor<T> {
  readonly resource: T;
  /** It has shown everything once. */
  readonly synced: boolean;
  /** Its last list or watch failed. */
  readonly failing: boolean;
}

export interface ResourceChange<T> {
  readonly added: readonly T[];
  /** Keys of monitors to stop. */
  readonly removed: readonly string[];
}

/**
 * What to start and what to stop (COL-021). Resources of group/versions that discovery could not read this time stay
 * if they are monitored and synced, and are dropped if they never synced (COL-019). Another version of one that stays has the same
 * objects: it is of use only if the one that stays does not work.
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
