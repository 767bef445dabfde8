import type { CascadePlan } from '../documents/cascade-plan.ts';
import { objectName } from '../preview/object-name.ts';
import type { Drawing } from './drawing.ts';

/** The plan as a drawing: touched objects, coloured by outcome, with arrows to owners. */
export function planDrawing({ objects }: CascadePlan): Drawing {
  return {
    nodes: objects.map(({ ref, outcome, message }) => ({
      id: ref.uid,
      label: `${objectName(ref)}\n${outcome}: ${message}`,
      mark: outcome,
    })),
    edges: objects.flatMap(({ ref, owners = [], losesReferences = [] }) =>
      owners.map((to) => ({ from: ref.uid, to, ...(losesReferences.includes(to) ? { dashed: true } : {}) })),
    ),
  };
}
