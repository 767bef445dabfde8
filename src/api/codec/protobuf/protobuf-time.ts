import { formatTime, parseTime } from '../../meta/time.ts';
import { ProtobufError } from './protobuf-wire.ts';

/** First second of the year 1, Go's zero time, which JSON shows as null. */
export const ZERO_TIME_SECONDS = -62_135_596_800;
const LAST_SECONDS = 253_402_300_799;

const FRACTION = /[.,](\d{1,6})/;

/** A point in time in protobuf form. Nanos always count forward. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

export function timestampOf(text: string): Timestamp {
  const epochMs = parseTime(text);
  if (epochMs === undefined) throw new ProtobufError(`${JSON.stringify(text)} is no RFC 3339 time`);
  const seconds = Math.floor(epochMs / 1000);
  checkRange(seconds);
  const fraction = FRACTION.exec(text)?.[1];
  return { seconds, nanos: fraction === undefined ? 0 : Number(fraction.padEnd(6, '0')) * 1000 };
}

/** Null for the zero time. */
export function timeText(seconds: number): string | null {
  if (seconds === ZERO_TIME_SECONDS) return null;
  checkRange(seconds);
  return formatTime(seconds * 1000);
}

/** Six digits of fraction; the remaining `nanos` are truncated. */
export function microTimeText(seconds: number, nanos: number): string | null {
  if (nanos < 0 || nanos > 999_999_999) throw new ProtobufError(`${nanos} nanoseconds are out of range`);
  const micros = Math.floor(nanos / 1000);
  if (micros === 0 && seconds === ZERO_TIME_SECONDS) return null;
  checkRange(seconds);
  return `${formatTime(seconds * 1000).slice(0, -1)}.${String(micros).padStart(6, '0')}Z`;
}

function checkRange(seconds: number): void {
  if (seconds < ZERO_TIME_SECONDS || seconds > LAST_SECONDS) throw new ProtobufError(`time ${seconds} is out of range`);
}
