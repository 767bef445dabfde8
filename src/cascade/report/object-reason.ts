import type { CascadePlan, PlannedObject } from '../documents/cascade-plan.ts';
import { objectName, resourceGroup } from '../preview/object-name.ts';

/**
 * The reason of an object's outcome as people see it. A namespace, a definition or a root that is deleted only after an object that waits
 * names the first such object, and counts the others: nobody sees it in the tree if it is folded.
 */
export function objectReasons({ objects }: Pick<CascadePlan, 'objects'>): (object: PlannedObject) => string {
  const waiting = objects.filter(({ outcome }) => outcome === 'waits');
  const byUid = new Map(waiting.map((each) => [each.ref.uid, each]));
  return (object) => {
    const { outcome, message } = object;
    if (outcome !== 'deleted' || waiting.length === 0) return message;
    const held = new Set(waiting.filter(isIn(object)));
    if (object.reason === 'requested') {
      for (const uid of object.waitsFor ?? []) if (byUid.has(uid)) held.add(byUid.get(uid)!);
    }
    const [first] = held;
    if (first === undefined) return message;
    const others = held.size - 1;
    const more = others === 0 ? '' : ` and ${others.toLocaleString('en-US')} ${others === 1 ? 'other' : 'others'}`;
    return `${message}; waits for ${objectName(first.ref)}${more}`;
  };
}

/** Whether an object is deleted only when another is gone, because that one is in its namespace or of its kind. */
function isIn({ ref: { apiVersion, kind, name } }: PlannedObject): (other: PlannedObject) => boolean {
  if (apiVersion === 'v1' && kind === 'Namespace') return ({ ref }) => ref.namespace === name;
  if (kind === 'CustomResourceDefinition') return ({ ref }) => resourceGroup(ref) === name;
  return () => false;
}
