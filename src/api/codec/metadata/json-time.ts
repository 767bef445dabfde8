import { ZERO } from '../json/json-cursor.ts';

const LENGTH = '2026-11-21T15:04:05Z'.length;
const DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18] as const;
const LETTER_Z = 0x5a;
const DAY = 86_400;

/** True if the text is a time in the form that API servers write. The year 1, which is Go's zero time, does not count. */
export function isJsonTime(json: Uint8Array, start: number, end: number): boolean {
  if (end - start !== LENGTH || json[end - 1] !== LETTER_Z) return false;
  for (const at of DIGITS) {
    const digit = json[start + at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return false;
  }
  return year(json, start) >= 1970;
}

/** Seconds since 1970 of the time that begins at `start`. */
export function secondsOfJsonTime(json: Uint8Array, start: number): number {
  const month = two(json, start + 5);
  // A year that begins in March has its leap day last, so the number of days before a month never varies.
  const inYear = year(json, start) - (month <= 2 ? 1 : 0);
  const daysBefore = ((153 * (month + (month <= 2 ? 9 : -3)) + 2) / 5) | 0;
  const leapDays = (inYear >> 2) - ((inYear / 100) | 0) + ((inYear / 400) | 0);
  const days = 365 * inYear + leapDays + daysBefore + two(json, start + 8) - 1 - DAYS_BEFORE_1970;
  return days * DAY + two(json, start + 11) * 3600 + two(json, start + 14) * 60 + two(json, start + 17);
}

/** Days from March 1 of the year 0. */
const DAYS_BEFORE_1970 = 719_468;

function year(json: Uint8Array, at: number): number {
  return two(json, at) * 100 + two(json, at + 2);
}

function two(json: Uint8Array, at: number): number {
  return json[at]! * 10 + json[at + 1]! - 11 * ZERO;
}
