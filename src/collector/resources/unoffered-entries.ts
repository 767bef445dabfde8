import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { defaultIgnoredResources, type GroupResourceName, sameName } from './deletable-resources.ts';

/** The names of a resource in discovery. */
export interface NamedResource extends GroupResourceName {
  /** Empty if the server does not provide it. */
  readonly singular: string;
  readonly kind: string;
}

/** A resource that is to be ignored but that the server does not have: the entry has no effect. */
interface UnofferedEntry {
  /** The entry as the user wrote it: `apps/replicasets`, `secrets`. */
  readonly entry: string;
  /** The served resources that may have been meant; those of the entry's own group, if there are any. */
  readonly meant: readonly string[];
}

/**
 * The entries that match no served resource (COL-014). Leaves out the default entries for Events, which nobody configured, and entries of a
 * group with an unread version, because nobody knows whether they match.
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
