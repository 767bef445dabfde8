import type { Clock } from '../time/clock.ts';
import type { LogFields, Logger } from './logger.ts';

export interface BoundedLogOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Maximum number of lines that may follow each other without an interval after a pause. */
  readonly burst: number;
  /** Minimum interval between later lines, ms. */
  readonly everyMs: number;
}

/** Limits lines that may come in thousands: some are logged with the number of those left out. The rest goes to `debug`. */
export class BoundedLog {
  readonly #options: BoundedLogOptions;
  #tokens: number;
  #last: number;
  #leftOut = 0;

  constructor(options: BoundedLogOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#last = options.clock.monotonic();
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#line('warn', message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#line('info', message, fields);
  }

  #line(level: 'warn' | 'info', message: string, fields: LogFields): void {
    const { logger, clock, burst, everyMs } = this.#options;
    const now = clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#last) / everyMs);
    this.#last = now;
    if (this.#tokens < 1) {
      this.#leftOut++;
      return logger.debug(message, fields);
    }
    this.#tokens--;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    logger[level](message, leftOut === 0 ? fields : { ...fields, leftOut });
  }
}
