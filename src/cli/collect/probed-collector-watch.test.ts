import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { ProbeOutcome } from './collector-probe.ts';
import type { OtherCollector } from './other-collector.ts';
import { ProbedCollectorWatch, type WatchLease } from './probed-collector-watch.ts';

const kept: ProbeOutcome = { probe: 'kept', afterMs: 15_000 };
const collected: ProbeOutcome = { probe: 'collected', afterMs: 1000 };
const failed: ProbeOutcome = { probe: 'failed', detail: 'connection reset by peer' };
const refused: ProbeOutcome = { probe: 'refused', detail: 'forbidden' };
const noLease: OtherCollector = { runs: 'unknown', why: 'noLease', holder: '', detail: 'no lease' };
const held = (holder: string): OtherCollector => ({ runs: 'yes', why: 'renewed', holder });
const firstLook = (holder: string): OtherCollector => ({ runs: 'unknown', why: 'firstLook', detail: '', holder });

let clock: FakeClock;
let outcome: ProbeOutcome;
let probes: number;
let told: string[];
let lease: (verdict: OtherCollector) => Promise<void>;
let peers: OtherCollector[];
let stop: AbortController;
let done: Promise<void>;

function start(first: OtherCollector = noLease, { election = true } = {}): Promise<void> {
  const watchOther: WatchLease = (signal, onChange) => {
    lease = async (verdict) => {
      onChange(verdict);
      await clock.advanceAsync(0);
    };
    onChange(first);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  };
  const watchPeers: WatchLease = (signal, onChange) => {
    for (const verdict of peers) if (!signal.aborted) onChange(verdict);
    return Promise.resolve();
  };
  const watch = new ProbedCollectorWatch({
    probe: {
      run: () => {
        probes++;
        return Promise.resolve(outcome);
      },
    },
    watchOther,
    watchPeers: election ? watchPeers : undefined,
    clock,
    onChange: (verdict) => void told.push(`${verdict.runs} ${verdict.why}`),
  });
  done = watch.run(stop.signal);
  return clock.advanceAsync(0);
}

beforeEach(() => {
  clock = new FakeClock();
  outcome = kept;
  probes = 0;
  told = [];
  peers = [noLease];
  stop = new AbortController();
});

