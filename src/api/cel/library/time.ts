import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type TimeParts, timeParts } from '../cel-time.ts';
import { celTypes } from '../cel-type.ts';
import { asText, CelDuration, CelTimestamp, type CelValue } from '../cel-value.ts';
import { type CelFunctions, type CelOverload, member } from '../function-declaration.ts';

const { duration, int, string, timestamp } = celTypes;

function partsOf(value: CelValue, zone: string): TimeParts {
  if (!(value instanceof CelTimestamp)) throw noSuchOverload();
  const parts = timeParts(value, zone);
  if (parts === undefined) throw new CelEvaluationError(`unknown time zone ${zone}`);
  return parts;
}

/** `t.getHours()` in UTC, `t.getHours('Europe/Berlin')` in that zone. */
function getter(id: string, read: (parts: TimeParts) => number): readonly CelOverload[] {
  return [
    member(`timestamp_to_${id}`, { args: [timestamp], result: int }, (value = null) =>
      BigInt(read(partsOf(value, 'UTC'))),
    ),
    member(`timestamp_to_${id}_with_tz`, { args: [timestamp, string], result: int }, (value = null, zone = null) =>
      BigInt(read(partsOf(value, asText(zone)))),
    ),
  ];
}

function inUnits(id: string, nanos: bigint): CelOverload {
  return member(`duration_to_${id}`, { args: [duration], result: int }, (value = null) => {
    if (!(value instanceof CelDuration)) throw noSuchOverload();
    return value.nanos / nanos;
  });
}

/** Getters of times and durations of the standard library. */
export const time: CelFunctions = {
  getFullYear: getter('year', ({ year }) => year),
  getMonth: getter('month', ({ month }) => month),
  getDayOfYear: getter('day_of_year', ({ dayOfYear }) => dayOfYear),
  getDate: getter('day_of_month_1_based', ({ date }) => date),
  getDayOfMonth: getter('day_of_month', ({ date }) => date - 1),
  getDayOfWeek: getter('day_of_week', ({ dayOfWeek }) => dayOfWeek),
  getHours: [...getter('hours', ({ hours }) => hours), inUnits('hours', 3_600_000_000_000n)],
  getMinutes: [...getter('minutes', ({ minutes }) => minutes), inUnits('minutes', 60_000_000_000n)],
  getSeconds: [...getter('seconds', ({ seconds }) => seconds), inUnits('seconds', 1_000_000_000n)],
  getMilliseconds: [
    ...getter('milliseconds', ({ milliseconds }) => milliseconds),
    member('duration_to_milliseconds', { args: [duration], result: int }, (value = null) => {
      if (!(value instanceof CelDuration)) throw noSuchOverload();
      return value.nanos / 1_000_000n;
    }),
  ],
};
