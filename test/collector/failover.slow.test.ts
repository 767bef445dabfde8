import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { MachineClock, type MachineClockOptions } from '../../src/base/time/machine-clock.fixture.ts';
import type { HttpRequest, HttpResponse } from '../../src/base/http-message.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { Leadership } from '../../src/cli/collect/leadership.ts';
import { writeGuard } from '../../src/cli/flags/write-guard.ts';
import { inProcessTransport } from '../../src/client/http/in-process-transport.ts';
import type { Interceptor } from '../../src/client/rest/interceptor.ts';
import { defaultLeaseTimes } from '../../src/client/election/leader-election.ts';
import { LeaderElector, LEASES } from '../../src/client/election/leader-elector.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { TransportError } from '../../src/client/http/transport.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import { configMap, refTo, secret, type TestKind, usualKinds } from './kinds.ts';
import { isIntake } from './recorder.ts';
import { type Policy, Rig } from './rig.ts';
import { Streams } from './streams.ts';

/**
 * Two instances of `kubegc collect`, put together as the command does, over one server: each with a wire and a clock of its own. Two rules
 * must hold whatever happens: the two never may write at the same time, and one finishes the work that the other left half done.
 */
const lease: TestKind = { gvr: LEASES, kind: 'Lease', namespaced: true, body: {} };
const { renewDeadlineMs, leaseDurationMs, retryPeriodMs } = defaultLeaseTimes;
/** From a loss of the leader to the end of the wait of the other one, which looks every few seconds. */
const TAKEOVER_MS = leaseDurationMs + 3 * retryPeriodMs;

type WireState = 'up' | 'cut' | 'answersLost';

interface Sent {
  readonly at: number;
  readonly method: string;
  readonly path: string;
}

/** One process. */
class Instance {
  readonly clock: MachineClock;
  readonly logger = new MemoryLogger();
  readonly metrics = new MemoryMetrics();
  readonly elector: LeaderElector;
  readonly leadership: Leadership;
  readonly collector: GarbageCollector;
  /** Requests of the collector that left the process. */
  readonly sent: Sent[] = [];
  readonly #streams = new Streams();
  readonly #stop = new AbortController();
  readonly #rig: Rig;
  #wire: WireState = 'up';
  /** Delays a request before it reaches the server. */
  hold: ((request: HttpRequest) => Promise<void>) | undefined;
  /** The same for an answer. */
  holdAnswer: ((request: HttpRequest) => Promise<void>) | undefined;
  #done: Promise<unknown> = Promise.resolve();

