import { stringifyExactJson } from '../../base/json/exact-json.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';

/** The effect of one write on one object, in words for a person who reads a failed test. Pure. */
export function describeChange(previous: KubeObject | undefined, next: KubeObject | undefined): string {
  if (next === undefined) return describeRemoval(previous);
  if (previous === undefined) return `created${suffix(describeNew(next))}`;
  const words = describeUpdate(previous, next);
  return words.length > 0 ? words.join(', ') : `updated${suffix(changedFields(previous, next))}`;
}

/** Owners, by uid, whose references the write took off. */
export function releasedOwners(previous: KubeObject | undefined, next: KubeObject | undefined): string[] {
  if (next === undefined) return [];
  return lost(previous?.metadata?.ownerReferences, next.metadata?.ownerReferences, ({ uid }) => uid).map(
    ({ uid }) => uid,
  );
}

const suffix = (text: string): string => (text === '' ? '' : ` (${text})`);

function describeNew({ metadata = {} }: KubeObject): string {
  const owners = (metadata.ownerReferences ?? []).map(ownerName);
  const finalizers = metadata.finalizers ?? [];
  return [
    ...(owners.length > 0 ? [`owned by ${owners.join(', ')}`] : []),
    ...(finalizers.length > 0 ? [`finalizers ${finalizers.join(', ')}`] : []),
  ].join('; ');
}

function describeRemoval(previous: KubeObject | undefined): string {
  const finalizers = previous?.metadata?.finalizers ?? [];
  return finalizers.length === 0 ? 'removed' : `removed (finalizer ${finalizers.join(', ')} was the last)`;
}

function describeUpdate(previous: KubeObject, next: KubeObject): string[] {
  const before = previous.metadata ?? {};
  const after = next.metadata ?? {};
  const words: string[] = [];
  if (!before.deletionTimestamp && after.deletionTimestamp) {
    const waits = after.finalizers ?? [];
    const grace = after.deletionGracePeriodSeconds ?? 0;
    const why = [
      ...(waits.length > 0 ? [`waits for finalizer ${waits.join(', ')}`] : []),
      ...(grace > 0 ? [`grace period ${grace} s`] : []),
    ];
    words.push(`is being deleted${suffix(why.join('; '))}`);
  }
  const same = (name: string): string => name;
  for (const name of lost(before.finalizers, after.finalizers, same)) words.push(`finalizer ${name} removed`);
  // A finalizer that came with the deletion has been named above.
  if (before.deletionTimestamp || !after.deletionTimestamp) {
    for (const name of lost(after.finalizers, before.finalizers, same)) words.push(`finalizer ${name} added`);
  }
  const uid = (reference: OwnerReference): string => reference.uid;
  for (const owner of lost(before.ownerReferences, after.ownerReferences, uid)) {
    words.push(`released by owner ${ownerName(owner)}`);
  }
  for (const owner of lost(after.ownerReferences, before.ownerReferences, uid)) {
    words.push(`taken by owner ${ownerName(owner)}`);
  }
  for (const reference of after.ownerReferences ?? []) {
    const old = before.ownerReferences?.find((candidate) => candidate.uid === reference.uid);
    if (old?.blockOwnerDeletion && !reference.blockOwnerDeletion) {
      words.push(`does not block ${ownerName(reference)} any more`);
    }
  }
  return words;
}

function ownerName({ kind, name }: OwnerReference): string {
  return `${kind}/${name}`;
}

/** Entries of the first list that the second lacks. */
function lost<T>(first: readonly T[] = [], second: readonly T[] = [], key: (entry: T) => string): T[] {
  const kept = new Set(second.map(key));
  return first.filter((entry) => !kept.has(key(entry)));
}

/** Names of the fields that differ, one level deep, and one more in the metadata. */
function changedFields(previous: KubeObject, next: KubeObject): string {
  const names = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const differs = (a: unknown, b: unknown): boolean => stringifyExactJson(a) !== stringifyExactJson(b);
  const top = names(previous, next).filter((name) => name !== 'metadata' && differs(previous[name], next[name]));
  const [before, after] = [
    (previous.metadata ?? {}) as Record<string, unknown>,
    (next.metadata ?? {}) as typeof top & Record<string, unknown>,
  ];
  const meta = names(before, after)
    .filter((name) => name !== 'resourceVersion' && name !== 'managedFields' && name !== 'generation')
    .filter((name) => differs(before[name], after[name]));
  return [...top, ...meta.map((name) => `metadata.${name}`)].join(', ');
}
