import { StatusError } from '../../api/status-error.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { TransportError } from '../../client/http/transport.ts';

/** Failures of one cause within this time are one line, ms. */
const GATHER_MS = 1000;
/** While a cause lasts it is told of again after this long, ms. */
const AGAIN_MS = 60_000;
/** A watch that was answered and has not failed for so long works, although nothing came, ms. */
const QUIET_MS = 5000;
/** Resources a line names; it counts the others. */
const MAX_NAMED = 5;

interface Cause {
  readonly key: string;
  readonly since: number;
  readonly resources: Set<string>;
  /** The newest one. */
  error: Error;
  told: boolean;
  timer: Timer;
}

/**
 * Says which watches fail, and why: one line a cause, with how many watches share it, at most one a minute while it lasts, and
 * one when all of them are back. A server that goes away takes every watch with it, and each of them tries again and again; the
 * head of an answer alone is no recovery.
 * Causes are never more than the monitors: each monitor has at most one.
 */
export class TroubleLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #causes = new Map<string, Cause>();
  readonly #causeOf = new Map<string, Cause>();
  /** Of these, those whose watch was answered and has shown nothing yet, with the time of the answer, oldest first. */
  readonly #answered = new Map<string, number>();
  /** One, for the oldest; undefined when there is none. */
  #quietTimer: Timer | undefined;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  failed(resource: string, error: Error): void {
    this.#unanswer(resource);
    const key = keyOf(error);
    const known = this.#causeOf.get(resource);
    // It fails still, only otherwise; but a server that refuses answers.
    if (known?.key === SERVER && key !== SERVER) this.#leave(resource, known);
    else if (known !== undefined && known.key !== key) this.forget(resource);
    const cause = this.#causes.get(key) ?? this.#begin(key, error);
    cause.error = error;
    cause.resources.add(resource);
    this.#causeOf.set(resource, cause);
  }

  /** The server has answered the resource's watch, and may have nothing to show: it works, unless it fails soon. */
  answered(resource: string): void {
    if (!this.#causeOf.has(resource)) return;
    this.#answered.delete(resource);
    this.#answered.set(resource, this.#clock.monotonic());
    this.#awaitQuiet();
  }

  /** The server has shown what the resource has, or something of it. */
  recovered(resource: string): void {
    const cause = this.#causeOf.get(resource);
    if (cause !== undefined) this.#leave(resource, cause);
  }

  /** The resource is not watched any more, which is no recovery. */
  forget(resource: string): void {
    const cause = this.#causeOf.get(resource);
    if (cause === undefined) return;
    const last = cause.resources.size === 1;
    cause.told &&= !last;
    this.#leave(resource, cause);
  }

  /** Nothing is told any more, and no timer is left. */
  stop(): void {
    for (const { timer } of this.#causes.values()) timer.cancel();
    this.#quietTimer?.cancel();
    this.#causes.clear();
    this.#causeOf.clear();
    this.#answered.clear();
  }

  #awaitQuiet(): void {
    const [oldest] = this.#answered.values();
    if (oldest === undefined || this.#quietTimer !== undefined) return;
    this.#quietTimer = this.#clock.setTimer(oldest + QUIET_MS - this.#clock.monotonic(), () => {
      this.#quietTimer = undefined;
      // Not asked of the clock again: in fractions of milliseconds the time may be a trifle short, and a timer of a trifle never ends.
      for (const [resource, at] of this.#answered) {
        if (at > oldest) break;
        this.recovered(resource);
      }
      this.#awaitQuiet();
    });
  }

  #unanswer(resource: string): void {
    if (!this.#answered.delete(resource) || this.#answered.size > 0) return;
    this.#quietTimer?.cancel();
    this.#quietTimer = undefined;
  }

  #begin(key: string, error: Error): Cause {
    const cause: Cause = {
      key,
      since: this.#clock.monotonic(),
      resources: new Set(),
      error,
      told: false,
      timer: this.#clock.setTimer(GATHER_MS, () => this.#tell(cause)),
    };
    this.#causes.set(key, cause);
    return cause;
  }

  #tell(cause: Cause): void {
    const { key, resources, error } = cause;
    cause.told = true;
    cause.timer = this.#clock.setTimer(AGAIN_MS, () => this.#tell(cause));
    const message =
      key === SERVER
        ? 'the API server does not answer; its watches are tried again'
        : 'watches fail and are tried again';
    this.#logger.warn(message, {
      watches: resources.size,
      resources: [...resources].slice(0, MAX_NAMED).join(', '),
      error: error.message,
    });
  }

  #leave(resource: string, cause: Cause): void {
    cause.resources.delete(resource);
    this.#causeOf.delete(resource);
    this.#unanswer(resource);
    if (cause.resources.size > 0) return;
    cause.timer.cancel();
    this.#causes.delete(cause.key);
    if (!cause.told) return;
    this.#logger.info(cause.key === SERVER ? 'the API server answers again' : 'the watches that failed work again', {
      afterSeconds: Math.round((this.#clock.monotonic() - cause.since) / 1000),
    });
  }
}

const SERVER = 'server';

function keyOf(error: Error): string {
  if (error instanceof TransportError) return SERVER;
  return error instanceof StatusError ? `${error.code} ${error.reason}` : error.name;
}
