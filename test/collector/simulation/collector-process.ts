import type { Clock, Timer } from '../../../src/base/time/clock.ts';
import type { Logger } from '../../../src/base/logs/logger.ts';
import { noMetrics } from '../../../src/base/metrics/metrics.ts';
import type { Random } from '../../../src/base/random/random.ts';
import { LeaseLostError } from '../../../src/client/election/leader-elector.ts';
import { RestClient } from '../../../src/client/rest/rest-client.ts';
import type { Transport } from '../../../src/client/http/transport.ts';
import { GarbageCollector } from '../../../src/collector/garbage-collector.ts';
import { ClusterIdentity, ForeignClusterError } from '../../../src/collector/trust/cluster-identity.ts';
import type { Decision } from '../../../src/collector/workers/decision.ts';
import type { Network } from './network.ts';
import type { CollectorPlan } from './plan.ts';

export interface CollectorProcessOptions {
  readonly plan: CollectorPlan;
  readonly network: Network;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly onDecision: (decision: Decision) => void;
  /** It may be led to another cluster, and asks. */
  readonly asksWho?: boolean;
}

/** So short that histories come to rest soon. */
const RETRY_CAP_MS = 2000;

/** One process of the collector, from its start until it stops. */
export class CollectorProcess {
  readonly collector: GarbageCollector;
  readonly network: Network;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #clock: Clock;
  readonly #identity: ClusterIdentity | undefined;
  #loss: Timer | undefined;
  #term: { readonly end: AbortController; readonly done: Promise<void> } | undefined;

  constructor({
    plan,
    network,
    transport,
    clock,
    random,
    logger,
    onDecision,
    asksWho = false,
  }: CollectorProcessOptions) {
    this.network = network;
    this.#identity = asksWho ? new ClusterIdentity({ clock, logger }) : undefined;
    this.#clock = clock;
    this.collector = new GarbageCollector({
      identity: this.#identity ?? 'certain',
      client: new RestClient({
        transport,
        clock,
        userAgent: 'collector',
        interceptors: [network.intercept],
        defaultTimeoutMs: 30_000,
      }),
      clock,
      random,
      logger,
      metrics: noMetrics,
      concurrentGcSyncs: plan.workers,
      retryCapMs: RETRY_CAP_MS,
      orphanBarrier: plan.barrier ?? 'on',
      orphanRecords: plan.records ?? 'memory',
      ...(plan.absences === undefined ? {} : { absentOwners: plan.absences }),
      ...(plan.calls === undefined ? {} : { fewCalls: plan.calls }),
      workers: plan.role === 'standby' ? 'whenLeading' : 'always',
      onDecision,
    });
    this.#done = this.collector.run(this.#stopping.signal).catch((error: unknown) => {
      if (!(error instanceof ForeignClusterError)) throw error;
      this.#term?.end.abort();
    });
  }

  /** It met another cluster, and ends. */
  get metOther(): boolean {
    return this.#identity?.foreign.aborted === true;
  }

  /** And nobody has taken the lease since. */
  get leads(): boolean {
    return this.#term !== undefined && this.#loss === undefined;
  }

  lead(): void {
    this.#loss?.cancel();
    this.#loss = undefined;
    if (this.#term !== undefined) return;
    const end = new AbortController();
    this.#term = { end, done: this.collector.lead(end.signal) };
  }

  /** Another one has the lease, which this one learns so much later. */
  loseLease(laterMs: number): void {
    if (this.#term === undefined) return;
    this.#loss?.cancel();
    this.#loss = this.#clock.setTimer(laterMs, () => {
      this.#loss = undefined;
      this.#term?.end.abort(new LeaseLostError('another one has it'));
      this.#term = undefined;
    });
  }

  /** Resolves when it has ended; needs the clock to be attended to. */
  async stop(): Promise<void> {
    this.#term?.end.abort();
    await this.#term?.done;
    this.#stopping.abort();
    await this.#done;
  }

  /** Nothing of it reaches the server from now on, nor anything it. */
  crash(): void {
    this.network.fail('dead');
    this.#term?.end.abort(new LeaseLostError('another one has it'));
    this.#stopping.abort();
    // A dead process is not awaited any more.
    this.#done.catch(() => {});
  }
}
