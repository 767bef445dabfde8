import type { Outcome } from './run-plan.ts';
import type { PlanOfSteps, Simpler } from './shrink-plan.ts';

/** One kind of histories: how their plans are made, run and shrunk. Pure but for `run`. */
export interface World<P extends PlanOfSteps> {
  /** The plan of a seed. Throws when the world has no regime of this name. */
  generate(seed: number, regime?: string): P;
  run(plan: P, options?: { readonly trace?: boolean }): Promise<Outcome>;
  readonly simpler: Simpler<P>;
  /** Names that a run may ask for, so that each of its histories has what they stand for. */
  readonly regimes: readonly string[];
  /** Labels of everything that can occur. */
  readonly expected: readonly string[];
}
