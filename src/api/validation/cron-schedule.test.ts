import { describe, expect, it } from 'vitest';

import { cronProblem } from './cron-schedule.ts';
import { timeZoneProblem } from './time-zone.ts';

describe('schedules', () => {
  it.each([
    '* * * * *',
    '0 0 1 1 0',
    '*/15 0-5,22-23 ? jan-MAR Sun',
    '5/10 * * * *',
    ' 0  0 * * * ',
    '1,,2 * * * *',
    '@hourly',
    '@every 5m',
  ])('API-502 %j is one', (schedule) => {
    expect(cronProblem(schedule)).toBeUndefined();
  });

  it.each([
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['* * * foo *', 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'],
    ['@never', 'unrecognized descriptor: @never'],
    ['@every week', 'failed to parse duration @every week: time: invalid duration "week"'],
  ])('API-502 %j is none', (schedule, problem) => {
    expect(cronProblem(schedule)).toBe(problem);
  });
});

describe('time zones', () => {
  it.each(['UTC', 'Etc/UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'US/Eastern'])(
    'API-502 %s is one',
    (name) => {
      expect(timeZoneProblem(name)).toBeUndefined();
    },
  );

  it.each([
    ['', 'timeZone must be nil or non-empty string'],
    ['Europe/Atlantis', 'unknown time zone Europe/Atlantis'],
    ['+01:00', 'unknown time zone +01:00'],
    ['+01', 'unknown time zone +01'],
    ['../etc', 'unknown time zone ../etc'],
    ['-x', 'unknown time zone -x'],
    ['local', 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'],
  ])('API-502 %j is none', (name, problem) => {
    expect(timeZoneProblem(name)).toBe(problem);
  });
});
