import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { type Release, Semaphore } from '../../base/time/semaphore.ts';
import type { Send } from '../../client/rest/interceptor.ts';
import { retryAfterSecondsOf } from '../../client/codec/status-decoder.ts';
import { abortedTransportError } from '../../client/http/transport-failure.ts';
import { TransportError } from '../../client/http/transport.ts';
import { type CallOutcome, ConcurrencyLimit, type ConcurrencyLimitOptions } from './concurrency-limit.ts';

interface AdaptiveConcurrencyOptions extends ConcurrencyLimitOptions {
  readonly clock: Clock;
}

/** Limits calls under way to as many as the server can bear (BETTER-19). Not for watches, which never end. */
export class AdaptiveConcurrency {
  readonly #clock: Clock;
  readonly #limit: ConcurrencyLimit;
  readonly #semaphore: Semaphore;

  constructor({ clock, ...limits }: AdaptiveConcurrencyOptions) {
    this.#clock = clock;
    this.#limit = new ConcurrencyLimit(limits);
    this.#semaphore = new Semaphore({ permits: this.#limit.limit });
  }

  get limit(): number {
    return this.#limit.limit;
  }

  get underWay(): number {
    return this.#semaphore.held;
  }

  readonly intercept = (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    const { signal } = request;
    const free = signal?.aborted === true || this.#pauseMs > 0 ? undefined : this.#semaphore.tryAcquire();
    if (free !== undefined) return this.#call(request, next, free);
    return this.#enter(signal).then((release) => this.#call(request, next, release));
  };

  #call(request: HttpRequest, next: Send, release: Release): Promise<HttpResponse> {
    const call = { kind: request.method, underWay: this.underWay, startedAt: this.#clock.monotonic() };
    return next(request).then(
      (response) => {
        this.#note(call, loadOfAnswer(response));
        release();
        return response;
      },
      (error: unknown) => {
        this.#note(call, loadOfError(error));
        release();
        throw error;
      },
    );
  }

  /** The rest of the pause that the server asked for, ms. No call begins before it is over. */
  get #pauseMs(): number {
    return this.#limit.pausedUntil - this.#clock.monotonic();
  }

  #note(call: Omit<CallOutcome, 'outcome' | 'endedAt'>, load: Load | undefined): void {
    if (load === undefined) return;
    const { kind, underWay, startedAt } = call;
    const { outcome, retryAfterMs } = load;
    this.#limit.ended({ outcome, kind, underWay, startedAt, endedAt: this.#clock.monotonic(), retryAfterMs });
    this.#semaphore.resize(this.#limit.limit);
  }

  async #enter(signal: AbortNotice | undefined): Promise<Release> {
    try {
      const release = await this.#semaphore.acquire(signal);
      await this.#peace(signal).catch((error: unknown) => {
        release();
        throw error;
      });
      return release;
    } catch (error) {
      throw signal?.aborted === true ? abortedTransportError(signal) : error;
    }
  }

  /** Waits until no pause is left. Answers that come meanwhile may each prolong it once. No call begins during it. */
  async #peace(signal: AbortNotice | undefined): Promise<void> {
    for (let pause = this.#pauseMs; pause > 0; pause = this.#pauseMs) await sleep(this.#clock, pause, signal);
  }
}

type Load = Pick<CallOutcome, 'outcome' | 'retryAfterMs'>;

const answered: Load = { outcome: 'answered' };

/** A 429 comes from the server's API Priority and Fairness. A 503 counts as overload only with `Retry-After`. */
function loadOfAnswer({ status, headers }: HttpResponse): Load {
  const seconds = retryAfterSecondsOf(headers);
  if (status !== 429 && !(status === 503 && seconds !== undefined)) return answered;
  return { outcome: 'overloaded', retryAfterMs: (seconds ?? 0) * 1000 };
}

/** A timeout is a sign of load. A broken or aborted connection says nothing about load. */
function loadOfError(error: unknown): Load | undefined {
  return error instanceof TransportError && error.code === 'timeout' ? { outcome: 'overloaded' } : undefined;
}
