import { beforeAll, describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { generatePlan } from './generate-plan.ts';
import type { Plan } from './plan.ts';
import { runPlan } from './run-plan.ts';

/** `npm run simulate` runs as many as there is time for; these are always the same. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200);
/** Seeds of one test, so that a long run shows where it is. */
const BATCH = 40;

/** What is loaded when it is first needed is there. */
beforeAll(async () => {
  await runPlan({ ...generatePlan(1), steps: [{ do: 'define', kind: 'Gadget' }] });
});

describe('random histories, with a network that fails', () => {
  const coverage = new Coverage();

  it.each(Array.from({ length: Math.ceil(SEEDS / BATCH) }, (_, batch) => 1 + batch * BATCH))(
    'COL-001 COL-002 COL-125 COL-150 COL-156 COL-165 seeds from %i: nothing owned goes, nothing else stays, every write is guarded',
    async (from) => {
      for (let seed = from; seed < Math.min(from + BATCH, 1 + SEEDS); seed++) {
        const { wrong, covered } = await runPlan(generatePlan(seed));
        expect(wrong, `again: npm run simulate -- --seeds 1 --seed ${seed}`).toEqual([]);
        coverage.add(covered);
      }
    },
  );

  it('show what they had, and what they lack of everything that can occur', () => {
    expect(coverage.counts.get('step create')).toBeGreaterThan(0);
    expect(coverage.toString()).toMatch(/ \d+ {2}step create$/m);
    expect(coverage.missing).not.toContain('step create');
    expect(new Coverage().missing).toEqual(
      expect.arrayContaining(['step create', 'fault twice', 'reason ownersAbsent']),
    );
  });
});

describe('a seed', () => {
  it.each([7, 40, 131, 253, 4350])('%i leads to the same trace, byte for byte', async (seed) => {
    const traces = [
      await runPlan(generatePlan(seed), { trace: true }),
      await runPlan(generatePlan(seed), { trace: true }),
    ];
    expect(traces[1]?.trace.join('\n')).toBe(traces[0]?.trace.join('\n'));
    expect(traces[0]?.trace.length).toBeGreaterThan(3);
  });

  it('is a plan that is the same after it was written to a file', async () => {
    const plan = generatePlan(12);
    const read = JSON.parse(JSON.stringify(plan)) as Plan;
    expect(read).toEqual(plan);
    const traces = [await runPlan(plan, { trace: true }), await runPlan(read, { trace: true })];
    expect(traces[1]?.trace).toEqual(traces[0]?.trace);
  });

  it('differs from its neighbours, and most plans are short', () => {
    const plans = Array.from({ length: 1000 }, (_, seed) => generatePlan(seed));
    expect(new Set(plans.map(({ steps }) => JSON.stringify(steps))).size).toBeGreaterThan(950);
    const lengths = plans.map(({ steps }) => steps.length).toSorted((a, b) => a - b);
    expect(lengths[500]).toBeLessThan(10);
    expect(lengths[990]).toBeGreaterThan(40);
  });
});
