/** Times on the wire: RFC 3339, UTC (apimachinery `meta/v1` Time and MicroTime). Inside the program they are epoch ms. */

/** The last formatted second. Most writes within a second need the same text twice. */
let formatted = { second: 0, text: '1970-01-01T00:00:00Z' };

/** Whole seconds, truncated and not rounded: `2026-11-21T12:00:00Z` (API-060). */
export function formatTime(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== formatted.second) {
    formatted = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  }
  return formatted.text;
}

/** Six digits of fraction: `2026-11-21T12:00:00.123000Z`. */
export function formatMicroTime(epochMs: number): string {
  return `${new Date(Math.floor(epochMs)).toISOString().slice(0, 23)}000Z`;
}

/** RFC 3339 as Go reads it: year to second, fraction, sign and parts of the offset. */
export const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/**
 * Epoch ms of an RFC 3339 text with any offset; digits below the millisecond are truncated. Undefined for other texts, and for days that do
 * not exist.
 */
export function parseTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match;
  const h = Number(hour);
  const m = Number(minute);
  const s = Number(second);
  if (h > 23 || m > 59 || s > 59) return undefined;
  const offset = sign === undefined ? 0 : Number(offsetHour) * 60 + Number(offsetMinute);
  if (sign !== undefined && (Number(offsetHour) > 24 || Number(offsetMinute) > 60)) return undefined;
  const ms = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  // Uses setters, because Date.UTC reads years below 100 as 19xx.
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  date.setUTCHours(h, m, s, ms);
  return date.getTime() - (sign === '-' ? -offset : offset) * 60_000;
}
