import { ZERO } from './json-cursor.ts';

const LENGTH = '2026-11-21T15:04:05Z'.length;
const DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18] as const;
const LETTER_Z = 0x5a;
const DAY = 86_400;

/** Whether the text is a time as API servers write it. The year 1, which is how Go writes no time at all, is none here. */
export function isJsonTime(json: Uint8Array, start: number, end: number): boolean {
  if (end - start !== LENGTH || json[end - 1] !== LETTER_Z) return false;
  for (const at of DIGITS) {
    const digit = json[start + at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return false;
  }
  return digits(json, start, 4) >= 1970;
}

/** Seconds since 1970 of the time that begins at `start`. */
export function secondsOfJsonTime(json: Uint8Array, start: number): number {
  const month = digits(json, start + 5, 2);
  // Years that begin in March have their leap day at the end, so a month's days before it do not depend on the year.
  const year = digits(json, start, 4) - (month <= 2 ? 1 : 0);
  const daysBefore = ((153 * (month + (month <= 2 ? 9 : -3)) + 2) / 5) | 0;
  const leapDays = ((year / 4) | 0) - ((year / 100) | 0) + ((year / 400) | 0);
  const days = 365 * year + leapDays + daysBefore + digits(json, start + 8, 2) - 1 - DAYS_BEFORE_1970;
  const inDay = digits(json, start + 11, 2) * 3600 + digits(json, start + 14, 2) * 60 + digits(json, start + 17, 2);
  return days * DAY + inDay;
}

/** From the first of March of the year 0. */
const DAYS_BEFORE_1970 = 719_468;

function digits(json: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) value = value * 10 + (json[i]! - ZERO);
  return value;
}
