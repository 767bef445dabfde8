import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { untilAborted } from '../../../base/time/abort.ts';
import { exponentialBackoff } from '../../../base/time/backoff.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import { type Counter, type Histogram, type Metrics, noMetrics } from '../../../base/metrics/metrics.ts';
import type { Random } from '../../../base/random/random.ts';
import { Semaphore, SemaphoreFullError } from '../../../base/time/semaphore.ts';
import type { Revision } from '../interface.ts';
import { StoreOverloadedError } from '../store-errors.ts';
import { type CallOptions, EtcdConnection, type EtcdTls, type RangeFields, type TxnFields } from './etcd-connection.ts';
import { classifyFailure, EtcdError, type EtcdFailure, saysStaleToken } from './etcd-failure.ts';
import { ALL_KEYS } from './etcd-keys.ts';
import type {
  RangeResponse,
  TxnResponse,
  WatchCreateRequestSchema,
  WatchRequestSchema,
  WatchResponse,
} from './rpc.generated.ts';

export interface EtcdCredentials {
  readonly username: string;
  readonly password: string;
}

export interface EtcdClientOptions {
  /** `http://` or `https://`, host and port. At least one. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls;
  readonly credentials?: EtcdCredentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** The timeout of one call with all its attempts; default 10 s. */
  readonly requestTimeoutMs?: number;
  /** The timeout of one attempt on one member; default 4 s. */
  readonly attemptTimeoutMs?: number;
}

export type WatchFields = MessageInitShape<typeof WatchCreateRequestSchema>;

/** An answer, and whether an earlier unanswered attempt may have taken effect. */
export interface EtcdAnswer<T> {
  readonly response: T;
  readonly earlier: 'not applied' | 'maybe applied';
}

/** A call, by its name in the metrics. */
type Operation = 'range' | 'ranges' | 'txn' | 'compact' | 'lease_grant';

type Send<T> = (connection: EtcdConnection, options: CallOptions) => Promise<T>;

/** Maximum number of concurrent calls, and of waiting callers. */
const IN_FLIGHT = 256;
const WAITING = 16_384;

const RETRY_MS = 25;
const RETRY_CAP_MS = 1_000;
/** If no member answers for this time, the failure is more than a change of members. */
const SILENT_MS = 2_000;

/** Metadata that makes a member end a watch if it has lost the others. */
const REQUIRE_LEADER = { hasleader: 'true' };

