import { fieldElement } from './path-element.ts';
import type { ComparedFields } from './compare.ts';
import { EMPTY_SET, type FieldSet, isEmptySet } from './fieldset.ts';

/**
 * The part of an object that a write is about. An endpoint gives no managers to fields that its strategy resets: status in a write of the
 * object, everything else in a write of the status (API-218).
 */
export type TrackedPart =
  | { readonly part: 'all' }
  | { readonly part: 'allBut'; readonly members: readonly string[] }
  | { readonly part: 'only'; readonly members: readonly string[] };

const UNTRACKED_MEMBERS: ReadonlySet<string> = new Set(['apiVersion', 'kind']);
/** Metadata that the server sets, or that identifies the object (API-218). */
const UNTRACKED_METADATA: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]);

function isTrackedMember(name: string, tracked: TrackedPart): boolean {
  if (UNTRACKED_MEMBERS.has(name)) return false;
  if (tracked.part === 'all') return true;
  return tracked.members.includes(name) === (tracked.part === 'only');
}

export function comparedFields(tracked: TrackedPart): ComparedFields {
  return {
    member: (name) => isTrackedMember(name, tracked),
    metadata: (name) => !UNTRACKED_METADATA.has(name),
  };
}

const METADATA = fieldElement('metadata');

/** The members of a set that a write of this part covers. */
export function partOf(set: FieldSet, tracked: TrackedPart): FieldSet {
  if (tracked.part === 'all') return set;
  const members = tracked.members.map(fieldElement);
  const result: Record<string, FieldSet> = {};
  for (const element in set) {
    if (members.includes(element) === (tracked.part === 'only')) result[element] = set[element]!;
  }
  return isEmptySet(result) ? EMPTY_SET : result;
}

/** The set without fields that are never tracked. The whole of metadata has no manager. */
export function trackedOnly(set: FieldSet, tracked: TrackedPart): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element in set) {
    if (!isTrackedMember(element.slice(2), tracked)) continue;
    const node = element === METADATA ? trackedMetadata(set[element]!) : set[element]!;
    if (element !== METADATA || !isEmptySet(node)) result[element] = node;
  }
  return isEmptySet(result) ? EMPTY_SET : result;
}

function trackedMetadata(metadata: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element in metadata) {
    if (element !== '.' && !UNTRACKED_METADATA.has(element.slice(2))) result[element] = metadata[element]!;
  }
  return result;
}
