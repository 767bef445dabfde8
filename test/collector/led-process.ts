import { untilAborted } from '../../src/base/time/abort.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { MemoryMetrics } from '../../src/base/metrics/memory-metrics.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { CollectorProbe } from '../../src/cli/collect/collector-probe.ts';
import { otherCollectorsLease } from '../../src/cli/collect/collect-settings.ts';
import { Leadership } from '../../src/cli/collect/leadership.ts';
import { OtherCollectorWatch } from '../../src/cli/collect/other-collector.ts';
import { ProbedCollectorWatch, type WatchLease } from '../../src/cli/collect/probed-collector-watch.ts';
import { writeGuard } from '../../src/cli/flags/write-guard.ts';
import { LeaderElector, LEASES } from '../../src/client/election/leader-elector.ts';
import { GarbageCollector } from '../../src/collector/garbage-collector.ts';
import type { TestKind } from './kinds.ts';
import type { MortalWire } from './mortal-wire.ts';
import type { Process } from './play.ts';
import type { Rig } from './rig.ts';

export const leases: TestKind = { gvr: LEASES, kind: 'Lease', namespaced: true, body: {} };
/** The lease that is competed for. */
export const COLLECTORS_LEASE = { namespace: 'kube-system', name: 'kubegc-collector' } as const;

export interface LedProcessOptions {
  readonly wire: MortalWire;
  /** No two of a play have the same. */
  readonly index: number;
  /** Namespace of the probe; undefined: the mode is `collect`, and nobody is asked. */
  readonly probe: string | undefined;
}

/** One process of `kubegc collect`, put together as the command does; all that it sends goes over one wire. */
export class LedProcess implements Process {
  /** Monotonic ms at which it began to lead for the first time. */
  ledSince: number | undefined;
  readonly logger = new MemoryLogger();
  readonly #rig: Rig;
  readonly #collector: GarbageCollector;
  readonly #leadership: Leadership;
  readonly #stop = new AbortController();
  readonly #watching = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(rig: Rig, { wire, index, probe }: LedProcessOptions) {
    this.#rig = rig;
    const { clock, recorder, streams } = rig;
    const { logger } = this;
    const metrics = new MemoryMetrics();
    const random = seededRandom(index + 1);
    const client = rig.clientWith('leader-election', wire.intercept);
    const common = { clock, random, logger, metrics };
    const elector = new LeaderElector({
      ...common,
      ...COLLECTORS_LEASE,
      client,
      identity: `process-${index}_${random.uuid()}`,
    });
    const guard = writeGuard(() => this.#leadership.mayWrite);
    const guarded = rig.clientWith('collector', recorder.intercept, guard, wire.intercept, streams.intercept);
    this.#collector = new GarbageCollector({
      identity: 'certain',
      ...common,
      client: guarded,
      workers: 'whenLeading',
      orphanRecords: 'events',
    });
    const watch =
      (lease: { readonly namespace: string; readonly name: string }): WatchLease =>
      (signal, onChange) =>
        new OtherCollectorWatch({ ...lease, client, clock, onChange }).run(signal);
    this.#leadership = new Leadership({
      mode: probe === undefined ? 'collect' : 'auto',
      elector,
      watchOther: (signal, onChange) => {
        if (probe === undefined) {
          onChange({ runs: 'no', why: 'asked' });
          return untilAborted(signal);
        }
        return new ProbedCollectorWatch({
          probe: new CollectorProbe({
            client: rig.clientWith('collector-probe', wire.intercept),
            clock,
            random,
            namespace: probe,
          }),
          watchOther: watch(otherCollectorsLease),
          watchPeers: watch(COLLECTORS_LEASE),
          clock,
          onChange,
        }).run(signal);
      },
      lead: (signal) => {
        this.ledSince ??= clock.monotonic();
        return this.#collector.lead(signal);
      },
      logger,
      metrics,
    });
  }

  get atRest(): boolean {
    return this.#leadership.mayWrite && this.#collector.atRest;
  }

  async start(): Promise<this> {
    const leading = this.#leadership.run(this.#stop.signal).finally(() => this.#watching.abort());
    this.#ended = Promise.all([this.#collector.run(this.#watching.signal), leading]);
    this.#ended.catch(() => undefined);
    await this.#rig.settle();
    return this;
  }

  /** Time has to pass meanwhile: a probe that cannot be taken away is tried again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  bury(): Promise<void> {
    this.#stop.abort();
    return Promise.resolve();
  }
}
