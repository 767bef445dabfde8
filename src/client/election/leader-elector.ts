import { isAlreadyExists, isConflict, isObjectNotFound } from '../../api/status-error.ts';
import { type LinkedSignal, linkSignals } from '../../base/time/abort.ts';
import { type Clock, sleepUnlessAborted, type Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { type Gauge, type Metrics, noMetrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import {
  ACQUIRE_JITTER,
  decideLease,
  defaultLeaseTimes,
  type Lease,
  type LeaseDecision,
  type LeaseSpec,
  type LeaseTimes,
  type Moment,
  observeLease,
  type ObservedLease,
  releasedLease,
} from './leader-election.ts';
import type { RestClient } from '../rest/rest-client.ts';

export interface LeaderElectorOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly namespace: string;
  readonly name: string;
  /** `<hostname>_<uuid>`, unique to each candidate. */
  readonly identity: string;
  readonly times?: LeaseTimes;
}

type Attempt =
  | {
      readonly attempt: 'held';
      readonly sentAt: number;
      readonly reason: Exclude<LeaseDecision['reason'], 'heldByAnother'>;
    }
  | { readonly attempt: 'heldByAnother' | 'failed' };

export const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

/** The abort reason of the work's signal when leadership ends first. */
export class LeaseLostError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LeaseLostError';
  }
}

