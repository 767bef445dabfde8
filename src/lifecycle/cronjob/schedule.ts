import { parseGoDuration } from '../../api/meta/duration.ts';
import { cronProblem } from '../../api/validation/cron-schedule.ts';
import { timeZoneProblem } from '../../api/validation/time-zone.ts';
import { zonedTime } from './zoned-time.ts';

/** The schedule of a CronJob, parsed like robfig/cron v3. */
export interface Schedule {
  /** The first time after the given one, epoch ms; undefined if there is none within five years. */
  next(afterMs: number): number | undefined;
}

type ParsedSchedule =
  | { readonly schedule: Schedule; readonly zone: string }
  | { readonly problem: 'timeZone' | 'schedule'; readonly message: string };

const MINUTE = 60_000;
const YEARS = 5;
const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** True if the schedule begins with `TZ=` or `CRON_TZ=`, which works but is not supported. */
export function hasOwnZone(text: string): boolean {
  return /TZ=/.test(text);
}

/** @param timeZone `spec.timeZone`; default UTC, because the server's zone is arbitrary */
export function parseSchedule(text: string, timeZone: string | undefined): ParsedSchedule {
  if (timeZone !== undefined) {
    const problem = timeZoneProblem(timeZone);
    if (problem !== undefined) return { problem: 'timeZone', message: problem };
  }
  const message = cronProblem(text);
  if (message !== undefined) return { problem: 'schedule', message };
  const own = /^(?:TZ|CRON_TZ)=(\S*) /.exec(text);
  const zone = timeZone ?? own?.[1] ?? 'UTC';
  const inZone = timeZoneProblem(zone);
  if (inZone !== undefined) return { problem: 'schedule', message: `provided bad location ${zone}: ${inZone}` };
  const plain = (own === null ? text : text.slice(own[0].length)).trim();
  if (plain.startsWith('@every ')) return { schedule: every(plain.slice('@every '.length)), zone };
  return { schedule: fields(DESCRIPTORS[plain] ?? plain, zone), zone };
}

/** Whole seconds, at least one. */
function every(text: string): Schedule {
  const delay = Math.max(1000, Math.floor((parseGoDuration(text) ?? 1000) / 1000) * 1000);
  return { next: (after) => Math.floor(after / 1000) * 1000 + delay };
}

function fields(text: string, zone: string): Schedule {
  const [minutes = '*', hours = '*', days = '*', months = '*', weekdays = '*'] = text.split(/\s+/);
  const minuteSet = numbersOf(minutes, 0, 59);
  const hourSet = numbersOf(hours, 0, 23);
  const daySet = numbersOf(days, 1, 31);
  const monthSet = numbersOf(months, 1, 12, MONTHS);
  const weekdaySet = numbersOf(weekdays, 0, 6, DAYS);
  const anyDay = isStar(days) || isStar(weekdays);
  const dayFits = (day: number, weekday: number): boolean =>
    anyDay ? daySet.has(day) && weekdaySet.has(weekday) : daySet.has(day) || weekdaySet.has(weekday);
  return {
    next(after) {
      let at = (Math.floor(after / MINUTE) + 1) * MINUTE;
      const lastYear = zonedTime(at, zone).year + YEARS;
      for (;;) {
        const { year, month, day, hour, minute, weekday } = zonedTime(at, zone);
        if (year > lastYear) return undefined;
        if (!monthSet.has(month) || !dayFits(day, weekday)) at = nextDay(at, zone);
        else if (!hourSet.has(hour)) at += (60 - minute) * MINUTE;
        else if (minuteSet.has(minute)) return at;
        else at += MINUTE;
      }
    },
  };
}

/** The first moment of the next day of the zone, which may have 23 or 25 hours. */
function nextDay(at: number, zone: string): number {
  const { day, hour, minute } = zonedTime(at, zone);
  let next = at + ((24 - hour) * 60 - minute) * MINUTE;
  const there = zonedTime(next, zone);
  if (there.day === day) return next;
  const back = next - (there.hour * 60 + there.minute) * MINUTE;
  if (zonedTime(back, zone).day === there.day) next = back;
  return next;
}

function isStar(text: string): boolean {
  return text.split(',').some((part) => /^[*?](\/1)?$/.test(part) || /^[*?]\//.test(part));
}

function numbersOf(text: string, min: number, max: number, names: readonly string[] = []): ReadonlySet<number> {
  const numbers = new Set<number>();
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    return named === -1 ? Number(word) : named + min;
  };
  for (const part of text.split(',')) {
    if (part === '') continue;
    const [bounds = '*', stepText] = part.split('/');
    const [from = '*', to] = bounds.split('-');
    const all = from === '*' || from === '?';
    const low = all ? min : numberOf(from);
    const high = all ? max : to === undefined ? (stepText === undefined ? low : max) : numberOf(to);
    const step = stepText === undefined ? 1 : Number(stepText);
    for (let number = low; number <= high; number += step) numbers.add(number);
  }
  return numbers;
}
