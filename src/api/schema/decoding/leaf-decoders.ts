import type { Int64 } from '../../../base/json/exact-json.ts';
import { copyJson, isJsonObject } from '../../codec/json/json-value.ts';
import type { SpecialType } from '../../kinds/type-table.ts';
import { formatTime, parseTime } from '../../meta/time.ts';
import { normalizeQuantity, QuantityError } from '../../quantity.ts';
import { canonicalBase64 } from './base64.ts';
import type { DecodePosition } from './decode-problem.ts';
import { DecodeProblem, foundName, foundNumber } from './decode-problem.ts';

/** Checks a value that is neither null nor absent, and returns the form that Go prints. */
export type LeafDecoder = (value: unknown, position: DecodePosition) => unknown;

const INT32_MAX = 2_147_483_647;
const INT32_MIN = -2_147_483_648;

function decodeString(value: unknown, position: DecodePosition): string {
  if (typeof value !== 'string') throw position.mismatch(foundName(value), 'string');
  return value;
}

function decodeBool(value: unknown, position: DecodePosition): boolean {
  if (typeof value !== 'boolean') throw position.mismatch(foundName(value), 'bool');
  return value;
}

function decodeInt32(value: unknown, position: DecodePosition): number {
  if (typeof value === 'bigint') throw position.mismatch(foundNumber(value), 'int32');
  if (typeof value !== 'number') throw position.mismatch(foundName(value), 'int32');
  if (!Number.isInteger(value) || value > INT32_MAX || value < INT32_MIN) {
    throw position.mismatch(foundNumber(value), 'int32');
  }
  return value;
}

function decodeInt64(value: unknown, position: DecodePosition): Int64 {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number') throw position.mismatch(foundName(value), 'int64');
  if (!Number.isSafeInteger(value)) throw position.mismatch(foundNumber(value), 'int64');
  return value;
}

function decodeFloat(value: unknown, position: DecodePosition): number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw position.mismatch(foundName(value), 'float64');
  return value;
}

function decodeBytes(value: unknown, position: DecodePosition): string {
  if (typeof value !== 'string') throw position.mismatch(foundName(value), '[]uint8');
  const canonical = canonicalBase64(value);
  if (typeof canonical === 'number') throw new DecodeProblem(`illegal base64 data at input byte ${canonical}`);
  return canonical;
}

const SCALARS: Readonly<Record<string, LeafDecoder>> = {
  string: decodeString,
  bool: decodeBool,
  int32: decodeInt32,
  int64: decodeInt64,
  float64: decodeFloat,
  bytes: decodeBytes,
};

/** Undefined for a type that is not a scalar. */
export function scalarDecoder(type: string): LeafDecoder | undefined {
  return Object.hasOwn(SCALARS, type) ? SCALARS[type] : undefined;
}

const WHOLE_SECONDS_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

function epochOf(value: unknown, position: DecodePosition, goType: string): number {
  if (typeof value !== 'string') throw position.mismatch(foundName(value), goType);
  const epoch = parseTime(value);
  if (epoch === undefined) {
    const layout = '2006-01-02T15:04:05Z07:00';
    throw new DecodeProblem(`parsing time ${JSON.stringify(value)} as "${layout}": cannot parse it as "2006"`);
  }
  return epoch;
}

/** Seconds in UTC; fractions are truncated. */
function decodeTime(value: unknown, position: DecodePosition): string {
  const epoch = epochOf(value, position, 'v1.Time');
  return WHOLE_SECONDS_UTC.test(value as string) ? (value as string) : formatTime(epoch);
}

/** Six digits of fraction exceed the milliseconds of a JavaScript clock, so the digits are kept as text. */
function decodeMicroTime(value: unknown, position: DecodePosition): string {
  const epoch = epochOf(value, position, 'v1.MicroTime');
  const digits = /[.,](\d+)/.exec(value as string)?.[1] ?? '';
  return `${formatTime(epoch).slice(0, -1)}.${digits.slice(0, 6).padEnd(6, '0')}Z`;
}

/** Up to three digits with a suffix are always canonical, and most quantities have this form. */
const PLAIN_QUANTITY = /^[1-9]\d{0,2}(?:[mkMGTPE]|[KMGTPE]i)?$/;

function decodeQuantity(value: unknown, position: DecodePosition): string {
  if (typeof value === 'string' && PLAIN_QUANTITY.test(value)) return value;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    throw position.mismatch(foundName(value), 'resource.Quantity');
  }
  try {
    return normalizeQuantity(String(value).trim());
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeProblem(error.message);
    throw error;
  }
}

function decodeIntOrString(value: unknown, position: DecodePosition): string | number {
  return typeof value === 'string' ? value : decodeInt32(value, position);
}

/** Free JSON. `FieldsV1` and embedded objects must be objects, with any content. */
function decodeObject(value: unknown, position: DecodePosition): unknown {
  if (!isJsonObject(value)) throw position.mismatch(foundName(value), 'map[string]interface {}');
  return copyJson(value);
}

/** Decoders of the special types without an inner schema. */
export const SPECIAL_DECODERS: Readonly<Partial<Record<SpecialType, LeafDecoder>>> = {
  Time: decodeTime,
  MicroTime: decodeMicroTime,
  Quantity: decodeQuantity,
  IntOrString: decodeIntOrString,
  RawExtension: (value) => copyJson(value),
  FieldsV1: decodeObject,
  JSON: (value) => copyJson(value),
};
