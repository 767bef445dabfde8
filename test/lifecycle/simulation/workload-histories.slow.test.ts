import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { shrinkPlan } from '../../collector/simulation/shrink-plan.ts';
import { generateWorkloadPlan } from './generate-workload-plan.ts';
import { runWorkloadPlan } from './run-workload-plan.ts';
import type { KeptWorkloadHistory, WorkloadPlan } from './workload-plan.ts';
import { workloadWorld } from './workload-world.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
// git keeps no empty folder.
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
const SEEDS = Array.from({ length: 6 }, (_, index) => index + 1);

describe('histories of workloads', () => {
  it.each(SEEDS)(
    'LIFE-008 LIFE-220 LIFE-307 LIFE-354 the history of seed %i comes to rest as it is asked for',
    async (seed) => {
      expect((await runWorkloadPlan(generateWorkloadPlan(seed))).wrong).toEqual([]);
    },
    120_000,
  );

  it.each(files.map((name) => ({ name, ...(JSON.parse(readFileSync(folder + name, 'utf8')) as KeptWorkloadHistory) })))(
    '$title ($name)',
    async ({ plan }) => {
      expect((await runWorkloadPlan(plan)).wrong).toEqual([]);
    },
    120_000,
  );

  it('a plan that runs twice gives the same trace', async () => {
    const plan = generateWorkloadPlan(12);
    const first = await runWorkloadPlan(plan, { trace: true });
    const second = await runWorkloadPlan(plan, { trace: true });
    expect(first.trace.length).toBeGreaterThan(20);
    expect(second.trace).toEqual(first.trace);
  }, 120_000);
});

describe('plans of workloads', () => {
  it('have everything that can happen in one of them', () => {
    const steps = new Set<string>();
    for (let seed = 1; seed < 400; seed++)
      for (const step of generateWorkloadPlan(seed).steps) steps.add(`step ${step.do}`);
    expect(workloadWorld.expected.filter((label) => label.startsWith('step ') && !steps.has(label))).toEqual([]);
  });

  it('shrink to the steps that a failure needs', async () => {
    const fails = ({ steps }: WorkloadPlan) => steps.some((step) => step.do === 'crash');
    let seed = 1;
    while (!fails(generateWorkloadPlan(seed))) seed++;
    const plan = generateWorkloadPlan(seed);
    const small = await shrinkPlan(plan, workloadWorld.simpler, (each) => Promise.resolve(fails(each)));
    expect(small.steps).toEqual([{ do: 'crash', downMs: 0 }]);
  });
});
