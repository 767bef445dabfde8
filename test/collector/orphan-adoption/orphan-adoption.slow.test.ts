import { describe, expect, it } from 'vitest';
import { orphanAdoption } from './orphan-adoption.ts';

/** `npm run orphan-adoption` does ten thousand. */
const ROUNDS = 50;

describe('an owner that is orphaned and made anew, while its controller adopts at the worst moment', () => {
  it.each([
    ['LIFE-560 LIFE-568 remembered in memory', { records: 'memory', barrier: 'off', restarts: 'never' }],
    [
      'LIFE-561 LIFE-568 remembered as Events, through restarts',
      { records: 'events', barrier: 'off', restarts: 'always' },
    ],
    ['LIFE-562 LIFE-568 with the barrier besides', { records: 'events', barrier: 'on', restarts: 'always' }],
  ] as const)('%s: loses no dependent', async (_, options) => {
    const outcome = await orphanAdoption({ ...options, rounds: ROUNDS });
    expect(outcome).toMatchObject({ rounds: ROUNDS, lost: {} });
    expect(outcome.late).toBeGreaterThanOrEqual(ROUNDS);
  });

  it('LIFE-561 forgotten by a restart, loses what comes late, as Kubernetes does: the harness sees it', async () => {
    const { lost } = await orphanAdoption({ records: 'memory', barrier: 'off', restarts: 'always', rounds: ROUNDS });
    expect(Object.keys(lost).toSorted()).toEqual(['A', 'B', 'C', 'D']);
  });
});
