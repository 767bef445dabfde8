import { afterEach, describe, expect, it } from 'vitest';
import type { MortalWire, Death, Moment } from './mortal-wire.ts';
import { Play, type Process } from './play.ts';
import type { Rig } from './rig.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/**
 * The collector is killed at every single one of its calls, right before the call reaches the server and right after it took
 * effect but before the answer; then another one starts. Whatever the call was: the end is the same (COL-215, COL-217). Here it
 * works alone; `killed-leader.slow.test.ts` has the election and the probe.
 */
async function start(rig: Rig, wire: MortalWire): Promise<Process> {
  rig.weather = wire.intercept;
  const { collector, stop } = await rig.startCollector();
  return {
    get atRest() {
      return collector.atRest;
    },
    stop,
    bury: stop,
  };
}

let play: Play | undefined;
afterEach(async () => {
  await play?.rig.stop();
  play = undefined;
});

async function played(scenario: Scenario, death?: Death): Promise<Play> {
  await play?.rig.stop();
  play = undefined;
  play = await Play.of(scenario, { start, ...(death === undefined ? {} : { death }) });
  return play;
}

describe.each(scenarios)('$name', (scenario) => {
  it('COL-001 ends as it should when nothing happens', async () => {
    const { left, wrong } = await played(scenario);
    expect(left).toEqual([...scenario.left].toSorted());
    expect(wrong).toEqual([]);
  });

  it.each<Moment>(['before', 'after'])(
    'COL-002 COL-211 COL-215 COL-217 ends the same when the collector is killed %s any of its calls',
    async (moment) => {
      const undisturbed = await played(scenario);
      const { calls } = undisturbed.wire;
      expect(calls.length).toBeGreaterThan(8);
      for (const call of calls.keys()) {
        const disturbed = await played(scenario, { call, moment });
        const what = `killed ${moment} call ${call}: ${calls[call]}`;
        expect(disturbed.wire.calls[call], what).toBe(calls[call]);
        expect(disturbed.restarts, what).toBe(1);
        expect(disturbed.left, what).toEqual(undisturbed.left);
        expect(disturbed.wrong, what).toEqual([]);
      }
    },
  );
});
