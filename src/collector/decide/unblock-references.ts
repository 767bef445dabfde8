import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { UnblockReferencesAction } from './actions.ts';
import type { LiveObject } from './live-object.ts';
import type { Target } from './target.ts';

/** The references as they are after nothing blocks any more. */
function unblocked(references: readonly OwnerReference[]): readonly OwnerReference[] {
  return references.map((reference) =>
    reference.blockOwnerDeletion === true ? { ...reference, blockOwnerDeletion: false } : reference,
  );
}

/** P3: turns off what blocks, at the version read; nothing if nothing does. */
export function unblockReferences(
  target: Target,
  { ownerReferences, resourceVersion }: LiveObject,
): readonly UnblockReferencesAction[] {
  const all = unblocked(ownerReferences);
  const references = all.filter((_, i) => ownerReferences[i]!.blockOwnerDeletion === true);
  return references.length === 0 ? [] : [{ action: 'unblockReferences', target, references, resourceVersion, all }];
}
