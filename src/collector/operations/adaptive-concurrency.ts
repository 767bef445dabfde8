import type { AbortNotice } from '../../base/abort-notice.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { Semaphore } from '../../base/semaphore.ts';
import type { Send } from '../../client/interceptor.ts';
import { retryAfterSecondsOf } from '../../client/status-decoder.ts';
import { abortedTransportError } from '../../client/transport-failure.ts';
import { TransportError } from '../../client/transport.ts';
import { type CallOutcome, ConcurrencyLimit, type ConcurrencyLimitOptions } from './concurrency-limit.ts';

export interface AdaptiveConcurrencyOptions extends ConcurrencyLimitOptions {
  readonly clock: Clock;
}

/** Lets as many calls through as the server bears (BETTER-19). Not for watches, which never end. */
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

  readonly intercept = async (request: HttpRequest, next: Send): Promise<HttpResponse> => {
    const release = await this.#enter(request.signal);
    try {
      const startedAt = this.#clock.monotonic();
      const { underWay } = this;
      const outcome = await next(request).then(
        (response) => ({ response, load: loadOfAnswer(response) }),
        (error: unknown) => ({ error, load: loadOfError(error) }),
      );
      this.#note({ kind: request.method, underWay, startedAt }, outcome.load);
      if ('error' in outcome) throw outcome.error;
      return outcome.response;
    } finally {
      release();
    }
  };

  #note(call: Omit<CallOutcome, 'outcome' | 'endedAt'>, load: Load | undefined): void {
    if (load === undefined) return;
    this.#limit.ended({ ...call, ...load, endedAt: this.#clock.monotonic() });
    this.#semaphore.resize(this.#limit.limit);
  }

  async #enter(signal: AbortNotice | undefined): Promise<() => void> {
    try {
      const release = await this.#semaphore.acquire(signal);
      // The server asked for peace: whoever has his turn waits with it.
      const pause = this.#limit.pausedUntil - this.#clock.monotonic();
      if (pause <= 0) return release;
      await sleep(this.#clock, pause, signal).catch((error: unknown) => {
        release();
        throw error;
      });
      return release;
    } catch (error) {
      throw signal?.aborted === true ? abortedTransportError(signal) : error;
    }
  }
}

type Load = Pick<CallOutcome, 'outcome' | 'retryAfterMs'>;

/** 429 is the server's own fairness; 503 only if it says when to come back. */
function loadOfAnswer({ status, headers }: HttpResponse): Load {
  const seconds = retryAfterSecondsOf(headers);
  if (status !== 429 && !(status === 503 && seconds !== undefined)) return { outcome: 'answered' };
  return { outcome: 'overloaded', retryAfterMs: (seconds ?? 0) * 1000 };
}

/** No answer in time is a sign of load; a broken or given up connection says nothing about it. */
function loadOfError(error: unknown): Load | undefined {
  return error instanceof TransportError && error.code === 'timeout' ? { outcome: 'overloaded' } : undefined;
}
