import { RFC3339 } from '../meta/time.ts';
import { CelEvaluationError } from './cel-error.ts';
import { CelDuration, CelTimestamp } from './cel-value.ts';
import { readDigits } from './decimal-digits.ts';

const SECOND = 1_000_000_000n;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

const LENGTH = /^(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/;

/** Go's `time.ParseDuration`: `-1h30m`, `1.5s`, `0`; undefined for anything else. Throws on overflow. */
export function parseGoDuration(text: string): CelDuration | undefined {
  const signed = /^[+-]/.test(text);
  let rest = signed ? text.slice(1) : text;
  if (rest === '0') return new CelDuration(0n);
  if (rest === '') return undefined;
  let nanos = 0n;
  while (rest !== '') {
    const match = LENGTH.exec(rest);
    if (match === null) return undefined;
    const [whole, digits = '', fraction = '', unit = ''] = match;
    if (digits === '' && fraction === '') return undefined;
    const factor = UNITS[unit] ?? 0n;
    nanos += wholeUnits(digits) * factor;
    const finest = fraction.slice(0, MAX_FRACTION);
    if (finest !== '') nanos += (BigInt(finest) * factor) / 10n ** BigInt(finest.length);
    rest = rest.slice(whole.length);
  }
  return new CelDuration(text.startsWith('-') ? -nanos : nanos);
}

/** Smaller fractions of an hour are less than a nanosecond. */
const MAX_FRACTION = 18;

function wholeUnits(digits: string): bigint {
  const units = readDigits(digits);
  if (units === undefined) throw new CelEvaluationError('duration overflow');
  return units;
}

/** The match starts at the first digit of a number, so that long texts take linear time. */
const NUMBER_WITH_UNIT = /(?<!\d)(\d+)(?!\d)\s*([A-Za-z\u00b5]+)/g;

/** Units as words: a prefix of the word, or its abbreviation. */
const WORDS: readonly { readonly start: string; readonly short: readonly string[]; readonly nanos: bigint }[] = [
  { start: 'nano', short: ['ns'], nanos: 1n },
  { start: 'micro', short: ['us', 'µs'], nanos: 1_000n },
  { start: 'milli', short: ['ms'], nanos: 1_000_000n },
  { start: 'sec', short: ['s'], nanos: SECOND },
  { start: 'min', short: ['m'], nanos: 60n * SECOND },
  { start: 'hour', short: ['h', 'hr'], nanos: 3600n * SECOND },
  { start: 'day', short: ['d'], nanos: 24n * 3600n * SECOND },
  { start: 'week', short: ['w', 'wk'], nanos: 7n * 24n * 3600n * SECOND },
];

/** A duration of a schema's `format: duration`: in Go's form, or whole numbers with units: `2 days`, `1w 3h`. Throws on overflow. */
export function parseFormattedDuration(text: string): CelDuration | undefined {
  const plain = parseGoDuration(text);
  if (plain !== undefined) return plain;
  const parts = [...text.matchAll(NUMBER_WITH_UNIT)].flatMap(([, digits = '', word = '']) => {
    const unit = word.toLowerCase();
    const known = WORDS.find(({ start, short }) => short.includes(unit) || unit.startsWith(start));
    return known === undefined ? [] : [wholeUnits(digits) * known.nanos];
  });
  return parts.length === 0 ? undefined : new CelDuration(parts.reduce((sum, part) => sum + part, 0n));
}

/** Seconds with as many digits as needed: `5400s`, `0.5s`, as `string(duration)` returns. */
export function formatDuration({ nanos }: CelDuration): string {
  const positive = nanos < 0n ? -nanos : nanos;
  const fraction = (positive % SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${positive / SECOND}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** RFC 3339 as Go reads it; undefined for anything else. Throws outside the years 1 to 9999. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  const date = civil(Number(year), Number(month), Number(day));
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1);
  if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(zoneHour) > 24 || Number(zoneMinute) > 60) return undefined;
  const seconds = date + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - zone * 60;
  return new CelTimestamp(BigInt(seconds) * SECOND + BigInt(fraction.slice(0, 9).padEnd(9, '0')));
}

/** `2026-02-28` at midnight UTC. */
export function parseDate(text: string): CelTimestamp | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const seconds = civil(Number(match[1]), Number(match[2]), Number(match[3]));
  return seconds === undefined ? undefined : new CelTimestamp(BigInt(seconds) * SECOND);
}

/** Seconds since 1970; undefined for a day that does not exist. */
function civil(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / 1000 : undefined;
}

/** `2026-02-28T01:02:03.5Z`. */
export function formatTimestamp({ nanos }: CelTimestamp): string {
  const fraction = modulo(nanos, SECOND).toString().padStart(9, '0').replace(/0+$/, '');
  const seconds = (nanos - modulo(nanos, SECOND)) / SECOND;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${text}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function modulo(value: bigint, divisor: bigint): bigint {
  return ((value % divisor) + divisor) % divisor;
}

/** The parts of a point in time, numbered as CEL's getters do: months, days of month and day of year from 0; Sunday is 0. */
export interface TimeParts {
  readonly year: number;
  readonly month: number;
  readonly date: number;
  readonly dayOfWeek: number;
  readonly dayOfYear: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/** `zone` is an IANA name or `+01:00`. Undefined for an unknown zone. */
export function timeParts({ nanos }: CelTimestamp, zone: string): TimeParts | undefined {
  const offset = zoneOffset(nanos, zone);
  if (offset === undefined) return undefined;
  const local = nanos + BigInt(offset) * SECOND;
  const seconds = (local - modulo(local, SECOND)) / SECOND;
  const date = new Date(Number(seconds) * 1000);
  const newYear = new Date(date.getTime());
  newYear.setUTCMonth(0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    date: date.getUTCDate(),
    dayOfWeek: date.getUTCDay(),
    dayOfYear: Math.round((date.getTime() - newYear.getTime()) / 86_400_000),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: Number(modulo(local, SECOND) / 1_000_000n),
  };
}

/** Seconds east of UTC. */
function zoneOffset(nanos: bigint, zone: string): number | undefined {
  if (zone === 'UTC' || zone === '') return 0;
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) return (Number(fixed[2]) * 60 + Number(fixed[3])) * (fixed[1] === '-' ? -60 : 60);
  const instant = Number((nanos - modulo(nanos, SECOND)) / SECOND) * 1000;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(name);
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = match ?? [];
    return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * (sign === '-' ? -1 : 1);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
