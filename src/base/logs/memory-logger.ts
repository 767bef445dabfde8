import type { LogFields, Logger } from './logger.ts';
import { Ring } from '../collections/ring.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps the last lines in memory, for tests and diagnostics. */
export class MemoryLogger implements Logger {
  readonly #lines: Ring<LogLine>;
  readonly #fields: LogFields;

  constructor({ bound = 10_000, fields = {}, lines = new Ring<LogLine>({ bound }) } = {}) {
    this.#lines = lines;
    this.#fields = fields;
  }

  get lines(): LogLine[] {
    return [...this.#lines];
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  /** Its lines are kept in the same memory. */
  child(fields: LogFields): MemoryLogger {
    return new MemoryLogger({ fields: { ...this.#fields, ...fields }, lines: this.#lines });
  }

  #write(level: LogLine['level'], message: string, fields: LogFields | undefined): void {
    const line: LogLine = { level, message, fields: { ...this.#fields, ...fields } };
    if (this.#lines.pushBack(line)) return;
    this.#lines.popFront();
    this.#lines.pushBack(line);
  }
}
