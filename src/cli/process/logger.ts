import type { LogFields, Logger } from '../../base/logs/logger.ts';
import type { LogFormat, LogLevel } from './log-level.ts';
import type { LogRecord } from './pino-writer.ts';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Receives whole lines. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Maximum number of lines that wait for the library. Further lines are dropped, and their number is logged. */
const MAX_WAITING = 1000;

/**
 * The program's log, on stderr so that stdout has only the requested output. `text` is one line for a person; `json` is one object a line
 * with `time` (RFC 3339), `level`, `msg` and the fields. The first line loads the library, so that a silent server starts without it.
 */
export function createLogger(options: LoggerOptions): Logger {
  return loggerOf(new LogQueue(options), {});
}

const severity: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };

function loggerOf(queue: LogQueue, bound: LogFields): Logger {
  const at =
    (level: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields?: LogFields): void =>
      queue.log({ level, message, bound, fields });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => loggerOf(queue, { ...bound, ...fields }),
  };
}

/** Keeps records in their order and with their time until the library is loaded. */
class LogQueue {
  readonly #options: LoggerOptions;
  readonly #least: number;
  #write: ((record: LogRecord) => void) | undefined;
  /** Undefined before the first line and after the library is loaded. */
  #waiting: LogRecord[] | undefined;
  #lost = 0;

  constructor(options: LoggerOptions) {
    this.#options = options;
    this.#least = severity[options.level];
  }

  log(line: Pick<LogRecord, 'level' | 'message' | 'bound' | 'fields'>): void {
    if (severity[line.level] < this.#least) return;
    const record = { ...line, time: this.#options.now() };
    if (this.#write !== undefined) this.#write(record);
    else if (this.#waiting === undefined) {
      this.#waiting = [record];
      void this.#load();
    } else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(record);
    else this.#lost++;
  }

  async #load(): Promise<void> {
    const { pinoWriter } = await import('./pino-writer.ts');
    const write = pinoWriter(this.#options);
    for (const record of this.#waiting ?? []) write(record);
    this.#waiting = undefined;
    this.#write = write;
    if (this.#lost > 0) {
      const fields = { lost: this.#lost };
      write({ level: 'warn', message: 'log lines were lost', bound: {}, fields, time: this.#options.now() });
    }
  }
}