/**
 * Calls to an etcd cluster. Each goes to the member that answered last. If that fails, the next one is tried, with growing pauses once all
 * were tried, until the call times out. All calls must be safe to repeat: reads, and writes with a precondition that can hold only once,
 * whose callers check {@link EtcdAnswer.earlier}.
 */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  readonly #connections: readonly EtcdConnection[];
  readonly #turns = new Semaphore({ permits: IN_FLIGHT, maxWaiting: WAITING });
  readonly #durations: Histogram;
  readonly #errors: Counter;
  #current: number;
  #token: string | undefined;
  #unreachable: string | undefined;
  /** The time since which no member has answered any call. */
  #silence: { readonly since: number; readonly message: string } | undefined;
  /** The last failure of each member. */
  readonly #troubles = new Map<string, string>();

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    const { endpoints, tls = {}, random } = options;
    this.#connections = endpoints.map((url) => new EtcdConnection(url, tls));
    this.#current = random.integer(endpoints.length);
    const { metrics = noMetrics } = options;
    this.#durations = metrics.histogram({
      name: 'etcd_request_duration_seconds',
      help: 'Time of calls to etcd, with all their attempts',
      labelNames: ['operation'],
    });
    this.#errors = metrics.counter({
      name: 'etcd_request_errors_total',
      help: 'Attempts that etcd did not answer, or answered with no',
      labelNames: ['operation', 'kind'],
    });
  }

  get endpoints(): readonly string[] {
    return this.#options.endpoints;
  }

  /** The reason why calls fail: the last one timed out, or none was answered for a while; undefined otherwise. */
  get unreachable(): string | undefined {
    if (this.#unreachable !== undefined || this.#silence === undefined) return this.#unreachable;
    const { since, message } = this.#silence;
    return this.#options.clock.monotonic() - since >= SILENT_MS ? message : undefined;
  }

  /** `https://a:2379: connect ECONNREFUSED …; …`: the members whose last call failed. */
  get troubles(): string {
    return this.endpoints
      .filter((url) => this.#troubles.has(url))
      .map((url) => `${url}: ${this.#troubles.get(url)}`)
      .join('; ');
  }

  async range(request: RangeFields): Promise<RangeResponse> {
    const { response } = await this.#call((connection, options) => connection.range(request, options), 'range');
    return response;
  }

  /** Reads several ranges at one revision. */
  async ranges(requests: readonly RangeFields[]): Promise<TxnResponse> {
    const success = requests.map((value) => ({ request: { case: 'requestRange', value } as const }));
    const { response } = await this.#call((connection, options) => connection.txn({ success }, options), 'ranges');
    return response;
  }

  txn(request: TxnFields): Promise<EtcdAnswer<TxnResponse>> {
    return this.#call((connection, options) => connection.txn(request, options), 'txn');
  }

  async compact(revision: Revision): Promise<void> {
    await this.#call((connection, options) => connection.compact(BigInt(revision), options), 'compact');
  }

  /** Creates the key unless it exists. Returns its current value. */
  async createKey(key: Uint8Array, value: Uint8Array): Promise<{ readonly value: Uint8Array }> {
    const { response } = await this.txn({
      compare: [{ result: 0, target: 2, key, targetUnion: { case: 'modRevision', value: 0n } }],
      success: [{ request: { case: 'requestPut', value: { key, value } } }],
      failure: [{ request: { case: 'requestRange', value: { key } } }],
    });
    const [first] = response.responses;
    const kv = first?.response.case === 'responseRange' ? first.response.value.kvs[0] : undefined;
    return kv ?? { value };
  }

  /** Grants a lease and returns its id. If the answer is lost, the lease expires by itself. */
  async grantLease(ttlSeconds: number): Promise<bigint> {
    const { response } = await this.#call(
      ({ lease }, options) => lease.leaseGrant({ TTL: BigInt(ttlSeconds) }, options),
      'lease_grant',
    );
    return response.ID;
  }

  /** The current revision of the whole key space. */
  async currentRevision(): Promise<Revision> {
    const { header } = await this.range({ key: ALL_KEYS.key, countOnly: true });
    return Number(header?.revision ?? 0n);
  }

  /** One watch on one member, until it breaks or `signal` is aborted; the caller starts the next one. */
  async *watch(create: WatchFields, signal: AbortSignal): AsyncGenerator<WatchResponse> {
    const connection = this.#pick();
    try {
      const headers = { ...(await this.#authorization(connection)), ...REQUIRE_LEADER };
      for await (const response of connection.watch.watch(openRequest(create, signal), { signal, headers })) {
        connection.heardAt = this.#options.clock.monotonic();
        // etcd sends this error as an answer and keeps the stream, because a stream may serve other watches.
        if (response.canceled && saysStaleToken(response.cancelReason)) this.#token = undefined;
        yield response;
      }
    } catch (error) {
      if (!signal.aborted) {
        const failure = classifyFailure(error);
        if (failure.kind === 'stale-token') this.#token = undefined;
        else this.turnFrom(connection.url);
        throw new EtcdError(failure, error);
      }
      throw error;
    }
  }

  /** The member for the next call. */
  get endpoint(): string {
    return this.#pick().url;
  }

  /** Directs the next call to another member, because this one does not work. */
  turnFrom(url: string): void {
    if (this.#pick().url === url) this.#current = (this.#current + 1) % this.#connections.length;
  }

  /** Makes all calls in progress fail. */
  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #pick(): EtcdConnection {
    const connection = this.#connections[this.#current];
    if (connection === undefined) throw new Error('an etcd client has at least one endpoint');
    return connection;
  }

  async #call<T>(send: Send<T>, operation: Operation): Promise<EtcdAnswer<T>> {
    const release = await this.#turn();
    const { clock } = this.#options;
    const began = clock.monotonic();
    try {
      return await this.#attempts(send, operation);
    } finally {
      release();
      this.#durations.observe((clock.monotonic() - began) / 1000, { operation });
    }
  }

  async #turn(): Promise<() => void> {
    const now = this.#turns.tryAcquire();
    if (now !== undefined) return now;
    try {
      return await this.#turns.acquire();
    } catch (error) {
      if (error instanceof SemaphoreFullError) throw new StoreOverloadedError(this.#turns.waiting, 0);
      throw error;
    }
  }

  async #attempts<T>(send: Send<T>, operation: Operation): Promise<EtcdAnswer<T>> {
    const { clock, random, requestTimeoutMs = 10_000, attemptTimeoutMs = 4_000 } = this.#options;
    const deadline = clock.monotonic() + requestTimeoutMs;
    const backoff = exponentialBackoff({ baseMs: RETRY_MS, capMs: RETRY_CAP_MS, jitter: 0.5, random });
    let earlier: EtcdAnswer<T>['earlier'] = 'not applied';
    // The deadline bounds the loop: after the first round, each one sleeps.
    for (let round = 1; ; round++) {
      const connection = this.#pick();
      const began = clock.monotonic();
      // An integer, because etcd refuses fractions in the timeout header.
      const timeoutMs = Math.max(1, Math.ceil(Math.min(deadline - began, attemptTimeoutMs)));
      try {
        const headers = await this.#authorization(connection);
        const response = await send(connection, { timeoutMs, headers });
        this.#unreachable = undefined;
        this.#silence = undefined;
        connection.heardAt = clock.monotonic();
        if (this.#troubles.size > 0) this.#troubles.delete(connection.url);
        return { response, earlier };
      } catch (error) {
        const failure = classifyFailure(error);
        // The last attempt ended with the call's own timeout, so earlier errors say more.
        const cutShort = timeoutMs < attemptTimeoutMs && ConnectError.from(error).code === Code.DeadlineExceeded;
        if (!cutShort || !this.#troubles.has(connection.url)) this.#troubles.set(connection.url, failure.message);
        this.#errors.inc({ operation, kind: failure.kind });
        const again = failure.kind === 'away' || failure.kind === 'stale-token';
        const pause = round < this.#connections.length ? 0 : backoff.next();
        if (failure.kind === 'away') {
          if (failure.applied === 'maybe' && operation === 'txn') earlier = 'maybe applied';
          // Data in the first half of the attempt may have been sent before the member stopped answering.
          const silent = clock.monotonic() - attemptTimeoutMs / 2;
          if (began <= silent) connection.doubt(silent);
          this.turnFrom(connection.url);
          this.#silence = { since: this.#silence?.since ?? began, message: failure.message };
        }
        if (failure.kind === 'stale-token') this.#token = undefined;
        if (!again || clock.monotonic() + pause >= deadline) {
          if (failure.kind === 'away') this.#unreachable = failure.message;
          throw new EtcdError(endOfAll(failure, earlier), error);
        }
        if (pause > 0) await sleep(clock, pause);
      }
    }
  }

  async #authorization(connection: EtcdConnection): Promise<Record<string, string>> {
    const { credentials, attemptTimeoutMs = 4_000 } = this.#options;
    if (credentials === undefined) return {};
    if (this.#token === undefined) {
      const { username: name, password } = credentials;
      const { token } = await connection.auth.authenticate({ name, password }, { timeoutMs: attemptTimeoutMs });
      this.#token = token;
    }
    return { token: this.#token };
  }
}

/** A refusal of the last attempt is final only if no earlier attempt may have been applied. */
function endOfAll(failure: EtcdFailure, earlier: EtcdAnswer<unknown>['earlier']): EtcdFailure {
  const { kind, message } = failure;
  if (earlier === 'maybe applied') return { kind: 'away', applied: 'maybe', message };
  return kind === 'away' ? { kind, applied: 'no', message } : failure;
}

/** The request side of a watch: one message, then an open stream. */
async function* openRequest(
  create: WatchFields,
  signal: AbortSignal,
): AsyncGenerator<MessageInitShape<typeof WatchRequestSchema>> {
  yield { requestUnion: { case: 'createRequest', value: create } };
  await untilAborted(signal);
}
