import type { CascadePlan } from '../documents/cascade-plan.ts';
import { objectName } from '../preview/object-name.ts';
import type { Drawing } from './drawing.ts';
import { objectReasons } from './object-reason.ts';

/** The plan as a drawing: touched objects, coloured by outcome, with arrows to owners. */
export function planDrawing(plan: CascadePlan): Drawing {
  const { objects } = plan;
  const reasonOf = objectReasons(plan);
  return {
    nodes: objects.map((object) => ({
      id: object.ref.uid,
      label: `${objectName(object.ref)}\n${object.outcome}: ${reasonOf(object)}`,
      mark: object.outcome,
    })),
    edges: objects.flatMap(({ ref, owners = [], losesReferences = [] }) =>
      owners.map((to) => ({ from: ref.uid, to, ...(losesReferences.includes(to) ? { dashed: true } : {}) })),
    ),
  };
}
