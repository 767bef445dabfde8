import { workloadWorld } from '../../lifecycle/simulation/workload-world.ts';
import { collectorWorld } from './collector-world.ts';
import type { PlanOfSteps } from './shrink-plan.ts';
import type { World } from './world.ts';

/** The worlds of `npm run simulate --world`. */
export const worlds = { collector: collectorWorld, workloads: workloadWorld } as const;

/** A plan is data that was made by the same world, so its type is not kept. Throws when there is no such world. */
export function worldNamed(name: string): World<PlanOfSteps> {
  const world = (worlds as Readonly<Record<string, unknown>>)[name];
  if (world === undefined) throw new Error(`no world is named ${name}, but ${Object.keys(worlds).join(', ')} are`);
  return world as World<PlanOfSteps>;
}