describe('ProbedCollectorWatch', () => {
  it('a probe that is kept: nobody collects, whoever renews the lease', async () => {
    await start(held('kcm'));
    expect(told).toEqual(['unknown probing', 'no probeKept']);
    await clock.advanceAsync(3_600_000);
    expect(probes).toBe(1);
  });

  it('a probe that is collected: somebody does, lease or not; asked again every ten minutes, without a word', async () => {
    outcome = collected;
    await start();
    expect(told).toEqual(['unknown probing', 'yes probeCollected']);
    await clock.advanceAsync(30 * 60_000);
    expect([probes, told.length]).toEqual([4, 2]);
    outcome = kept;
    await clock.advanceAsync(10 * 60_000);
    expect(told.slice(2)).toEqual(['no probeKept']);
  });

  it('stops who collects before it asks again, when the lease gets another holder', async () => {
    await start(firstLook('kcm-1'));
    await lease(held('kcm-1'));
    expect([probes, told.at(-1)]).toEqual([1, 'no probeKept']);
    outcome = collected;
    await lease(held('kcm-2'));
    expect([probes, told.slice(2)]).toEqual([2, ['unknown probing', 'yes probeCollected']]);
  });

  it('does not stop who collects because the lease is not renewed any more', async () => {
    await start(held('kcm-1'));
    await lease({ runs: 'no', why: 'notRenewed' });
    expect([probes, told.at(-1)]).toEqual([1, 'no probeKept']);
    await lease({ runs: 'unknown', why: 'unreadable', detail: 'away' });
    expect(probes).toBe(1);
  });

  it('asks at once when the holder that seemed to collect is gone', async () => {
    outcome = collected;
    await start(held('kcm-1'));
    outcome = kept;
    await lease({ runs: 'no', why: 'notRenewed' });
    expect([probes, told.at(-1)]).toEqual([2, 'no probeKept']);
  });

  it.each([failed, refused])(
    'a probe that is $probe once says nothing: what a deed has shown is asked again, soon',
    async (once) => {
      outcome = collected;
      await start(noLease);
      outcome = once;
      await clock.advanceAsync(10 * 60_000);
      outcome = collected;
      await clock.advanceAsync(5000);
      expect([probes, told]).toEqual([
        3,
        ['unknown probing', 'yes probeCollected', 'unknown probeFailed', 'yes probeCollected'],
      ]);
      await clock.advanceAsync(10 * 60_000);
      expect(probes).toBe(4);
    },
  );

  it('a probe that fails at the start, and on and on: observes, and asks ever less often, at least every ten minutes', async () => {
    outcome = failed;
    await start(noLease);
    const askedAt: number[] = [];
    for (let seconds = 0, before = 0; seconds <= 3600; seconds++) {
      if (probes > before) askedAt.push(seconds);
      before = probes;
      await clock.advanceAsync(1000);
    }
    expect(askedAt).toEqual([0, 5, 15, 35, 75, 155, 315, 635, 1235, 1835, 2435, 3035]);
    expect(told).toEqual(['unknown probing', 'unknown probeFailed']);
    outcome = kept;
    await clock.advanceAsync(10 * 60_000);
    expect(told.slice(2)).toEqual(['no probeKept']);
  });

  it.each([collected, kept])('begins with short pauses again after a probe that was $probe', async (told) => {
    outcome = failed;
    await start();
    await clock.advanceAsync(15_000);
    outcome = told;
    await clock.advanceAsync(20_000);
    expect(probes).toBe(4);
    outcome = failed;
    await lease(held('kcm'));
    await clock.advanceAsync(5000);
    expect(probes).toBe(6);
  });

  it.each([
    { says: noLease, expected: 'unknown noLease', later: 7 },
    { says: held('kcm'), expected: 'yes renewed', later: 4 },
  ])(
    'a probe that is refused three times in a row leaves it to the lease: $expected',
    async ({ says, expected, later }) => {
      outcome = refused;
      await start(says);
      await clock.advanceAsync(14_999);
      expect([probes, told]).toEqual([2, ['unknown probing', 'unknown probeFailed']]);
      await clock.advanceAsync(1);
      expect([probes, told.at(-1)]).toEqual([3, expected]);
      await clock.advanceAsync(10 * 60_000);
      expect([probes, told.at(-1)]).toEqual([later, expected]);
    },
  );

  it('a refusal among other failures does not last', async () => {
    outcome = refused;
    await start();
    await clock.advanceAsync(5000);
    outcome = failed;
    await clock.advanceAsync(10_000);
    outcome = refused;
    await clock.advanceAsync(20_000);
    expect([probes, told.at(-1)]).toEqual([4, 'unknown probeFailed']);
  });

  it('a probe that is refused is asked again soon where the lease does not know either', async () => {
    outcome = refused;
    await start(firstLook('kcm'));
    await clock.advanceAsync(15_000);
    expect([probes, told.at(-1)]).toEqual([3, 'unknown firstLook']);
    await lease(held('kcm'));
    await clock.advanceAsync(20_000);
    expect([probes, told.at(-1)]).toEqual([4, 'yes renewed']);
  });

  it('does not ask where an instance of ours leads, which would collect the probe', async () => {
    peers = [firstLook('other'), held('other')];
    await start();
    expect([probes, told]).toEqual([0, ['no peerLeads']]);
  });

  it('knows an instance of ours that began to lead meanwhile', async () => {
    outcome = collected;
    peers = [firstLook('')];
    const before = start();
    peers = [held('other')];
    await before;
    expect(told.at(-1)).toBe('no peerLeads');
  });

  it('asks without more ado where a lease of ours was released, or there is no election', async () => {
    peers = [firstLook('')];
    await start();
    expect(told.at(-1)).toBe('no probeKept');
    told = [];
    await start(noLease, { election: false });
    expect(told.at(-1)).toBe('no probeKept');
  });

  it('ends when it is aborted', async () => {
    outcome = collected;
    await start();
    stop.abort();
    await clock.advanceAsync(0);
    await done;
    expect(clock.pendingTimers).toBe(0);
  });
});
