import { describe, expect, it } from 'vitest';
import { type HistoryCounts, playHistory } from './node-history.ts';

const HISTORIES = Number(process.env['NODE_HISTORIES'] ?? 400);
const FIRST_SEED = Number(process.env['NODE_SEED'] ?? 1);

describe('random histories of a node', () => {
  it('NODE-040, 041, 043, 045, 048, 066, 084, 085, 200, 203, 204 removes nothing in use, meets each goal that can be met, and never removes more than needed', async () => {
    const total: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
      const { violations, counts } = await playHistory(seed);
      expect({ seed, violations }).toEqual({ seed, violations: [] });
      for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
    }
    // A simulation in which nothing happens proves nothing.
    const seen = total as unknown as HistoryCounts;
    for (const count of [
      seen.imagesRemoved,
      seen.containersRemoved,
      seen.goalsMet,
      seen.goalsMissed,
      seen.failures,
      seen.spared,
    ]) {
      expect(count).toBeGreaterThan(HISTORIES / 40);
    }
  });
});
