import { describe, expect, it } from 'vitest';
import { parseSchedule } from './schedule.ts';
import { formatZoned } from './zoned-time.ts';

function runs(text: string, from: string, count: number, zone?: string): string[] {
  const parsed = parseSchedule(text, zone);
  if ('problem' in parsed) throw new Error(parsed.message);
  const times: string[] = [];
  let at: number | undefined = Date.parse(from);
  for (let run = 0; run < count && at !== undefined; run++) {
    at = parsed.schedule.next(at);
    if (at !== undefined) times.push(formatZoned(at, parsed.zone));
  }
  return times;
}

describe('LIFE-407 schedules', () => {
  it.each<[string, string, string[]]>([
    ['* * * * *', '2026-01-01T00:00:00Z', ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z']],
    ['*/15 * * * ?', '2026-01-01T00:50:01Z', ['2026-01-01T01:00:00Z', '2026-01-01T01:15:00Z']],
    ['30 9-11/2 * * mon-fri', '2026-01-02T10:00:00Z', ['2026-01-02T11:30:00Z', '2026-01-05T09:30:00Z']],
    ['0 0 13 * 5', '2026-02-01T00:00:00Z', ['2026-02-06T00:00:00Z', '2026-02-13T00:00:00Z', '2026-02-20T00:00:00Z']],
    ['0 0 13 * *', '2026-02-01T00:00:00Z', ['2026-02-13T00:00:00Z', '2026-03-13T00:00:00Z']],
    ['0 12 29 feb *', '2026-01-01T00:00:00Z', ['2028-02-29T12:00:00Z']],
    ['@hourly', '2026-01-01T00:30:00Z', ['2026-01-01T01:00:00Z']],
    ['@daily', '2026-01-01T00:30:00Z', ['2026-01-02T00:00:00Z']],
    ['@weekly', '2026-01-01T00:30:00Z', ['2026-01-04T00:00:00Z']],
    ['@monthly', '2026-01-01T00:30:00Z', ['2026-02-01T00:00:00Z']],
    ['@yearly', '2026-01-01T00:30:00Z', ['2027-01-01T00:00:00Z']],
    ['@every 90s', '2026-01-01T00:00:00.5Z', ['2026-01-01T00:01:30Z', '2026-01-01T00:03:00Z']],
    ['CRON_TZ=Asia/Tokyo 0 9 * * *', '2026-01-01T00:00:00Z', ['2026-01-02T09:00:00+09:00']],
  ])('%s after %s: %j', (text, from, want) => {
    expect(runs(text, from, want.length)).toEqual(want);
  });

  it('LIFE-407 keep to the clock of their zone when it changes', () => {
    expect(runs('0 3 * * *', '2026-03-28T12:00:00Z', 2, 'Europe/Berlin')).toEqual([
      '2026-03-29T03:00:00+02:00',
      '2026-03-30T03:00:00+02:00',
    ]);
    expect(runs('30 2 * * *', '2026-03-28T12:00:00Z', 1, 'Europe/Berlin')).toEqual(['2026-03-30T02:30:00+02:00']);
    expect(runs('30 2 * * *', '2026-10-24T12:00:00Z', 3, 'Europe/Berlin')).toEqual([
      '2026-10-25T02:30:00+02:00',
      '2026-10-25T02:30:00+01:00',
      '2026-10-26T02:30:00+01:00',
    ]);
    expect(runs('0 0 * * *', '2026-03-28T12:00:00Z', 2, 'Asia/Beirut')).toEqual([
      '2026-03-30T00:00:00+03:00',
      '2026-03-31T00:00:00+03:00',
    ]);
  });

  it('LIFE-407 may never come', () => {
    expect(runs('0 0 30 2 *', '2026-01-01T00:00:00Z', 1)).toEqual([]);
  });

  it('LIFE-407 say what is wrong with them', () => {
    expect(parseSchedule('* * * *', undefined)).toEqual({
      problem: 'schedule',
      message: 'expected exactly 5 fields, found 4: [* * * *]',
    });
    expect(parseSchedule('* * * * *', 'Mars/Olympus')).toEqual({
      problem: 'timeZone',
      message: 'unknown time zone Mars/Olympus',
    });
  });
});
