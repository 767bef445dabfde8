import { describe, expect, it } from 'vitest';
import { generatePlan } from './generate-plan.ts';
import type { Plan, Step } from './plan.ts';
import { shrinkPlan, simpler } from './shrink-plan.ts';

/** The first deletion with policy Orphan, and the first creation after it; empty when there are no such two. */
function needed({ steps }: Plan): Step[] {
  const orphan = steps.findIndex((step) => step.do === 'delete' && step.policy === 'Orphan');
  const create = steps.findIndex((step, index) => index > orphan && step.do === 'create');
  return orphan < 0 || create < 0 ? [] : [steps[orphan]!, steps[create]!];
}

const longest = Array.from({ length: 300 }, (_, seed) => generatePlan(seed))
  .filter((plan) => needed(plan).length === 2)
  .toSorted((a, b) => b.steps.length - a.steps.length)[0]!;

describe('shrinking a plan', () => {
  it('keeps only the steps that it takes, in their order, and makes the rest as simple as it gets', async () => {
    const small = await shrinkPlan(longest, simpler, (plan) => Promise.resolve(needed(plan).length === 2));
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

  it('leaves out what a collector and its network need not have', async () => {
    const odd = { role: 'standby', workers: 2, encoding: 'protobuf', barrier: 'off', records: 'events' } as const;
    const plan: Plan = {
      ...longest,
      latency: { oneIn: 0, maxMs: 0, lagMs: 30 },
      collectors: [{ ...odd, intake: 'list', absences: 1, calls: 1 }],
    };
    const small = await shrinkPlan(plan, simpler, ({ collectors }) => Promise.resolve(collectors[0]?.calls === 1));
    expect(small).toMatchObject({ latency: { oneIn: 0, maxMs: 0 }, steps: [] });
    expect(small.latency).not.toHaveProperty('lagMs');
    expect(small.collectors).toEqual([{ role: 'always', workers: 1, encoding: 'json', calls: 1 }]);
  });

  it('does not bring back what it has left out', async () => {
    const simple: Plan = {
      seed: 1,
      kinds: [],
      collectors: [],
      latency: { oneIn: 0, maxMs: 0 },
      steps: [],
      end: 'rest',
    };
    const plan: Plan = { ...simple, latency: { oneIn: 4, maxMs: 30, lagMs: 30 } };
    expect(await shrinkPlan(plan, simpler, () => Promise.resolve(true))).toEqual(simple);
  });

  it('leaves out what the server need not say of its version', async () => {
    const plan: Plan = { ...longest, versions: [{ says: '1.19', refusals: 2 }, { says: 'nothing' }, { says: '1.20' }] };
    const fails = (needs: (versions: NonNullable<Plan['versions']>) => boolean): Promise<Plan> =>
      shrinkPlan(plan, simpler, ({ versions = [] }) => Promise.resolve(needs(versions)));
    expect((await fails(() => true)).versions).toBeUndefined();
    expect((await fails((versions) => versions.length > 0)).versions).toEqual([{ says: '1.36' }]);
    const late = await fails((versions) => versions.some(({ refusals }) => refusals !== undefined));
    expect(late.versions).toEqual([{ says: '1.36', refusals: 2 }]);
    const lower = await fails(([first, second]) => first?.says === '1.19' && second !== undefined);
    expect(lower.versions).toEqual([{ says: '1.19' }, { says: '1.36' }]);
  });

  it('has a server restored in the simplest way, after a backup', async () => {
    const steps: Step[] = [
      { do: 'backup' },
      { do: 'wait', ms: 5 },
      { do: 'backup' },
      { do: 'restore', awayMs: 40_000, bump: true, watches: 'refused' },
    ];
    const small = await shrinkPlan({ ...longest, steps }, simpler, (plan) => {
      const from = plan.steps.findIndex((step) => step.do === 'backup');
      return Promise.resolve(from >= 0 && plan.steps.slice(from).some((step) => step.do === 'restore'));
    });
    expect(small.steps).toEqual([{ do: 'backup' }, { do: 'restore', awayMs: 1, bump: false }]);
  });

  it('never answers a plan that does not fail', async () => {
    const fails = (plan: Plan): boolean => plan.steps.length % 3 === 2 && plan.steps.length > 4;
    const plan = { ...longest, steps: longest.steps.slice(0, 50) };
    expect(fails(plan)).toBe(true);
    expect(fails(await shrinkPlan(plan, simpler, (each) => Promise.resolve(fails(each))))).toBe(true);
  });

  it('leaves a plan alone of which nothing can be left out', async () => {
    const text = JSON.stringify(longest);
    expect(await shrinkPlan(longest, simpler, (plan) => Promise.resolve(JSON.stringify(plan) === text))).toBe(longest);
  });
});
