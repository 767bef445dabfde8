/** One process of `npm run simulate`: runs its seeds, and reports the progress. */
import { readFileSync } from 'node:fs';
import { worldNamed } from './worlds.ts';
import type { PlanOfSteps } from './shrink-plan.ts';
import { type Failure, Simulation } from './simulate.ts';

export interface SimulationOrder {
  /** The name of a world (worlds.ts). */
  readonly world: string;
  /** The first seed, and from one to the next. */
  readonly seed: number;
  readonly stride: number;
  /** Seeds at most. */
  readonly seeds: number;
  /** No history is begun after this time, epoch ms. */
  readonly until: number;
  /** Each history has it. */
  readonly regime?: string;
  /** Instead of all this: the file of a history that was kept. */
  readonly replay?: string;
}

export interface SimulationNews {
  readonly histories: number;
  /** The labels that occurred since the last report. */
  readonly covered: readonly (readonly [string, number])[];
  readonly failure?: Pick<Failure<PlanOfSteps>, 'seed' | 'wrong' | 'plan'> & { readonly trace: readonly string[] };
  /** Everything that happened in a replay that went well. */
  readonly trace?: readonly string[];
  readonly done?: true;
}

/** Interval between two reports, ms. */
const NEWS_MS = 1000;

function tell(news: SimulationNews): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(news, () => resolve());
  });
}

/** A rejection that nobody awaited: a fault of the program like any other. */
const stray: string[] = [];
process.on('unhandledRejection', (error) => {
  stray.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

async function simulate({ world: name, seed, stride, seeds, until, regime }: SimulationOrder): Promise<void> {
  const world = worldNamed(name);
  const simulation = new Simulation(world, regime);
  let told = 0;
  let toldAt = Date.now();
  const news = (): SimulationNews => {
    const since = { histories: simulation.histories - told, covered: [...simulation.coverage.counts] };
    told = simulation.histories;
    toldAt = Date.now();
    simulation.coverage.counts.clear();
    return since;
  };
  for (let index = 0; index < seeds && Date.now() < until; index++) {
    const failure = await simulation.run(seed + index * stride);
    if (failure !== undefined) {
      const { outcome, plan, wrong } = failure;
      return tell({ ...news(), failure: { seed: failure.seed, wrong, plan, trace: outcome.trace }, done: true });
    }
    if (stray.length > 0) {
      const at = seed + index * stride;
      return tell({
        ...news(),
        failure: { seed: at, wrong: stray, plan: world.generate(at, regime), trace: [] },
        done: true,
      });
    }
    if (Date.now() - toldAt > NEWS_MS) await tell(news());
  }
  return tell({ ...news(), done: true });
}

async function replay(world: string, file: string): Promise<void> {
  const { plan } = JSON.parse(readFileSync(file, 'utf8')) as { readonly plan: PlanOfSteps };
  const { wrong, trace, covered } = await worldNamed(world).run(plan, { trace: true });
  const news = { histories: 1, covered: [...covered].map((label) => [label, 1] as const), done: true as const };
  await tell(
    wrong.length + stray.length === 0
      ? { ...news, trace }
      : { ...news, failure: { seed: plan.seed, wrong: [...wrong, ...stray], plan, trace } },
  );
}

process.once('message', (order: SimulationOrder) => {
  const work = order.replay === undefined ? simulate(order) : replay(order.world, order.replay);
  void work
    .catch((error: unknown) => {
      console.error(error);
      process.exitCode = 1;
    })
    .then(() => process.disconnect());
});
