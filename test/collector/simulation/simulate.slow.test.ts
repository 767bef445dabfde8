import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failureKind } from './failure-kind.ts';
import { generatePlan } from './generate-plan.ts';
import type { KeptHistory, Plan } from './plan.ts';
import { runPlan } from './run-plan.ts';
import { collectorWorld } from './collector-world.ts';
import { Simulation } from './simulate.ts';
import type { World } from './world.ts';

/** Goes wrong where an owner is orphaned, and in another way where something else is held. Everything is well with the others. */
const run: World<Plan>['run'] = ({ steps }, { trace = false } = {}) => {
  const orphaned = steps.find((step) => step.do === 'delete' && step.policy === 'Orphan');
  const held = steps.find((step) => step.do === 'hold');
  const wrong = [
    ...(orphaned === undefined || !('at' in orphaned) ? [] : [`${orphaned.at.replace('/', ' ')} was orphaned`]),
    ...(held === undefined ? [] : ['something is held']),
  ];
  return Promise.resolve({
    wrong,
    covered: new Set(steps.map((step) => `step ${step.do}`)),
    trace: trace ? steps.map((step) => step.do) : [],
  });
};

async function seedOf(isMeant: (wrong: readonly string[], plan: Plan) => boolean): Promise<number> {
  for (let seed = 1; seed < 10_000; seed++) {
    const plan = generatePlan(seed);
    if (isMeant((await run(plan)).wrong, plan)) return seed;
  }
  throw new Error('no such seed');
}

describe('a simulation', () => {
  it('tries no smaller plan when the time to shrink is over', async () => {
    const seed = await seedOf((wrong, { steps }) => wrong.length === 2 && steps.length > 20);
    const failure = await new Simulation({ ...collectorWorld, run }, undefined, 0).run(seed);
    expect(failure?.plan).toEqual(generatePlan(seed));
  });

  it('shrinks a history that goes wrong, and its replay goes wrong in the same way again', async () => {
    const seed = await seedOf((wrong, { steps }) => wrong.length === 2 && steps.length > 20);
    const frames = Error.stackTraceLimit;
    const simulation = new Simulation({ ...collectorWorld, run });
    const failure = await simulation.run(seed);
    expect(failure).toMatchObject({
      seed,
      wrong: [expect.stringMatching(/ was orphaned$/), 'something is held'],
      plan: { seed, steps: [{ do: 'delete', policy: 'Orphan' }] },
      outcome: { trace: ['delete'] },
    });
    expect(failureKind(failure!.outcome.wrong)).toBe(failureKind(failure!.wrong));
    const kept = JSON.parse(JSON.stringify({ title: failure!.wrong[0], plan: failure!.plan })) as KeptHistory;
    expect((await run(kept.plan)).wrong).toEqual(failure!.outcome.wrong);
    expect([simulation.histories, simulation.coverage.counts.get('step delete')]).toEqual([1, 1]);
    expect(Error.stackTraceLimit).toBe(frames);
  });

  it('says nothing of a history that goes well', async () => {
    const seed = await seedOf((wrong) => wrong.length === 0);
    expect(await new Simulation({ ...collectorWorld, run }).run(seed)).toBeUndefined();
  });
});

describe('npm run simulate', () => {
  it('fails with a history that goes wrong, and writes a file that goes wrong in the same way again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubegc-simulate-'));
    try {
      const plan: Plan = {
        seed: 77,
        kinds: ['ConfigMap'],
        collectors: [{ role: 'always', workers: 1, encoding: 'json' }],
        latency: { oneIn: 0, maxMs: 0 },
        // No plan of a seed has a kind that nobody knows.
        steps: [{ do: 'create', at: 'Nothing/default/a' }],
        end: 'rest',
      };
      const file = join(folder, 'history.json');
      writeFileSync(file, JSON.stringify({ title: 'a kind that nobody knows', plan }));
      const { code, output } = await simulate(['--replay', file], folder);
      expect(output).toContain('seed 77 went wrong:');
      expect(output).toMatch(/simulation: 1 histories .*: FAILED$/m);
      expect(code).toBe(1);
      const written = JSON.parse(readFileSync(join(folder, 'kubegc-history-77.json'), 'utf8')) as KeptHistory;
      expect(written.plan).toEqual(plan);
      expect(written.title).toContain('the simulation knows no kind Nothing');
      expect(failureKind((await runPlan(written.plan)).wrong)).toBe(failureKind([written.title]));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** The script as it is, with this folder for what it writes. */
function simulate(args: readonly string[], folder: string): Promise<{ code: number | null; output: string }> {
  const script = fileURLToPath(new URL('../../../scripts/simulate.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
}
