import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { newForbidden } from '../../api/status-error.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { LeaseServer, Wire } from '../../client/election/lease-server.fixture.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import { type OtherCollector, OtherCollectorWatch } from './other-collector.ts';

let clock: FakeClock;
let server: LeaseServer;
let wire: Wire;
let verdicts: OtherCollector[];
let stop: AbortController;
let done: Promise<void>;
let forbidden: boolean;

beforeEach(() => {
  clock = new FakeClock();
  server = new LeaseServer();
  wire = new Wire();
  verdicts = [];
  stop = new AbortController();
  forbidden = false;
});

afterEach(async () => {
  stop.abort();
  await clock.settle();
  await done;
  expect(clock.pendingTimers).toBe(0);
  expect(new Set(server.requests)).toEqual(new Set(server.requests.length > 0 ? ['GET'] : []));
});

function start(): void {
  const client = new RestClient({
    transport: inProcessTransport((request) => {
      if (!forbidden) return server.handler(request);
      const { status, code } = newForbidden({ group: 'coordination.k8s.io', resource: 'leases' }, 'kcm', 'no');
      return Promise.resolve({ status: code, headers: {}, body: Buffer.from(JSON.stringify(status)) });
    }),
    clock,
    userAgent: 'test',
    interceptors: [wire.intercept],
  });
  const onChange = (verdict: OtherCollector): void => void verdicts.push(verdict);
  done = new OtherCollectorWatch({ client, clock, namespace: 'kube-system', name: 'kcm', onChange }).run(stop.signal);
}

let renewals = 0;
const renew = (holderIdentity = 'master-1', leaseDurationSeconds = 15): void =>
  server.set('kcm', { spec: { holderIdentity, leaseDurationSeconds, renewTime: `${++renewals}` } });
const pass = (ms: number): Promise<void> => clock.advanceAsync(ms);
const told = (): string[] => verdicts.map(({ runs, why }) => `${runs}: ${why}`);

describe('COL-204 whether another collector runs', () => {
  it('not known when there is no lease, because a collector without leader election has none; yes as soon as one appears', async () => {
    start();
    await pass(60_000);
    expect(told()).toEqual(['unknown: noLease']);
    renew();
    await pass(2000);
    expect(verdicts.at(-1)).toEqual({ runs: 'yes', why: 'renewed', holder: 'master-1' });
  });

  it('not known at the first look, whatever the times in the lease say; yes at the first renewal', async () => {
    server.set('kcm', { spec: { holderIdentity: 'm', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00Z' } });
    start();
    await pass(10_000);
    expect(told()).toEqual(['unknown: firstLook']);
    renew();
    await pass(2000);
    for (let index = 0; index < 100; index++) {
      renew();
      await pass(2000);
    }
    expect(told()).toEqual(['unknown: firstLook', 'yes: renewed']);
  });

  it('no, when a lease was left behind: not seen to be renewed for two of its durations', async () => {
    renew('gone', 60);
    start();
    await pass(119_000);
    expect(told()).toEqual(['unknown: firstLook']);
    await pass(3000);
    expect(told()).toEqual(['unknown: firstLook', 'no: notRenewed']);
  });

  it('a change of hands, also over a lease that was released, is no pause', async () => {
    renew();
    start();
    await pass(100);
    renew();
    await pass(2000);
    renew('', 1);
    await pass(20_000);
    renew('master-2');
    await pass(2000);
    expect(told().filter((word) => word.startsWith('no'))).toEqual([]);
    expect(verdicts.at(-1)).toMatchObject({ runs: 'yes', holder: 'master-2' });
  });

  it('a server that is away changes nothing, and the silence counts from when it is back', async () => {
    renew();
    start();
    await pass(100);
    renew();
    await pass(2000);
    wire.state = 'cut';
    await pass(10 * 60_000);
    wire.state = 'up';
    await pass(29_000);
    expect(told()).toEqual(['unknown: firstLook', 'yes: renewed']);
    await pass(3000);
    expect(told().at(-1)).toBe('no: notRenewed');
  });

  it('not known, when the server never answered or forbids to look', async () => {
    wire.state = 'cut';
    start();
    await pass(100_000);
    expect(told()).toEqual(['unknown: unreadable']);
    wire.state = 'up';
    forbidden = true;
    await pass(100_000);
    expect(told()).toEqual(['unknown: unreadable', 'unknown: forbidden']);
  });
});
