import pino, { type Logger as PinoLogger } from 'pino';
import type { Logger } from '../base/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogFormat = 'text' | 'json';

function wrap(target: PinoLogger): Logger {
  return {
    debug: (message, fields) => (fields ? target.debug(fields, message) : target.debug(message)),
    info: (message, fields) => (fields ? target.info(fields, message) : target.info(message)),
    warn: (message, fields) => (fields ? target.warn(fields, message) : target.warn(message)),
    error: (message, fields) => (fields ? target.error(fields, message) : target.error(message)),
    child: (fields) => wrap(target.child(fields)),
  };
}

const plainWord = /^[\w./:@-]+$/;

function textLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const rest = Object.entries(fields)
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return `${key}=${text !== undefined && plainWord.test(text) ? text : JSON.stringify(text)}`;
    })
    .join(' ');
  return `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}${rest ? `  ${rest}` : ''}\n`;
}

/**
 * The program's log, on stderr so that stdout stays for what was asked for. `text` is one line for a person, `json` is one
 * object a line with `time` (RFC 3339), `level`, `msg` and the fields.
 */
export function createLogger(options: { level: LogLevel; format: LogFormat; write: (line: string) => void }): Logger {
  const write = options.format === 'json' ? options.write : (line: string) => options.write(textLine(line));
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    { write },
  );
  return wrap(logger);
}
