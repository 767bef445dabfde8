import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { UnblockReferencesAction } from './actions.ts';
import type { LiveObject } from './live-object.ts';
import type { Target } from './target.ts';

/** The references with no blocking one left. */
function unblocked(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.map((reference) =>
    reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference,
  );
}

/** P3: turns off all blocking references, at the version read. Undefined if none blocks. */
export function unblockReferences(
  target: Target,
  { ownerReferences, resourceVersion }: LiveObject,
): readonly UnblockReferencesAction[] {
  const all = unblocked(ownerReferences);
  const references = all.filter((_, i) => ownerReferences[i]!.blockOwnerDeletion === true);
  return references.length === 0 ? [] : [{ action: 'unblockReferences', target, references, resourceVersion, all }];
}
