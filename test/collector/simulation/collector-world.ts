import { expected } from './coverage.ts';
import { generatePlan, type Regime, REGIMES } from './generate-plan.ts';
import type { Plan } from './plan.ts';
import { runPlan } from './run-plan.ts';
import { simpler } from './shrink-plan.ts';
import type { World } from './world.ts';

/** Histories of the collector: objects with references to each other. */
export const collectorWorld: World<Plan> = {
  generate: (seed, regime) => generatePlan(seed, regime as Regime | undefined),
  run: runPlan,
  simpler,
  regimes: REGIMES,
  expected,
};
