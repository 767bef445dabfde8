import { describe, expect, it } from 'vitest';
import { generatePlan } from './generate-plan.ts';
import type { Plan, Step } from './plan.ts';
import { shrinkPlan } from './shrink-plan.ts';

const longest = Array.from({ length: 300 }, (_, seed) => generatePlan(seed)).toSorted(
  (a, b) => b.steps.length - a.steps.length,
)[0]!;

describe('shrinking a plan', () => {
  it('keeps only the steps that it takes, in their order, and makes the rest as simple as it gets', async () => {
    const needed = (plan: Plan): Step[] => {
      const orphan = plan.steps.findIndex((step) => step.do === 'delete' && step.policy === 'Orphan');
      const create = plan.steps.findIndex((step, index) => index > orphan && step.do === 'create');
      return orphan < 0 || create < 0 ? [] : [plan.steps[orphan]!, plan.steps[create]!];
    };
    const small = await shrinkPlan(longest, (plan) => Promise.resolve(needed(plan).length === 2));
    expect(small.steps).toEqual([
      { do: 'delete', at: expect.any(String), policy: 'Orphan' },
      { do: 'create', at: expect.any(String) },
    ]);
    expect(small).toMatchObject({
      seed: longest.seed,
      end: 'rest',
      latency: { oneIn: 0, maxMs: 0 },
      collectors: [{ role: 'always', workers: 1, encoding: 'json' }],
    });
  });

  it('never answers a plan that does not fail', async () => {
    const fails = (plan: Plan): boolean => plan.steps.length % 3 === 2 && plan.steps.length > 4;
    const plan = { ...longest, steps: longest.steps.slice(0, 50) };
    expect(fails(plan)).toBe(true);
    expect(fails(await shrinkPlan(plan, (each) => Promise.resolve(fails(each))))).toBe(true);
  });

  it('leaves a plan alone of which nothing can be left out', async () => {
    const text = JSON.stringify(longest);
    expect(await shrinkPlan(longest, (plan) => Promise.resolve(JSON.stringify(plan) === text))).toBe(longest);
  });
});
