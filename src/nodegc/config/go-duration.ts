/** Durations in nanoseconds, read and printed as Go does (NODE-007). */

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

export const SECOND = 1_000_000_000n;
export const MINUTE = 60n * SECOND;
export const HOUR = 60n * MINUTE;

/** The text is no duration. The message is Go's. */
export class DurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DurationError';
  }
}

const TERM = /^(\d*)(?:\.(\d*))?([^\d.]*)/;

/**
 * Parses `1h30m`, `-1.5s`, `0`.
 * @returns nanoseconds
 * @throws DurationError with the text of Go's `time.ParseDuration`
 */
export function parseDuration(text: string): bigint {
  const quoted = JSON.stringify(text);
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quoted}`);
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  while (rest !== '') {
    const [term, whole = '', fraction = '', unit = ''] = TERM.exec(rest) ?? [];
    if (term === undefined || (whole === '' && fraction === '')) throw invalid();
    if (unit === '') throw new DurationError(`time: missing unit in duration ${quoted}`);
    const scale = NANOSECONDS[unit];
    if (scale === undefined)
      throw new DurationError(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
    total += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    rest = rest.slice(term.length);
  }
  if (total > 2n ** 63n - 1n) throw invalid();
  return text.startsWith('-') ? -total : total;
}

function withFraction(value: bigint, unit: bigint): string {
  const digits = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return digits === '' ? `${value / unit}` : `${value / unit}.${digits}`;
}

/** Prints nanoseconds as Go's `%v` does: `0s`, `-1ns`, `1.5s`, `2m0s`, `168h0m0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const value = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (value < 1_000n) return `${sign}${value}ns`;
  if (value < 1_000_000n) return `${sign}${withFraction(value, 1_000n)}µs`;
  if (value < SECOND) return `${sign}${withFraction(value, 1_000_000n)}ms`;
  const seconds = `${withFraction(value % MINUTE, SECOND)}s`;
  if (value < MINUTE) return `${sign}${seconds}`;
  const minutes = `${(value % HOUR) / MINUTE}m`;
  return value < HOUR ? `${sign}${minutes}${seconds}` : `${sign}${value / HOUR}h${minutes}${seconds}`;
}
