import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from './faults.ts';
import { configMap, refTo, refToNothing, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** COL-201: what is fixed in Kubernetes can be set, and is the same unless it is. */
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

/** When the attempts to delete `d` were made, in ms after the first. */
async function attempts(forMs: number): Promise<number[]> {
  const times: number[] = [];
  rig.faults.on({ method: 'DELETE', target: /secrets\/d(?:\?|$)/ }, (request, next) => {
    times.push(rig.clock.monotonic());
    return refuse(500, 'InternalError')(request, next);
  });
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'd', { owners: [refTo(owner)] });
  await rig.delete(configMap, 'owner');
  await rig.advance(forMs);
  return times.map((time) => time - (times[0] ?? 0));
}

describe('COL-201 the constants', () => {
  it('COL-201 COL-082 BETTER-8 by default: 5 ms, doubled, at most a minute', async () => {
    await rig.startCollector();
    const times = await attempts(400_000);
    expect(times.slice(0, 6)).toEqual([0, 5, 15, 35, 75, 155]);
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(60_000);
  });

  it('COL-201 the base and the cap of the retries', async () => {
    await rig.startCollector({ retry: { baseMs: 100 }, retryCapMs: 500 });
    expect(await attempts(2100)).toEqual([0, 100, 300, 700, 1200, 1700]);
  });

  it('COL-201 the bucket of the retries', async () => {
    await rig.startCollector({ retry: { ratePerSecond: 1, burst: 2 } });
    const times = await attempts(5000);
    expect(times.slice(0, 3)).toEqual([0, 5, 15]);
    expect((times[4] ?? 0) - (times[3] ?? 0)).toBeGreaterThan(900);
  });

  it('COL-201 COL-016 the period of discovery', async () => {
    await rig.startCollector({ syncPeriodMs: 5000 });
    await rig.advance(20_000);
    expect(rig.recorder.discoveries.filter(({ path }) => path === '/apis')).toHaveLength(5);
  });

  it('COL-201 COL-210 how long the first lists are waited for', async () => {
    rig.serve(widget);
    rig.faults.on({ target: /widgets\?/ }, refuse(403, 'Forbidden'));
    await rig.startCollector({ initialSyncTimeoutMs: 2000 });
    await rig.create(secret, 'garbage', { owners: [refToNothing(configMap, 'never')] });
    await rig.advance(1999);
    expect(await rig.names(secret)).toEqual(['garbage']);
    await rig.advance(500);
    expect(await rig.names(secret)).toEqual([]);
  });
});
