import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { defaultIgnoredResources, type GroupResourceName, sameName } from './deletable-resources.ts';

/** What discovery says of the names of a resource. */
export interface NamedResource extends GroupResourceName {
  /** Empty where the server does not say it. */
  readonly singular: string;
  readonly kind: string;
}

/** A resource that is to be left alone, and that the server does not have: nothing is left alone for it. */
export interface UnofferedEntry {
  /** As it is written: `apps/replicasets`, `secrets`. */
  readonly entry: string;
  /** What is served, and may have been meant; in the entry's own group, if there is any. */
  readonly meant: readonly string[];
}

/**
 * The entries that name nothing which is served (COL-014). Of Events nobody asked; of a group that could not be read in some version
 * nobody knows.
 */
export function unofferedEntries(
  ignored: readonly GroupResourceName[],
  served: readonly NamedResource[],
  failedGroupVersions: ReadonlySet<string>,
): UnofferedEntry[] {
  const unread = new Set([...failedGroupVersions].map((each) => parseGroupVersion(each)?.group));
  return ignored
    .filter((entry) => !defaultIgnoredResources.some((usual) => sameName(usual, entry)))
    .filter((entry) => !unread.has(entry.group) && !served.some((resource) => sameName(resource, entry)))
    .map((entry) => ({ entry: textOf(entry), meant: meantBy(entry, served) }));
}

function meantBy(entry: GroupResourceName, served: readonly NamedResource[]): string[] {
  const alike = served.filter(({ resource, singular, kind }) =>
    [resource, singular, kind.toLowerCase()].includes(entry.resource),
  );
  const ofGroup = alike.filter(({ group }) => group === entry.group);
  return [...new Set((ofGroup.length > 0 ? ofGroup : alike).map(textOf))];
}

function textOf({ group, resource }: GroupResourceName): string {
  return group === '' ? resource : `${group}/${resource}`;
}
