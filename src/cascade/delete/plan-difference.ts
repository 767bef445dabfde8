import type { CascadePlan } from '../documents/cascade-plan.ts';
import { objectName } from '../preview/object-name.ts';

/** The differences of a later plan, one sentence for each object. */
export function planDifference(before: CascadePlan, after: CascadePlan): string[] {
  const earlier = new Map(before.objects.map((object) => [object.ref.uid, object]));
  const found: string[] = [];
  for (const { ref, outcome } of after.objects) {
    const known = earlier.get(ref.uid);
    earlier.delete(ref.uid);
    if (known === undefined) found.push(`${objectName(ref)} is new: ${outcome}`);
    else if (known.outcome !== outcome) found.push(`${objectName(ref)} was ${known.outcome}, now ${outcome}`);
    else if (known.ref.resourceVersion !== ref.resourceVersion) found.push(`${objectName(ref)} changed`);
  }
  for (const { ref } of earlier.values()) found.push(`${objectName(ref)} is not part of it any more`);
  return found;
}