/**
 * Competes for a Lease and works while it holds it. At most one candidate works at any time, as long as no clock runs 1.5 times as
 * fast as another: it stops `renewDeadline` after it sent the last renewal that succeeded, and the others wait
 * `leaseDuration` after they saw it. States and transitions: SPEC.md, "Leader election".
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #times: LeaseTimes;
  readonly #status: Gauge;
  #observed: ObservedLease | undefined;
  /** Monotonic time in ms until which this process may act. */
  #actUntil = Number.NEGATIVE_INFINITY;
  #toldHolder = '';
  #toldTrouble = '';

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#times = options.times ?? defaultLeaseTimes;
    this.#status = (options.metrics ?? noMetrics).gauge({
      name: 'leader_election_master_status',
      help: "Whether this process leads: 0 indicates backup, 1 indicates master. 'name' is the name of the lease.",
      labelNames: ['name'],
    });
    this.#status.set(0, { name: options.name });
  }

  /**
   * True while the lease is certainly held. It must be checked directly before each write, because timers of a stalled process are late.
   */
  get leading(): boolean {
    return this.#options.clock.monotonic() < this.#actUntil;
  }

  /** The last known holder of the lease; empty for none. */
  get holder(): string {
    return this.#observed?.lease.spec?.holderIdentity ?? '';
  }

  /**
   * Acquires the lease, runs `work`, and repeats that after each loss until `signal` is aborted or `work` ends by itself. The work's signal
   * is aborted with `signal` or when the lease is lost; the work must then stop at once. Releases the lease at the end.
   */
  async run(signal: AbortSignal, work: (leading: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const sentAt = await this.#acquire(signal);
      if (sentAt === undefined) return;
      if ((await this.#lead(sentAt, signal, work)) === 'ended') return;
    }
  }

  /** The time at which the successful request was sent; undefined if aborted before. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    const { clock, random } = this.#options;
    const { retryPeriodMs } = this.#times;
    while (!signal.aborted) {
      const attempt = await this.#attempt(signal);
      if (attempt.attempt === 'held') return attempt.sentAt;
      await sleepUnlessAborted(clock, retryPeriodMs * (1 + random.float() * ACQUIRE_JITTER), signal);
    }
    return undefined;
  }

  async #lead(
    sentAt: number,
    signal: AbortSignal,
    work: (leading: AbortSignal) => Promise<void>,
  ): Promise<'lost' | 'ended'> {
    const { logger, name, namespace, identity } = this.#options;
    using own = linkSignals(signal);
    let deadline: Timer | undefined;
    const lose = (why: string): void => {
      this.#actUntil = Number.NEGATIVE_INFINITY;
      logger.warn('lost the lease and stopped acting', { lease: `${namespace}/${name}`, why });
      own.abort(new LeaseLostError(why));
    };
    const extend = (from: number): void => {
      this.#actUntil = from + this.#times.renewDeadlineMs;
      deadline?.cancel();
      const left = this.#actUntil - this.#options.clock.monotonic();
      deadline = this.#options.clock.setTimer(left, () => lose('it could not be renewed in time'));
    };
    extend(sentAt);
    logger.info('acquired the lease', { lease: `${namespace}/${name}`, identity });
    this.#status.set(1, { name });
    const renewing = this.#renew(own, extend, lose);
    try {
      await work(own.signal);
    } finally {
      deadline?.cancel();
      own.abort();
      await renewing;
      const lost = own.signal.reason instanceof LeaseLostError;
      this.#actUntil = Number.NEGATIVE_INFINITY;
      this.#status.set(0, { name });
      // Another candidate may start only now, because nothing acts any more.
      if (!lost) await this.#release();
    }
    return own.signal.reason instanceof LeaseLostError ? 'lost' : 'ended';
  }

  async #renew(own: LinkedSignal, extend: (from: number) => void, lose: (why: string) => void): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await sleepUnlessAborted(clock, this.#times.retryPeriodMs, own.signal);
      if (own.signal.aborted) return;
      const attempt = await this.#attempt(own.signal);
      if (own.signal.aborted) return;
      if (attempt.attempt === 'heldByAnother') return lose(`${this.holder} holds it`);
      if (attempt.attempt !== 'held') continue;
      // A decision that is older than the leadership of another process must not be carried out.
      if (attempt.reason === 'expired' || attempt.reason === 'released') return lose('another one held it in between');
      extend(attempt.sentAt);
    }
  }

  /** One attempt to acquire or renew the lease. A leader first assumes that the lease is unchanged, which saves a read. */
  async #attempt(signal: AbortSignal): Promise<Attempt> {
    try {
      if (this.leading && this.#observed !== undefined) {
        const renewed = await this.#write(signal).catch((error: unknown) => {
          if (isConflict(error) || isObjectNotFound(error, this.#options.name)) return undefined;
          throw error;
        });
        if (renewed !== undefined) return renewed;
      }
      await this.#read(signal);
      return await this.#write(signal);
    } catch (error) {
      if (!signal.aborted) this.#tellTrouble(error);
      return { attempt: 'failed' };
    }
  }

  /** Carries out `decideLease` for the last known lease. */
  async #write(signal: AbortSignal): Promise<Attempt> {
    const { clock, identity } = this.#options;
    const decision = decideLease(
      this.#observed,
      { identity, leaseDurationSeconds: this.#times.leaseDurationMs / 1000 },
      this.#now(),
    );
    if (decision.decision === 'wait') {
      this.#tellHolder(decision.holder);
      return { attempt: 'heldByAnother' };
    }
    const sentAt = clock.monotonic();
    const lease = await this.#put(decision.spec, signal);
    this.#observed = observeLease(this.#observed, lease, clock.monotonic());
    this.#toldHolder = identity;
    this.#toldTrouble = '';
    return { attempt: 'held', sentAt, reason: decision.reason };
  }

  async #read(signal?: AbortSignal): Promise<void> {
    const { client, namespace, name, clock } = this.#options;
    const call = { timeoutMs: this.#timeoutMs, ...(signal === undefined ? {} : { signal }) };
    const lease = await client.get<Lease>({ gvr: LEASES, namespace, name }, call).catch((error: unknown) => {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    });
    this.#observed = observeLease(this.#observed, lease, clock.monotonic());
  }

  /** Creates the lease, or replaces the version that was observed. */
  #put(spec: LeaseSpec, signal?: AbortSignal): Promise<Lease> {
    const { client, namespace, name } = this.#options;
    const call = { timeoutMs: this.#timeoutMs, ...(signal === undefined ? {} : { signal }) };
    const observed = this.#observed?.lease;
    if (observed !== undefined) return client.update({ gvr: LEASES, namespace, name }, { ...observed, spec }, call);
    const metadata = { name, namespace };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    return client.create({ gvr: LEASES, namespace }, lease, call);
  }

  /** If this fails, the next candidate waits until the lease expires. At most three requests. */
  async #release(): Promise<void> {
    const { identity, logger, namespace, name } = this.#options;
    const release = async (): Promise<void> => {
      if (this.#observed === undefined || this.holder !== identity) return;
      await this.#put(releasedLease(this.#observed.lease.spec ?? {}, this.#now()));
      this.#observed = undefined;
      this.#toldHolder = '';
      logger.info('released the lease', { lease: `${namespace}/${name}` });
    };
    try {
      await release().catch(async (error: unknown) => {
        if (!isConflict(error)) throw error;
        // The server received a renewal whose answer was cut off.
        await this.#read();
        await release();
      });
    } catch (error) {
      logger.warn('could not release the lease, it will expire', {
        lease: `${namespace}/${name}`,
        error: messageOf(error),
      });
    }
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { wall: clock.now(), monotonic: clock.monotonic() };
  }

  /** The timeout of one request. Two fit into the leader's deadline, as in kube-controller-manager. */
  get #timeoutMs(): number {
    return this.#times.renewDeadlineMs / 2;
  }

  #tellHolder(holder: string): void {
    if (holder === this.#toldHolder) return;
    this.#toldHolder = holder;
    const { logger, namespace, name } = this.#options;
    logger.info('another one holds the lease, standing by', { lease: `${namespace}/${name}`, holder });
  }

  /** Logs each kind of failure once in a row, not at every attempt. */
  #tellTrouble(error: unknown): void {
    const message = messageOf(error);
    const { logger, namespace, name } = this.#options;
    const level = message === this.#toldTrouble || isConflict(error) || isAlreadyExists(error) ? 'debug' : 'warn';
    this.#toldTrouble = message;
    logger[level]('failed to acquire or renew the lease, will retry', {
      lease: `${namespace}/${name}`,
      error: message,
    });
  }
}
