/** Names of time zones in CronJobs. The texts are part of the protocol (upstream `validateTimeZone`). */

const PART = /^[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}$/;

/** Undefined for a name that is in this runtime's time zone database. */
export function timeZoneProblem(name: string): string | undefined {
  if (name === '') return 'timeZone must be nil or non-empty string';
  const unknown = `unknown time zone ${name}`;
  if (!name.split('/').every((part) => part !== '.' && part !== '..' && PART.test(part))) return unknown;
  if (name.toLowerCase() === 'local') {
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  }
  return /^[A-Za-z]/.test(name) && isKnown(name) ? undefined : unknown;
}

function isKnown(name: string): boolean {
  // Most CronJobs have no other, and a format takes long to make.
  if (name === 'UTC') return true;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
