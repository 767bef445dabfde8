import { Coverage } from './coverage.ts';
import { failureKind } from './failure-kind.ts';
import type { Outcome } from './run-plan.ts';
import { type PlanOfSteps, shrinkPlan } from './shrink-plan.ts';
import type { World } from './world.ts';

export interface Failure<P extends PlanOfSteps> {
  readonly seed: number;
  readonly wrong: readonly string[];
  /** The smallest plan found that goes wrong in the same way, with its own outcome. */
  readonly plan: P;
  readonly outcome: Outcome;
}

/** Frames of an error in a report; while nothing is wrong nobody reads them, and they cost. */
const STACK_FRAMES = 12;
/** No smaller plan is tried after this time, ms: one history may take minutes. */
const SHRINK_MS = 120_000;

/** Runs histories one after the other, and looks closer at the first that goes wrong. */
export class Simulation<P extends PlanOfSteps> {
  readonly coverage = new Coverage();
  histories = 0;
  readonly #world: World<P>;
  readonly #regime: string | undefined;
  readonly #shrinkMs: number;

  constructor(world: World<P>, regime?: string, shrinkMs = SHRINK_MS) {
    this.#world = world;
    this.#regime = regime;
    this.#shrinkMs = shrinkMs;
  }

  /** Undefined when all is well with the history of this seed. */
  async run(seed: number): Promise<Failure<P> | undefined> {
    const plan = this.#world.generate(seed, this.#regime);
    const outcome = await this.#world.run(plan);
    this.histories++;
    this.coverage.add(outcome.covered);
    return outcome.wrong.length === 0 ? undefined : this.#explain(seed, plan, outcome);
  }

  async #explain(seed: number, plan: P, { wrong }: Outcome): Promise<Failure<P>> {
    const { run, simpler } = this.#world;
    const frames = Error.stackTraceLimit;
    Error.stackTraceLimit = STACK_FRAMES;
    try {
      const kind = failureKind(wrong);
      const until = Date.now() + this.#shrinkMs;
      const stillFails = async (each: P): Promise<boolean> =>
        Date.now() < until && failureKind((await run(each)).wrong) === kind;
      const shrunk = await shrinkPlan(plan, simpler, stillFails);
      return { seed, wrong, plan: shrunk, outcome: await run(shrunk, { trace: true }) };
    } finally {
      Error.stackTraceLimit = frames;
    }
  }
}
