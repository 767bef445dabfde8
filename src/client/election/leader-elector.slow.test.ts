import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { MachineClock } from '../../base/time/machine-clock.fixture.ts';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../base/metrics/memory-metrics.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import { LeaseLostError, LeaderElector } from './leader-elector.ts';
import { LeaseServer, Wire } from './lease-server.fixture.ts';
import { RestClient } from '../rest/rest-client.ts';

/** A candidate whose work notes when it begins and stops. */
class Contestant {
  readonly wire = new Wire();
  readonly logger = new MemoryLogger();
  readonly metrics = new MemoryMetrics();
  readonly elector: LeaderElector;
  readonly stop = new AbortController();
  /** Why the work was stopped, for every term that ended. */
  readonly ends: unknown[] = [];
  terms = 0;
  working = false;
  /** How long the work takes to end after it was stopped, ms. */
  windDownMs = 0;
  done: Promise<void> = Promise.resolve();

  readonly clock: MachineClock;

  constructor(server: LeaseServer, time: FakeClock, identity: string) {
    const { logger, metrics } = this;
    const clock = new MachineClock(time);
    this.clock = clock;
    const client = new RestClient({
      transport: inProcessTransport(server.handler),
      clock,
      userAgent: 'test',
      interceptors: [this.wire.intercept],
    });
    const random = seededRandom(identity.length);
    this.elector = new LeaderElector({
      client,
      clock,
      random,
      logger,
      metrics,
      namespace: 'ns',
      name: 'lock',
      identity,
    });
  }

  start(): this {
    this.done = this.elector.run(this.stop.signal, async (leading) => {
      this.terms++;
      this.working = true;
      await new Promise<void>((settle) => leading.addEventListener('abort', () => settle(), { once: true }));
      this.ends.push(leading.reason);
      if (this.windDownMs > 0) await new Promise<void>((settle) => void this.clock.setTimer(this.windDownMs, settle));
      this.working = false;
    });
    return this;
  }
}

let clock: FakeClock;
let server: LeaseServer;
let a: Contestant;
let b: Contestant;

beforeEach(() => {
  clock = new FakeClock();
  server = new LeaseServer();
  a = new Contestant(server, clock, 'a');
  b = new Contestant(server, clock, 'bb');
});

afterEach(async () => {
  for (const each of [a, b]) {
    each.wire.state = 'up';
    each.stop.abort();
  }
  await clock.advanceAsync(60_000);
  await Promise.all([a.done, b.done]);
  expect(clock.pendingTimers).toBe(0);
});