  constructor(rig: Rig, name: string, options: MachineClockOptions = {}) {
    this.#rig = rig;
    this.clock = new MachineClock(rig.clock, options);
    const { clock, logger, metrics } = this;
    const random = seededRandom(name.length);
    const transport = inProcessTransport(rig.server.handler);
    const common = { transport, clock, userAgent: name, defaultTimeoutMs: 30_000 };
    const client = new RestClient({ ...common, interceptors: [this.#through] });
    this.elector = new LeaderElector({
      client,
      clock,
      random,
      logger,
      metrics,
      namespace: 'default',
      name: 'lock',
      identity: name,
    });
    const guard = writeGuard(() => this.leadership.mayWrite);
    this.collector = new GarbageCollector({
      identity: 'certain',
      client: new RestClient({ ...common, interceptors: [guard, this.#note, this.#through, this.#streams.intercept] }),
      clock,
      random,
      logger,
      metrics,
      workers: 'whenLeading',
    });
    this.leadership = new Leadership({
      mode: 'collect',
      elector: this.elector,
      watchOther: (_, onChange) => {
        onChange({ runs: 'no', why: 'asked' });
        return Promise.resolve();
      },
      lead: (signal) => this.collector.lead(signal),
      logger,
      metrics,
    });
  }

  get wire(): WireState {
    return this.#wire;
  }

  /** Cutting it breaks what is open. */
  set wire(state: WireState) {
    this.#wire = state;
    if (state !== 'up') this.#streams.cut(/./);
  }

  get writes(): Sent[] {
    return this.sent.filter(({ method, path }) => method !== 'GET' && !path.includes('/events'));
  }

  get lists(): number {
    return this.sent.filter(isIntake).length;
  }

  /** Runs, and is ready to lead. */
  async start(): Promise<this> {
    this.#done = Promise.all([this.collector.run(this.#stop.signal), this.leadership.run(this.#stop.signal)]);
    for (let left = 1000; left > 0 && !this.collector.started; left--) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await this.#rig.advance(10);
    }
    return this;
  }

  async stop(): Promise<void> {
    this.clock.resume();
    this.#wire = 'up';
    this.#stop.abort();
    await this.#rig.advance(20_000);
    await this.#rig.wait(this.#done);
  }

  readonly #note: Interceptor = (request, next) => {
    this.sent.push({
      at: this.#rig.clock.monotonic(),
      method: request.method,
      path: request.target.split('?')[0] ?? '',
    });
    return next(request);
  };

  readonly #through: Interceptor = async (request, next): Promise<HttpResponse> => {
    if (this.#wire === 'cut') throw new TransportError('refused', 'no way there');
    await this.hold?.(request);
    // A request that is on its way arrives, whether or not its sender still wants it to.
    const { signal, ...onItsWay } = request;
    const response = await next(this.hold === undefined && signal ? request : onItsWay);
    await this.holdAnswer?.(request);
    if (this.#wire === 'answersLost') throw new TransportError('reset', 'no way back');
    return response;
  };
}

let rig: Rig;
let instances: Instance[];

beforeEach(async () => {
  instances = [];
  rig = await Rig.start({ serve: [...usualKinds, lease] });
});
afterEach(async () => {
  for (const each of instances) await each.stop();
  await rig.stop();
});

/** The first of them leads. */
async function run(...options: readonly MachineClockOptions[]): Promise<[Instance, Instance]> {
  for (const [index, each] of options.entries()) {
    const instance = new Instance(rig, index === 0 ? 'first' : 'second-one', each);
    instances.push(instance);
    await instance.start();
    await rig.advance(100);
  }
  const [first, second] = instances;
  expect(first?.leadership.mayWrite).toBe(true);
  expect(second?.leadership.mayWrite).toBe(false);
  return [first!, second!];
}

/** Lets time pass in small steps; never may both write. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await rig.advance(Math.min(100, left));
    expect(instances.filter(({ leadership }) => leadership.mayWrite).length, 'that may write').toBeLessThan(2);
  }
}

/** Until the instance may write; answers after how long. */
async function untilActing(instance: Instance, withinMs = TAKEOVER_MS): Promise<number> {
  const from = rig.clock.monotonic();
  while (!instance.leadership.mayWrite) {
    expect(rig.clock.monotonic() - from).toBeLessThan(withinMs);
    await pass(100);
  }
  return rig.clock.monotonic() - from;
}

async function family(size: number): Promise<KubeObject> {
  const owner = await rig.create(configMap, 'owner');
  for (let i = 0; i < size; i++) await rig.create(secret, `d${i}`, { owners: [refTo(owner, { block: true })] });
  return owner;
}

/** A promise that the test resolves by a call. */
function latch(): { readonly opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** By somebody who never renews it. */
const takeLease = (): Promise<unknown> =>
  rig.wait(
    rig.client.patch(rig.at(lease, 'lock'), {
      type: 'application/merge-patch+json',
      body: { spec: { holderIdentity: 'somebody', leaseDurationSeconds: 5 } },
    }),
  );

describe('the lease is lost in the middle of a write', () => {
  interface Meanwhile {
    readonly what: string;
    readonly happens: (owner: KubeObject) => Promise<void>;
    /** Whether there is a dependent of this name in the end. */
    readonly stays: boolean;
  }
  const cases: readonly Meanwhile[] = [
    { what: 'nothing else happens', happens: async () => {}, stays: false },
    {
      what: 'the dependent gets a living owner',
      happens: async () => {
        const living = await rig.create(configMap, 'living');
        await rig.patch(secret, 'd0', { ownerReferences: [refTo(living)] });
      },
      stays: true,
    },
    {
      what: 'the dependent is replaced by an object of the same name',
      happens: async () => {
        await rig.delete(secret, 'd0');
        await rig.create(secret, 'd0');
      },
      stays: true,
    },
    {
      what: 'the dependent is let go',
      happens: async () => void (await rig.patch(secret, 'd0', { ownerReferences: null })),
      stays: true,
    },
  ];

  it.each(cases)(
    'COL-214 COL-150 and it arrives late, after the next leader has begun: $what',
    async ({ happens, stays }) => {
      const [first, second] = await run({}, {});
      const owner = await family(2);
      const reached = latch();
      const released = latch();
      first.hold = async ({ method, target }) => {
        if (method !== 'DELETE' || !target.includes('/d0')) return;
        reached.open();
        // The network keeps it, whatever its sender does.
        await released.opened;
      };
      await rig.delete(configMap, 'owner');
      await rig.wait(reached.opened);
      await takeLease();
      await pass(retryPeriodMs + 100);
      expect(first.leadership.mayWrite).toBe(false);
      const writes = first.writes.length;
      await happens(owner);
      await untilActing(second);
      released.open();
      await pass(30_000);
      expect(first.writes.length, 'writes of the one that lost').toBe(writes);
      expect(await rig.names(secret)).toEqual(stays ? ['d0'] : []);
    },
  );

  /** The write is held on its way until the next leader has done all that is to be done. */
  async function late(
    policy: Policy,
    isHeld: (path: string) => boolean,
    meanwhile: (owner: KubeObject) => Promise<void>,
  ) {
    const [first, second] = await run({}, {});
    const owner = await family(2);
    const reached = latch();
    const released = latch();
    first.hold = async ({ method, target }) => {
      if (method !== 'PATCH' || !isHeld(target.split('?')[0] ?? '')) return;
      reached.open();
      await released.opened;
    };
    await rig.delete(configMap, 'owner', policy);
    await rig.wait(reached.opened);
    await takeLease();
    await pass(retryPeriodMs + 100);
    await untilActing(second);
    await pass(5000);
    expect(await rig.names(configMap)).toEqual([]);
    await meanwhile(owner);
    const writes = first.writes.length;
    released.open();
    await pass(30_000);
    expect(first.writes.length, 'writes of the one that lost').toBe(writes);
  }

  it.each([
    { what: 'nothing else happens', happens: async () => {}, owners: [] },
    {
      what: 'the dependent gets a living owner',
      happens: async () => {
        const living = await rig.create(configMap, 'living');
        await rig.patch(secret, 'd0', { ownerReferences: [refTo(living)] });
      },
      owners: ['living'],
    },
    {
      what: 'the dependent is replaced, by one of an owner of the same name',
      happens: async () => {
        await rig.delete(secret, 'd0');
        await rig.create(secret, 'd0', { owners: [refTo(await rig.create(configMap, 'owner'))] });
      },
      owners: ['owner'],
    },
  ])(
    'COL-214 COL-160 a release that arrives after all is done changes nothing more: $what',
    async ({ happens, owners }) => {
      await late('Orphan', (path) => path.endsWith('/secrets/d0'), happens);
      expect(await rig.names(secret)).toEqual(['d0', 'd1']);
      expect(await rig.owners(secret, 'd0')).toEqual(owners);
    },
  );

  it.each<{ policy: Policy; finalizer: string }>([
    { policy: 'Foreground', finalizer: 'foregroundDeletion' },
    { policy: 'Orphan', finalizer: 'orphan' },
  ])(
    'COL-214 COL-165 the removal of a finalizer ($finalizer) that arrives late leaves alone who has the name then',
    async ({ policy, finalizer }) => {
      await late(
        policy,
        (path) => path.endsWith('/configmaps/owner'),
        async () => void (await rig.create(configMap, 'owner', { finalizers: [finalizer] })),
      );
      expect((await rig.get(configMap, 'owner'))?.metadata?.finalizers).toEqual([finalizer]);
    },
  );

  it('COL-214 the call under way is abandoned at once: nobody waits for its answer', async () => {
    const [first] = await run({}, {});
    await family(1);
    const reached = latch();
    first.hold = ({ method, signal }) => {
      if (method !== 'DELETE') return Promise.resolve();
      reached.open();
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('given up'))));
    };
    await rig.delete(configMap, 'owner');
    await rig.wait(reached.opened);
    await takeLease();
    await pass(retryPeriodMs + 100);
    expect(first.logger.lines.map(({ message }) => message)).toContain('lost the lease and stopped acting');
    expect(first.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(0);
    expect(await rig.names(secret)).toEqual(['d0']);
  });
});

describe('a leader that is cut off from the server', () => {
  it.each<WireState>(['cut', 'answersLost'])(
    'COL-214 BETTER-23 (%s) stops at its deadline, and the other finishes, with nothing listed anew',
    async (state) => {
      const [first, second] = await run({}, {});
      await family(6);
      await pass(3000);
      const cutAt = rig.clock.monotonic();
      first.wire = state;
      await rig.delete(configMap, 'owner', 'Foreground');
      await pass(renewDeadlineMs + 100);
      expect(first.leadership.mayWrite).toBe(false);
      const lists = second.lists;
      await untilActing(second);
      await pass(999);
      expect(await rig.names(configMap)).toEqual([]);
      expect(await rig.names(secret)).toEqual([]);
      expect(second.lists).toBe(lists);
      await pass(60_000);
      for (const { at } of first.writes) expect(at).toBeLessThanOrEqual(cutAt + renewDeadlineMs);

      // It comes back as the one that waits, sees what it missed, and takes over in its turn.
      first.wire = 'up';
      await pass(60_000);
      expect(first.leadership.mayWrite).toBe(false);
      await family(2);
      await second.stop();
      instances.splice(instances.indexOf(second), 1);
      await rig.delete(configMap, 'owner');
      await untilActing(first);
      await pass(999);
      expect(await rig.names(secret)).toEqual([]);
    },
  );

  it('COL-214 for less than its deadline goes on leading, and does what it missed', async () => {
    const [first, second] = await run({}, {});
    await family(3);
    await pass(3000);
    first.wire = 'cut';
    await rig.delete(configMap, 'owner');
    await pass(6000);
    first.wire = 'up';
    await pass(60_000);
    expect(first.leadership.mayWrite).toBe(true);
    expect(second.writes).toEqual([]);
    expect(await rig.names(secret)).toEqual([]);
  });
});

describe('clocks that do not agree', () => {
  const year = 365 * 24 * 3600 * 1000;
  it.each<[string, MachineClockOptions, MachineClockOptions]>([
    ['the leader lives ten years ahead', { aheadMs: 10 * year }, {}],
    ['the leader lives ten years behind', { aheadMs: -10 * year }, {}],
    ['the leader is slow by a quarter', { rate: 0.75 }, {}],
    ['the one that waits is fast by a third', {}, { rate: 1.33 }],
    ['the leader is fast, the other slow', { rate: 1.2 }, { rate: 0.8 }],
  ])('COL-214 %s: one leads all the time, and the other follows when it is cut off', async (_, one, other) => {
    const [first, second] = await run(one, other);
    await family(3);
    await pass(120_000);
    expect(first.leadership.mayWrite).toBe(true);
    first.wire = 'cut';
    await rig.delete(configMap, 'owner');
    await untilActing(second, 2 * TAKEOVER_MS);
    await pass(1500);
    expect(await rig.names(secret)).toEqual([]);
  });
});

it('COL-214 a process that stood still and does not know what time it is writes nothing more', async () => {
  const [first, second] = await run({}, {});
  const owner = await family(1);
  const answered = latch();
  const asked = latch();
  // The first delete meets a conflict, so that the object is read, and only then deleted.
  first.hold = async ({ method }) => {
    if (method === 'DELETE') await rig.client.patch(rig.at(secret, 'd0'), touch);
  };
  first.holdAnswer = async ({ method, target }) => {
    if (method !== 'GET' || !target.includes('/secrets/d0')) return;
    asked.open();
    await answered.opened;
  };
  await rig.delete(configMap, 'owner');
  await rig.wait(asked.opened);
  const writes = first.writes.length;
  expect(writes).toBe(1);
  first.clock.stall();
  await untilActing(second);
  await rig.create(configMap, 'another', { owners: [refTo(owner)] });
  // It wakes: the answer that was on its way arrives before any timer shows how late it is.
  answered.open();
  await rig.settle();
  expect(first.writes.length).toBe(writes);
  first.clock.resume();
  await pass(30_000);
  expect(first.writes.length).toBe(writes);
  expect(await rig.names(secret)).toEqual([]);
});

const touch = { type: 'application/merge-patch+json', body: { metadata: { labels: { touched: 'yes' } } } } as const;
