/** A point in time in the local time of a zone. */
interface ZonedTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 100;

/** @param zone IANA name; throws a RangeError for an unknown one */
export function zonedTime(epochMs: number, zone: string): ZonedTime {
  if (zone === 'UTC') return fieldsOf(epochMs);
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return fieldsOf(Date.UTC(year, month - 1, day, hour, minute, second));
}

/** RFC 3339 with the zone's offset, in whole seconds: `2026-01-01T09:00:00+09:00`. */
export function formatZoned(epochMs: number, zone: string): string {
  const { year, month, day, hour, minute, second } = zonedTime(epochMs, zone);
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  const offset = Math.round((shown - Math.floor(epochMs / 1000) * 1000) / 60_000);
  const text = new Date(shown).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${text}${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}

function fieldsOf(epochMs: number): ZonedTime {
  const date = new Date(epochMs);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
  };
}
