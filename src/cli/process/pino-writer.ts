import pino from 'pino';
import type { LogFields } from '../../base/logs/logger.ts';
import type { LogFormat, LogLevel } from './log-level.ts';

export interface LogRecord {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly message: string;
  /** The fields of the logger. */
  readonly bound: LogFields;
  /** The fields of the line. */
  readonly fields: LogFields | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number;
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

/** Formats records as lines. Only this module loads pino; `logger.ts` imports it on demand. */
export function pinoWriter(options: {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly write: (line: string) => void;
}): (record: LogRecord) => void {
  const write = options.format === 'json' ? options.write : (line: string) => options.write(textLine(line));
  let time = 0;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date(time).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    { write },
  );
  return ({ level, message, bound, fields, time: at }) => {
    time = at;
    logger[level]({ ...bound, ...fields }, message);
  };
}
