import { beforeAll, describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { generatePlan } from './generate-plan.ts';
import { LIES } from './lies/lie-plan.ts';
import type { Plan, Step, VersionPlan } from './plan.ts';
import { runPlan } from './run-plan.ts';

/** `npm run simulate` runs as many as there is time for; these are always the same. */
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200);
/** Seeds of one test, so that a long run shows where it is. */
const BATCH = 40;
/** Seeds of each lie. */
const LIED_TO = 25;

/** Loads the modules that the server loads on demand. */
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

describe('answers of the right form that are not true', () => {
  it.each(LIES)('COL-002 COL-116 delete nothing that has a living owner, and leave nothing behind: %s', async (lie) => {
    const met = new Set<string>();
    for (let seed = 1; seed <= LIED_TO; seed++) {
      const { wrong, covered } = await runPlan(generatePlan(seed, lie));
      expect(wrong, `again: npm run simulate -- --seeds 1 --seed ${seed} --regime ${lie}`).toEqual([]);
      for (const label of covered) met.add(label);
    }
    expect([...met]).toEqual(expect.arrayContaining([`lie ${lie}`, `answered ${lie}`]));
    expect(met.has('another cluster was met')).toBe(lie.startsWith('otherCluster'));
  });
});

describe('a restore that leaves watches open at the server of before', () => {
  it('COL-002 COL-116 has nothing deleted that has a living owner, and leaves nothing behind', async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= LIED_TO; seed++) {
      const { wrong, covered } = await runPlan(generatePlan(seed, 'oldServer'));
      expect(wrong, `again: npm run simulate -- --seeds 1 --seed ${seed} --regime oldServer`).toEqual([]);
      for (const label of covered) met.add(label);
    }
    expect(met).toContain('restore that leaves watches open');
  });
});

describe('what the server says of its version', () => {
  const steps: Step[] = [
    { do: 'create', at: 'ConfigMap/default/a' },
    { do: 'create', at: 'Secret/default/b', owners: [{ at: 'ConfigMap/default/a' }] },
    { do: 'delete', at: 'ConfigMap/default/a', policy: 'Background' },
  ];
  const again: Step[] = [{ do: 'stop', collector: 0 }, { do: 'start', collector: 0 }, ...steps];
  const wait: Step = { do: 'wait', ms: 31_000 };

  it.each<[string, VersionPlan[] | undefined, Step[], string[]]>([
    ['new', [{ says: '1.36' }], steps, ['options in query', 'version 1.36']],
    ['old', [{ says: '1.19' }], steps, ['options in body', 'version 1.19']],
    ['nothing', [{ says: 'nothing' }], steps, ['options in body', 'version nothing']],
    ['a refusal', [{ says: 'forbidden' }], steps, ['options in body', 'version forbidden']],
    ['nothing in a plan without versions', undefined, steps, ['options in body', 'version nothing']],
    ['not soon enough', [{ says: '1.36', refusals: 1 }], steps, ['options in body']],
    ['late', [{ says: '1.36', refusals: 1 }], [wait, ...steps], ['options in query', 'version 1.36', 'version late']],
    [
      'more to the next process',
      [{ says: '1.19' }, { says: '1.20' }],
      [...steps, ...again],
      ['options in body', 'options in query', 'version 1.19', 'version 1.20'],
    ],
    [
      'less to the next process',
      [{ says: '1.36' }, { says: 'nothing' }],
      [...steps, ...again],
      ['options in body', 'options in query', 'version 1.36', 'version nothing'],
    ],
  ])('COL-150 decides where the options of a DELETE stand: %s', async (_, versions, done, expected) => {
    const plan: Plan = {
      seed: 1,
      kinds: ['ConfigMap', 'Secret'],
      collectors: [{ role: 'always', workers: 1, encoding: 'json' }],
      latency: { oneIn: 0, maxMs: 0 },
      versions,
      steps: done,
      end: 'rest',
    };
    const { wrong, covered } = await runPlan(plan);
    expect(wrong).toEqual([]);
    expect([...covered].filter((label) => /^(?:options|version) /.test(label)).toSorted()).toEqual(expected);
  });
});

