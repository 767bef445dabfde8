import { describe, expect, it } from 'vitest';
import { orphanRace } from './orphan-race.ts';
import { type RacingKindName, racingKinds } from './racing-kinds.ts';

/** `npm run orphan-adoption` plays a thousand of each window. */
const ROUNDS = 3;
const kinds = Object.keys(racingKinds) as RacingKindName[];

describe('an owner that is orphaned while its own controller writes', () => {
  it.each(kinds)('LIFE-564 LIFE-568 LIFE-616 loses no dependent of a %s', async (kind) => {
    const outcome = await orphanRace({ kind, rounds: ROUNDS, records: 'memory', restarts: 'never' });
    expect(outcome).toMatchObject({ rounds: ROUNDS * 5, lost: {} });
    // Windows A and C of each round come late, or the harness proves nothing.
    expect(outcome.late).toBeGreaterThanOrEqual(ROUNDS * 2);
  });

  it('LIFE-561 LIFE-568 loses no dependent when the collector is replaced meanwhile', async () => {
    const outcome = await orphanRace({ kind: 'ReplicaSet', rounds: ROUNDS, records: 'events', restarts: 'always' });
    expect(outcome.lost).toEqual({});
  });

  const forgetful = { rounds: ROUNDS, records: 'memory', restarts: 'always', ownerGuard: 'controllers' } as const;

  it.each(kinds)(
    'LIFE-566 LIFE-568 loses no dependent of a %s in windows A, C and D by the guard alone',
    async (kind) => {
      const { late, lost, refused } = await orphanRace({ ...forgetful, kind });
      expect([late, { ...lost, B: 0 }]).toEqual([0, { B: 0 }]);
      expect(refused).toBeGreaterThanOrEqual(ROUNDS * 2);
    },
  );

  it.each(kinds)('LIFE-562 LIFE-566 LIFE-568 loses no dependent of a %s by guard and barrier', async (kind) => {
    const outcome = await orphanRace({ ...forgetful, kind, barrier: 'on' });
    expect(outcome).toMatchObject({ rounds: ROUNDS * 5, late: 0, lost: {} });
  });

  it('LIFE-561 sees the losses of a collector that forgets whom it has orphaned', async () => {
    const outcome = await orphanRace({ kind: 'ReplicaSet', rounds: ROUNDS, records: 'memory', restarts: 'always' });
    expect(Object.keys(outcome.lost).toSorted()).toEqual(['A', 'B', 'C', 'D']);
  });
});
