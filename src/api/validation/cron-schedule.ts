/** Schedules of CronJobs, by the grammar and with the messages of robfig/cron. */

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const MONTHS = ['', 'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: readonly Field[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const DURATION = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;

/** Stops at the first problem. */
class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** The problem of a schedule; undefined for a valid one. */
export function cronProblem(schedule: string): string | undefined {
  try {
    checkSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function checkSchedule(schedule: string): void {
  const text = schedule.replace(/^(?:TZ|CRON_TZ)=\S* /, '').trim();
  if (text.startsWith('@')) {
    checkDescriptor(text);
    return;
  }
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    throw new ScheduleError(`expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  for (const [index, field] of FIELDS.entries()) {
    for (const range of fields[index]!.split(',')) if (range !== '') checkRange(range, field);
  }
}

function checkDescriptor(text: string): void {
  if (DESCRIPTORS.has(text)) return;
  if (!text.startsWith('@every ')) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const duration = text.slice('@every '.length);
  if (DURATION.test(duration)) return;
  throw new ScheduleError(`failed to parse duration ${text}: time: invalid duration "${duration}"`);
}

/** `*`, `5`, `1-5`, `*\/10`, `2-20/3`. */
function checkRange(text: string, field: Field): void {
  const [bounds = '', ...steps] = text.split('/');
  const ends = bounds.split('-');
  let [low, high] = [field.min, field.max];
  if (ends[0] !== '*' && ends[0] !== '?') {
    low = numberOf(ends[0] ?? '', field);
    high = ends.length === 2 ? numberOf(ends[1] ?? '', field) : low;
    if (ends.length > 2) throw new ScheduleError(`too many hyphens: ${text}`);
  }
  if (steps.length > 1) throw new ScheduleError(`too many slashes: ${text}`);
  const step = steps[0] === undefined ? 1 : wholeNumber(steps[0]);
  if (steps.length === 1 && ends.length === 1) high = field.max;
  if (low < field.min) {
    throw new ScheduleError(`beginning of range (${low}) below minimum (${field.min}): ${text}`);
  }
  if (high > field.max) throw new ScheduleError(`end of range (${high}) above maximum (${field.max}): ${text}`);
  if (low > high) throw new ScheduleError(`beginning of range (${low}) beyond end of range (${high}): ${text}`);
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

function numberOf(text: string, { names }: Field): number {
  const index = text === '' ? -1 : names.indexOf(text.toLowerCase());
  return index === -1 ? wholeNumber(text) : index;
}

function wholeNumber(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) {
    throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing "${text}": invalid syntax`);
  }
  const value = Number(text);
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}
