import type { CollectorPlan, Plan, Step, VersionPlan } from './plan.ts';

/** Whether a plan still shows what is being looked for. */
export type StillFails<P> = (plan: P) => Promise<boolean>;

/** A plan of any world. */
export interface PlanOfSteps {
  readonly seed: number;
  readonly steps: readonly unknown[];
}

/** Simpler forms of a plan without its steps, and of a step, the simplest first. */
export interface Simpler<P extends PlanOfSteps> {
  plans(plan: P): Iterable<Partial<P>>;
  steps(step: P['steps'][number]): Iterable<P['steps'][number]>;
}

/** Plans that are tried before it is content with what it has. */
const MAX_TRIES = 3000;

/**
 * A smaller plan that fails as well: first without whole runs of steps (delta debugging), then with simpler ones, until
 * nothing can be left out. Deterministic.
 */
export async function shrinkPlan<P extends PlanOfSteps>(
  plan: P,
  simpler: Simpler<P>,
  stillFails: StillFails<P>,
): Promise<P> {
  const search = new Search(plan, simpler, stillFails);
  for (let before: P | undefined; before !== search.best;) {
    before = search.best;
    await search.dropSteps();
    await search.simplify();
  }
  return search.best;
}

class Search<P extends PlanOfSteps> {
  best: P;
  readonly #simpler: Simpler<P>;
  readonly #stillFails: StillFails<P>;
  readonly #tried = new Set<string>();

  constructor(plan: P, simpler: Simpler<P>, stillFails: StillFails<P>) {
    this.best = plan;
    this.#simpler = simpler;
    this.#stillFails = stillFails;
  }

  async dropSteps(): Promise<void> {
    for (let size = Math.ceil(this.best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < this.best.steps.length;) {
        const { steps } = this.best;
        const kept = await this.#try({ ...this.best, steps: [...steps.slice(0, at), ...steps.slice(at + size)] });
        if (!kept) at += size;
      }
    }
  }

  async simplify(): Promise<void> {
    while (await this.#simplifyOnce());
    for (let at = 0; at < this.best.steps.length; at++) {
      for (const step of this.#simpler.steps(this.best.steps[at])) {
        const steps = this.best.steps.with(at, step);
        if (await this.#try({ ...this.best, steps })) break;
      }
    }
  }

  /** The candidates are made from the plan as it is now: those of an earlier plan would bring back steps that were left out. */
  async #simplifyOnce(): Promise<boolean> {
    for (const candidate of this.#simpler.plans(this.best)) {
      if (await this.#try({ ...this.best, ...candidate })) return true;
    }
    return false;
  }

  async #try(plan: P): Promise<boolean> {
    const text = JSON.stringify(plan);
    if (this.#tried.size >= MAX_TRIES || this.#tried.has(text)) return false;
    this.#tried.add(text);
    if (!(await this.#stillFails(plan))) return false;
    this.best = plan;
    return true;
  }
}

/** Makes histories of the collector simpler. */
export const simpler: Simpler<Plan> = { plans: simplerPlans, steps: simplerSteps };

function* simplerPlans({ kinds, collectors, latency, versions, end, steps }: Plan): Generator<Partial<Plan>> {
  if (latency.oneIn > 0) yield { latency: { oneIn: 0, maxMs: 0 } };
  if (latency.oneIn > 1) yield { latency: { ...latency, oneIn: 1 } };
  if (latency.lagMs !== undefined) yield { latency: { oneIn: latency.oneIn, maxMs: latency.maxMs } };
  if (versions !== undefined) yield* simplerVersions(versions);
  if (end !== 'rest') yield { end: 'rest' };
  if (collectors.length > 1) yield { collectors: collectors.slice(0, 1) };
  const simplest: CollectorPlan = { role: 'always', workers: 1, encoding: 'json' };
  for (const [index, collector] of collectors.entries()) {
    for (const field of ['role', 'workers', 'encoding'] as const) {
      if (collector[field] === simplest[field]) continue;
      yield { collectors: collectors.with(index, { ...collector, [field]: simplest[field] }) };
    }
    for (const field of ['barrier', 'records', 'intake', 'absences', 'calls'] as const) {
      const { [field]: given, ...usual } = collector;
      if (given !== undefined) yield { collectors: collectors.with(index, usual) };
    }
  }
  const text = JSON.stringify(steps);
  for (const kind of kinds) if (!text.includes(`"${kind}`)) yield { kinds: kinds.filter((each) => each !== kind) };
}

function* simplerVersions(versions: readonly VersionPlan[]): Generator<Pick<Plan, 'versions'>> {
  yield { versions: undefined };
  for (const [index, { says, refusals }] of versions.entries()) {
    if (versions.length > 1) yield { versions: versions.toSpliced(index, 1) };
    if (refusals !== undefined) yield { versions: versions.with(index, { says }) };
    if (says !== '1.36') yield { versions: versions.with(index, { ...versions[index], says: '1.36' }) };
  }
}

function* simplerSteps(step: Step): Generator<Step> {
  if (step.do === 'create') {
    const { owners, finalizers, ...plain } = step;
    if (owners !== undefined && finalizers !== undefined) {
      yield { ...plain, owners };
      yield { ...plain, finalizers };
    }
    if (owners !== undefined || finalizers !== undefined) yield plain;
  }
  if ((step.do === 'create' || step.do === 'refer') && step.owners !== undefined) {
    for (const [index, owner] of step.owners.entries()) {
      if (step.owners.length > 1) yield { ...step, owners: step.owners.toSpliced(index, 1) };
      const { at, ...more } = owner;
      if (Object.keys(more).length > 0) yield { ...step, owners: step.owners.with(index, { at }) };
      const { block: _, ...solid } = owner;
      if (owner.block !== undefined) yield { ...step, owners: step.owners.with(index, solid) };
    }
  }
  if ('policy' in step && step.policy !== 'Background') yield { ...step, policy: 'Background' };
  if (step.do === 'fault') {
    if (step.times > 1) yield { ...step, times: 1 };
    if (step.fault !== 'requestLost') yield { ...step, fault: 'requestLost' };
  }
  if (step.do === 'stream' && step.stream !== 'cut' && step.stream !== 'hold') yield { ...step, stream: 'cut' };
  if ('ms' in step && step.ms !== undefined) {
    for (const ms of [1, 10, 100, 1000, 10_000]) if (ms < step.ms) yield { ...step, ms };
  }
  if (step.do === 'restore') {
    const { watches, ...usual } = step;
    if (watches !== undefined) yield usual;
    if (step.bump) yield { ...step, bump: false };
    for (const awayMs of [1, 1000, 10_000]) if (awayMs < step.awayMs) yield { ...step, awayMs };
  }
  if (step.do === 'lead' && step.overlapMs > 0) yield { ...step, overlapMs: 0 };
}
