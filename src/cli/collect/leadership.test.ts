import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { LeaderElector } from '../../client/election/leader-elector.ts';
import { LeaseServer, Wire } from '../../client/election/lease-server.fixture.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { Leadership, type LeadershipOptions } from './leadership.ts';
import type { OtherCollector } from './other-collector.ts';

const none: OtherCollector = { runs: 'no', why: 'notRenewed' };
const asked: OtherCollector = { runs: 'no', why: 'asked' };
const embedded: OtherCollector = { runs: 'yes', why: 'embedded', holder: '' };
const runs: OtherCollector = { runs: 'yes', why: 'renewed', holder: 'master-1' };
const unknown: OtherCollector = { runs: 'unknown', why: 'firstLook', detail: 'waiting' };

function rig(mode: LeadershipOptions['mode'], { election = true } = {}) {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const wire = new Wire();
  const logger = new MemoryLogger();
  const metrics = new MemoryMetrics();
  const client = new RestClient({
    transport: inProcessTransport(server.handler),
    clock,
    userAgent: 'test',
    interceptors: [wire.intercept],
  });
  const lease = { namespace: 'ns', name: 'lock', identity: 'me' };
  const elector = new LeaderElector({ client, clock, random: seededRandom(1), logger, ...lease });
  const stop = new AbortController();
  let tell: (verdict: OtherCollector) => void = () => undefined;
  const work = { terms: 0, running: false, fail: undefined as Error | undefined };
  const leadership = new Leadership({
    mode,
    elector: election ? elector : undefined,
    watchOther: (signal, onChange) => {
      tell = onChange;
      if (mode === 'collect') onChange(asked);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
    lead: async (signal) => {
      work.terms++;
      work.running = true;
      if (work.fail !== undefined) throw work.fail;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      work.running = false;
    },
    logger,
    metrics,
  });
  const done = leadership.run(stop.signal);
  done.catch(() => undefined);
  const other = async (verdict: OtherCollector): Promise<void> => {
    tell(verdict);
    await clock.advanceAsync(100);
  };
  return { clock, server, wire, logger, metrics, leadership, work, stop, done, other };
}

const acting = ({ metrics }: ReturnType<typeof rig>) => metrics.value('kubegc_collector_acting');

it('observe: never leads, and takes no lease', async () => {
  const it = rig('observe');
  await it.clock.advanceAsync(60_000);
  expect([it.work.terms, it.leadership.mayWrite, it.server.requests, acting(it)]).toEqual([0, false, [], 0]);
  it.stop.abort();
  await it.done;
});

it('COL-214 collect: may write only while it works and the lease certainly holds', async () => {
  const it = rig('collect');
  expect(it.leadership.mayWrite).toBe(false);
  await it.clock.advanceAsync(100);
  expect([it.work.running, it.leadership.mayWrite, acting(it)]).toEqual([true, true, 1]);
  it.wire.state = 'cut';
  await it.clock.advanceAsync(10_000);
  expect([it.work.running, it.leadership.mayWrite, acting(it)]).toEqual([false, false, 0]);
  it.wire.state = 'up';
  await it.clock.advanceAsync(10_000);
  expect([it.work.terms, it.leadership.mayWrite]).toEqual([2, true]);
  it.stop.abort();
  await it.clock.advanceAsync(100);
  await it.done;
  expect(it.server.get('lock')?.spec?.holderIdentity).toBe('');
});

it('COL-204 collect: stands by while the API server collects itself, and says so', async () => {
  const it = rig('collect', { election: false });
  await it.other(embedded);
  expect([it.work.running, it.leadership.mayWrite]).toEqual([false, false]);
  const [line] = it.logger.lines.filter(({ fields }) => fields['reason'] === 'embedded');
  expect(line?.fields['why']).toContain("--controllers '*,-garbage-collector-controller'");
  await it.other(asked);
  expect([it.work.running, it.leadership.mayWrite]).toEqual([true, true]);
  it.stop.abort();
  await it.done;
});

it('collect without an election: works at once', async () => {
  const it = rig('collect', { election: false });
  await it.clock.settle();
  expect([it.work.running, it.leadership.mayWrite, it.server.requests]).toEqual([true, true, []]);
  it.stop.abort();
  await it.done;
  expect(it.leadership.mayWrite).toBe(false);
});

it('an error of the work ends it, in every mode', async () => {
  for (const mode of ['collect', 'auto'] as const) {
    const it = rig(mode);
    it.work.fail = new Error('broken');
    if (mode === 'auto') await it.other(none);
    await it.clock.advanceAsync(100);
    await expect(it.done).rejects.toThrow('broken');
  }
});

describe('COL-204 auto', () => {
  it('competes for its own lease only while no other collector runs, and says which one and why', async () => {
    const it = rig('auto');
    await it.clock.advanceAsync(60_000);
    expect([it.work.terms, it.server.requests]).toEqual([0, []]);
    await it.other(unknown);
    await it.other(runs);
    expect([it.work.terms, it.server.requests]).toEqual([0, []]);
    await it.other(none);
    expect([it.work.running, it.leadership.mayWrite]).toEqual([true, true]);
    await it.other(runs);
    expect([it.work.running, it.leadership.mayWrite]).toEqual([false, false]);
    expect(it.server.get('lock')?.spec?.holderIdentity).toBe('');
    await it.other(none);
    expect([it.work.terms, it.leadership.mayWrite]).toEqual([2, true]);
    const lines = it.logger.lines.filter(({ fields }) => fields['lease'] === 'kube-system/kube-controller-manager');
    expect(lines.map(({ message, fields }) => [message.split(',')[0], fields['holder'] ?? fields['why']])).toEqual([
      ['not known whether another collector runs', 'waiting'],
      ['another collector runs', 'master-1'],
      ['no other collector runs', 'the lease is not renewed any more'],
      ['another collector runs', 'master-1'],
      ['no other collector runs', 'the lease is not renewed any more'],
    ]);
    it.stop.abort();
    await it.clock.advanceAsync(100);
    await it.done;
  });

  it('writes nothing from the moment it knows of another one, even while its work still ends', async () => {
    const it = rig('auto', { election: false });
    await it.other(none);
    expect(it.leadership.mayWrite).toBe(true);
    const told = it.other(runs);
    expect(it.leadership.mayWrite).toBe(false);
    await told;
    it.stop.abort();
    await it.done;
  });

  it('changes of mind in a row leave one term at most', async () => {
    const it = rig('auto');
    for (const verdict of [none, runs, none, unknown, none, runs, none]) void it.other(verdict);
    await it.clock.advanceAsync(10_000);
    expect([it.work.running, it.leadership.mayWrite]).toEqual([true, true]);
    it.stop.abort();
    await it.clock.advanceAsync(100);
    await it.done;
    expect(it.clock.pendingTimers).toBe(0);
  });
});