/** Lets time pass in small steps; two candidates never work at the same time, and each that works holds the lease. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await clock.advanceAsync(Math.min(left, 100));
    expect(a.working && b.working, 'two work').toBe(false);
    for (const each of [a, b]) if (each.working && each.windDownMs === 0) expect(each.elector.leading).toBe(true);
  }
}

const holder = (): string | undefined => server.get('lock')?.spec?.holderIdentity;

describe('the only candidate', () => {
  it('COL-200 creates the lease, and renews it every two seconds with one request each', async () => {
    a.start();
    await pass(100);
    expect(a.working).toBe(true);
    expect(server.get('lock')).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'lock', namespace: 'ns' },
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    });
    await pass(9900);
    expect(server.requests).toEqual(['GET', 'POST', 'PUT', 'PUT', 'PUT', 'PUT', 'PUT']);
    expect(server.get('lock')?.spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:10.000000Z',
      leaseTransitions: 0,
    });
    expect(a.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(1);
  });

  it('releases the lease when stopped, but only after its work has ended', async () => {
    a.start();
    a.windDownMs = 3000;
    await pass(100);
    a.stop.abort();
    await pass(2900);
    expect(a.working).toBe(true);
    expect(holder()).toBe('a');
    await pass(200);
    await a.done;
    expect(server.get('lock')?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(a.elector.leading).toBe(false);
    expect(a.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(0);
  });

  it('ends, and releases the lease, when its work ends by itself; an error of the work is passed on', async () => {
    await a.elector.run(a.stop.signal, () => Promise.resolve());
    expect(holder()).toBe('');
    await expect(a.elector.run(a.stop.signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(holder()).toBe('');
  });

  it('reports trouble once, not at every attempt, and goes on', async () => {
    a.wire.state = 'cut';
    a.start();
    await pass(60_000);
    expect(a.logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    a.wire.state = 'up';
    await pass(5000);
    expect(a.working).toBe(true);
  });

  it('survives the deletion of its lease by somebody', async () => {
    a.start();
    await pass(100);
    server.leases.delete('lock');
    await pass(5000);
    expect(holder()).toBe('a');
    expect(a.terms).toBe(1);
  });

  it('goes on when somebody changes labels of the lease: a conflict is followed by another look', async () => {
    a.start();
    await pass(100);
    server.set('lock', { ...server.get('lock'), metadata: { labels: { who: 'admin' } } });
    await pass(30_000);
    expect(a.terms).toBe(1);
    expect(server.get('lock')?.metadata?.labels).toEqual({ who: 'admin' });
  });
});

describe('two candidates', () => {
  it('COL-214 one works, the other waits', async () => {
    a.start();
    b.start();
    await pass(120_000);
    expect([a.terms, b.terms].toSorted()).toEqual([0, 1]);
  });

  it('COL-214 the other takes over after the lease was released, well before it would have expired', async () => {
    a.start();
    await pass(100);
    b.start();
    await pass(10_000);
    a.stop.abort();
    await pass(4500);
    expect(b.working).toBe(true);
    expect(server.get('lock')?.spec).toMatchObject({ holderIdentity: 'bb', leaseTransitions: 1 });
  });

  it.each(['cut', 'answersLost'] as const)(
    'COL-214 a leader whose wire is %s stops ten seconds after the last renewal that succeeded, before the other starts',
    async (state) => {
      a.start();
      await pass(100);
      b.start();
      await pass(9900);
      a.wire.state = state;
      // The last renewal was sent at 10 s.
      await pass(9900);
      expect(a.working).toBe(true);
      await pass(200);
      expect(a.working).toBe(false);
      expect(a.ends).toEqual([expect.any(LeaseLostError)]);
      expect(a.elector.leading).toBe(false);
      a.stop.abort();
      await pass(20_000);
      expect(b.working).toBe(true);
      expect(holder()).toBe('bb');
    },
  );

  it('COL-214 a renewal counts from when it was sent, however long its answer takes', async () => {
    a.start();
    await pass(100);
    b.start();
    await pass(1800);
    let arrive = (): void => undefined;
    a.wire.answersHeld = new Promise((settle) => (arrive = settle));
    // The first renewal is sent at 2 s, and its answer comes at 6 s; the next one gets no answer.
    await pass(4100);
    arrive();
    await pass(100);
    a.wire.state = 'cut';
    await pass(5800);
    expect(a.working).toBe(true);
    await pass(300);
    expect(a.working).toBe(false);
    await pass(20_000);
    expect(b.working).toBe(true);
  });

  it('COL-214 a leader whose lease was another one’s in between begins anew, although it gets it back', async () => {
    a.start();
    await pass(1000);
    server.set('lock', { ...server.get('lock'), spec: { holderIdentity: '', leaseDurationSeconds: 1 } });
    await pass(20_000);
    expect(a.terms).toBe(2);
    expect(a.ends).toEqual([expect.any(LeaseLostError)]);
    expect(a.working).toBe(true);
    expect(holder()).toBe('a');
  });

  it('COL-214 a leader that comes back in time goes on, and the other never starts', async () => {
    a.start();
    await pass(100);
    b.start();
    await pass(9900);
    a.wire.state = 'cut';
    await pass(7000);
    a.wire.state = 'up';
    await pass(60_000);
    expect(a.terms).toBe(1);
    expect(b.terms).toBe(0);
  });

  it('stops at once when it sees that another one holds the lease', async () => {
    a.start();
    await pass(100);
    server.set('lock', { ...server.get('lock'), spec: { holderIdentity: 'c', leaseDurationSeconds: 15 } });
    await pass(2000);
    expect(a.working).toBe(false);
    expect(a.ends).toEqual([expect.any(LeaseLostError)]);
  });

  it('a stalled process may not act although no timer fired, and does not go on with what it began', async () => {
    a.start();
    await pass(100);
    b.start();
    await pass(3900);
    a.clock.stall();
    for (let left = 40_000; left > 0; left -= 100) {
      await clock.advanceAsync(100);
      expect(a.elector.leading && b.working, 'two may act').toBe(false);
    }
    expect(a.working).toBe(true);
    expect(b.working).toBe(true);
    a.clock.resume();
    await pass(30_000);
    expect(a.ends).toEqual([expect.any(LeaseLostError)]);
    expect([a.terms, b.terms]).toEqual([1, 1]);
  });

  it('a renewal whose answer was lost is recognised as ours', async () => {
    a.start();
    await pass(100);
    a.wire.state = 'answersLost';
    await pass(4000);
    a.wire.state = 'up';
    await pass(20_000);
    expect(a.terms).toBe(1);
  });

  it('a stop in the middle of a renewal that arrived all the same still releases the lease', async () => {
    a.start();
    await pass(100);
    a.wire.state = 'answersLost';
    await pass(2000);
    a.wire.state = 'up';
    a.stop.abort();
    await pass(100);
    expect(holder()).toBe('');
  });

  it('does not believe the clocks of others: a lease from the future expires, one from the past is respected', async () => {
    for (const renewTime of ['2036-01-01T00:00:00.000000Z', '2006-01-01T00:00:00.000000Z']) {
      const fresh = new Contestant(server, clock, `of ${renewTime}`);
      server.set('lock', { spec: { holderIdentity: 'c', leaseDurationSeconds: 15, renewTime } });
      fresh.start();
      await pass(14_900);
      expect(fresh.working).toBe(false);
      await pass(5000);
      expect(fresh.working).toBe(true);
      fresh.stop.abort();
      await pass(1000);
      await fresh.done;
    }
  });
});
