import { StatusError } from '../../api/status-error.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { TransportError } from '../../client/http/transport.ts';

/** Failures with the same cause within this time share one line, ms. */
const GATHER_MS = 1000;
/** The interval at which a lasting cause is reported again, ms. */
const AGAIN_MS = 60_000;
/** A watch works if it was answered and then does not fail for this long, even if it sent nothing, ms. */
const QUIET_MS = 5000;
/** Maximum number of resources that a line names; it only counts the others. */
const MAX_NAMED = 5;

interface Cause {
  readonly key: string;
  readonly since: number;
  readonly resources: Set<string>;
  /** The newest error. */
  error: Error;
  told: boolean;
  timer: Timer;
}

/**
 * Logs which watches fail, and why. Each cause gets one line with the number of its watches: at most one a minute while it lasts, and one
 * when all of them work again. A server outage affects every watch, and each of them retries again and again. The head of an answer alone
 * is no recovery.
 *
 * There are at most as many causes as monitors, because each monitor has at most one.
 */
export class TroubleLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #causes = new Map<string, Cause>();
  readonly #causeOf = new Map<string, Cause>();
  /** The failing resources whose watch was answered and has shown nothing yet, with the time of the answer, oldest first. */
  readonly #answered = new Map<string, number>();
  /** The timer for the oldest answer; undefined when there is none. */
  #quietTimer: Timer | undefined;

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  failed(resource: string, error: Error): void {
    this.#unanswer(resource);
    const key = keyOf(error);
    const known = this.#causeOf.get(resource);
    // The watch still fails, but for another cause. A server that refuses does answer, so the cause SERVER is over.
    if (known?.key === SERVER && key !== SERVER) this.#leave(resource, known);
    else if (known !== undefined && known.key !== key) this.forget(resource);
    const cause = this.#causes.get(key) ?? this.#begin(key, error);
    cause.error = error;
    cause.resources.add(resource);
    this.#causeOf.set(resource, cause);
  }

  /** The server has answered the resource's watch, but may have nothing to show. The watch works unless it fails soon. */
  answered(resource: string): void {
    if (!this.#causeOf.has(resource)) return;
    this.#answered.delete(resource);
    this.#answered.set(resource, this.#clock.monotonic());
    this.#awaitQuiet();
  }

  /** The server has listed the resource, or shown something of it. */
  recovered(resource: string): void {
    const cause = this.#causeOf.get(resource);
    if (cause !== undefined) this.#leave(resource, cause);
  }

  /** The resource is no longer watched, which is no recovery. */
  forget(resource: string): void {
    const cause = this.#causeOf.get(resource);
    if (cause === undefined) return;
    const last = cause.resources.size === 1;
    cause.told &&= !last;
    this.#leave(resource, cause);
  }

  /** After this nothing is logged, and no timer is left. */
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
      // Does not read the clock again. The time may be a fraction of a millisecond short, and timers for such a fraction would repeat
      // forever.
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
    this.#logger.info(cause.key === SERVER ? 'the API server answers again' : 'watches resumed', {
      afterSeconds: Math.round((this.#clock.monotonic() - cause.since) / 1000),
    });
  }
}

const SERVER = 'server';

function keyOf(error: Error): string {
  if (error instanceof TransportError) return SERVER;
  return error instanceof StatusError ? `${error.code} ${error.reason}` : error.name;
}