describe('a server that is restored', () => {
  const [owner, dependent] = ['ConfigMap/default/a', 'Secret/default/b'];
  const before: Step[] = [
    { do: 'create', at: owner, finalizers: ['hold'] },
    { do: 'create', at: dependent, owners: [{ at: owner, block: true }], finalizers: ['hold'] },
    { do: 'backup' },
  ];
  const takenBack: Step[] = [...before, { do: 'delete', at: owner, policy: 'Foreground' }];
  const restore = { do: 'restore', awayMs: 2000, bump: false } as const;
  const again: Step = { do: 'delete', at: owner, policy: 'Background' };
  const slow: Step = { do: 'fault', fault: 'answerSlow', on: 'write', times: 1 };
  const [lower, higher] = ['restore to a lower version', 'restore to a higher version'];
  const deletion = 'restore that takes a deletion back';
  const [silence, refusal] = ['restore that silences a watch', 'restore that refuses a watch'];

  it.each<[string, Step[], string[]]>([
    ['older, and silent', [...takenBack, restore, { do: 'wait', ms: 30_000 }, again], [deletion, silence, lower]],
    ['older, and asked at once', [...takenBack, restore, again], [deletion, silence, lower]],
    ['older, and refuses', [...takenBack, { ...restore, watches: 'refused' }, again], [deletion, refusal, lower]],
    ['of a higher version', [...takenBack, { ...restore, bump: true }, again], [deletion, higher]],
    [
      'away while something is written',
      [slow, ...takenBack, restore],
      [deletion, silence, 'restore during a write', lower],
    ],
    ['what it was', [...before, restore, again], [silence, lower]],
    ['away for less than a watch pauses', [...takenBack, { ...restore, awayMs: 1 }, again], [deletion, silence, lower]],
    ['nothing without a backup', [restore, ...takenBack], []],
  ])(
    'COL-002 COL-055 COL-111 deletes nothing that is owned, and keeps nothing else: %s',
    async (_, steps, expected) => {
      const { wrong, covered } = await runPlan(planOf(steps));
      expect(wrong).toEqual([]);
      const restores = [...covered].filter((label) => label.startsWith('restore '));
      expect(restores.toSorted()).toEqual(expected.toSorted());
    },
  );

  function planOf(steps: Step[]): Plan {
    return {
      seed: 1,
      kinds: ['ConfigMap', 'Secret'],
      collectors: [{ role: 'always', workers: 1, encoding: 'json' }],
      latency: { oneIn: 0, maxMs: 0 },
      steps,
      end: 'empty',
    };
  }
});

/** The first seeds whose plans restore a backup. */
const restoring = Array.from({ length: 300 }, (_, seed) => seed)
  .filter((seed) => generatePlan(seed).steps.some((step) => step.do === 'restore'))
  .slice(0, 2);

describe('a seed', () => {
  it.each([7, 40, 131, 253, 4350, ...restoring])('%i leads to the same trace, byte for byte', async (seed) => {
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

  it('restores a backup in one of sixty plans at least, and in one of fifteen at most', () => {
    const plans = Array.from({ length: 3000 }, (_, seed) => generatePlan(seed));
    const restores = plans.filter(({ steps }) => {
      const from = steps.findIndex((step) => step.do === 'backup');
      return from >= 0 && steps.slice(from).some((step) => step.do === 'restore');
    });
    expect(restores.length).toBeGreaterThan(3000 / 60);
    expect(restores.length).toBeLessThan(3000 / 15);
  });

  it('takes a definition away in one of sixty plans at least', () => {
    const plans = Array.from({ length: 3000 }, (_, seed) => generatePlan(seed));
    const undefines = plans.filter(({ steps }) => steps.some((step) => step.do === 'undefine'));
    expect(undefines.length).toBeGreaterThan(3000 / 60);
  });
});
