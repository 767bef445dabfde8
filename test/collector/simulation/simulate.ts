import { Coverage } from './coverage.ts';
import { failureKind } from './failure-kind.ts';
import { generatePlan, type Regime } from './generate-plan.ts';
import type { Plan } from './plan.ts';
import { type Outcome, runPlan } from './run-plan.ts';
import { shrinkPlan } from './shrink-plan.ts';

export interface Failure {
  readonly seed: number;
  readonly wrong: readonly string[];
  /** The smallest plan found that goes wrong in the same way, with its own outcome. */
  readonly plan: Plan;
  readonly outcome: Outcome;
}

/** Frames of an error in a report; while nothing is wrong nobody reads them, and they cost. */
const STACK_FRAMES = 12;

/** As {@link runPlan} does. */
export type RunPlan = (plan: Plan, options?: { readonly trace?: boolean }) => Promise<Outcome>;

/** Runs histories one after the other, and looks closer at the first that goes wrong. */
export class Simulation {
  readonly coverage = new Coverage();
  histories = 0;
  readonly #run: RunPlan;

  readonly #regime: Regime | undefined;

  constructor(run: RunPlan = runPlan, regime?: Regime) {
    this.#run = run;
    this.#regime = regime;
  }

  /** Undefined when all is well with the history of this seed. */
  async run(seed: number): Promise<Failure | undefined> {
    const plan = generatePlan(seed, this.#regime);
    const outcome = await this.#run(plan);
    this.histories++;
    this.coverage.add(outcome.covered);
    return outcome.wrong.length === 0 ? undefined : this.#explain(seed, plan, outcome);
  }

  async #explain(seed: number, plan: Plan, { wrong }: Outcome): Promise<Failure> {
    const frames = Error.stackTraceLimit;
    Error.stackTraceLimit = STACK_FRAMES;
    try {
      const kind = failureKind(wrong);
      const shrunk = await shrinkPlan(plan, async (each) => failureKind((await this.#run(each)).wrong) === kind);
      return { seed, wrong, plan: shrunk, outcome: await this.#run(shrunk, { trace: true }) };
    } finally {
      Error.stackTraceLimit = frames;
    }
  }
}
