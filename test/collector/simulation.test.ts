import { describe, expect, it } from 'vitest';
import { Simulation } from './simulation.ts';

/** More: `SIMULATION_SEEDS=2000 npx vitest run test/collector/simulation`; one: `SIMULATION_SEED=17`. */
const only = process.env['SIMULATION_SEED'];
const first = only === undefined ? 1 : Number(only);
const count = only === undefined ? Number(process.env['SIMULATION_SEEDS'] ?? 160) : 1;

/** Seeds of one test, so that a long run shows where it is. */
const BATCH = 40;
const batches = Array.from({ length: Math.ceil(count / BATCH) }, (_, batch) => first + batch * BATCH);

describe('random histories, with a network that fails', () => {
  it.each(batches)(
    'COL-001 COL-002 COL-125 COL-150 COL-156 COL-165 seeds from %i: nothing owned goes, nothing else stays, every write is guarded',
    async (from) => {
      for (let seed = from; seed < Math.min(from + BATCH, first + count); seed++) {
        const { wrong, log } = await Simulation.run(seed);
        expect(wrong, `seed ${seed}: ${only === undefined ? '' : log.join('\n')}`).toEqual([]);
      }
    },
    600_000,
  );
});
