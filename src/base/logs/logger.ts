/** The fields of a log line. Values must be serialisable; secrets never belong here. */
export type LogFields = Record<string, unknown>;

/** The rooms log through this; `cli` binds a real logger to it. */
export interface Logger {
  /** Details for debugging. */
  debug(message: string, fields?: LogFields): void;
  /** Normal operation. */
  info(message: string, fields?: LogFields): void;
  /** A failure that may pass without help. */
  warn(message: string, fields?: LogFields): void;
  /** A failure that a person has to repair. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** The same logger for a part whose warnings are reported elsewhere, so that they become `debug` lines here. */
export function demoteWarnings(logger: Logger): Logger {
  return {
    debug: (message, fields) => logger.debug(message, fields),
    info: (message, fields) => logger.info(message, fields),
    warn: (message, fields) => logger.debug(message, fields),
    error: (message, fields) => logger.error(message, fields),
    child: (fields) => demoteWarnings(logger.child(fields)),
  };
}

function drop(): void {}

/** Logs nothing. */
export const silentLogger: Logger = { debug: drop, info: drop, warn: drop, error: drop, child: () => silentLogger };
