/** Durations as Go writes them, and ages as tables print them. The program holds both in milliseconds. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

// Escaped: one such letter in the program doubles the memory of its whole text.
const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
const GO_TERM = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;

/** Milliseconds of `1h30m`, `-1.5s`, `0`, … (Go `time.ParseDuration`); undefined for anything else (API-006). */
export function parseGoDuration(text: string): number | undefined {
  if (!GO_DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(GO_TERM)) total += Number(amount) * UNIT_MS[unit!]!;
  return text.startsWith('-') && total !== 0 ? -total : total;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Two units, without the smaller one if it is zero: `5m30s`, `5m`. */
function pair(seconds: number, [big, bigName]: [number, string], [small, smallName]: [number, string]): string {
  const rest = Math.floor((seconds % big) / small);
  const head = `${Math.floor(seconds / big)}${bigName}`;
  return rest === 0 ? head : `${head}${rest}${smallName}`;
}

/** An age with two or three significant digits (API-436). Negative values are in the future. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  // The clocks of two machines may differ by a second, so a time up to one second in the future counts as now.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(seconds, [MINUTE, 'm'], [1, 's']);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(seconds, [HOUR, 'h'], [MINUTE, 'm']);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(seconds, [DAY, 'd'], [HOUR, 'h']);
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return pair(seconds, [YEAR, 'y'], [DAY, 'd']);
  return `${Math.floor(seconds / YEAR)}y`;
}

/** The age of an object at `now`; `<unknown>` for one without a creation time (API-436). */
export function humanAge(createdMs: number | undefined, now: number): string {
  return createdMs === undefined ? '<unknown>' : humanDuration(now - createdMs);
}
