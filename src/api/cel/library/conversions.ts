import { traversalCost } from '../call-cost.ts';
import type { CallCost } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { readDigits } from '../decimal-digits.ts';
import { formatDuration, formatTimestamp, parseGoDuration, parseTimestamp } from '../cel-time.ts';
import { type CelType, celTypes, listOf, mapOf, typeName, typeParameter } from '../cel-type.ts';
import {
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  checkedInt,
  runtimeTypeName,
  textSize,
} from '../cel-value.ts';
import { type CelFunctions, type CelOverload, member, overload } from '../function-declaration.ts';
import { scale } from '../size-estimate.ts';
import { formatDouble } from './number-format.ts';

const { bool, bytes, double, duration, int, string, timestamp, uint } = celTypes;
const A = typeParameter('A');
const B = typeParameter('B');

function conversion(
  [id, from, to]: readonly [string, CelType, CelType],
  convert: (value: CelValue) => CelValue | undefined,
  cost?: CallCost,
): CelOverload {
  const signature = { args: [from], result: to, ...(cost === undefined ? {} : { cost }) };
  return overload(id, signature, (value = null) => {
    const converted = convert(value);
    if (converted !== undefined) return converted;
    throw new CelEvaluationError(`type conversion error from '${runtimeTypeName(value)}' to '${typeName(to)}'`);
  });
}

const same = (value: CelValue): CelValue => value;

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'true', 'TRUE', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'false', 'FALSE', 'False']);

function toBool(value: CelValue): boolean | undefined {
  if (typeof value !== 'string') return undefined;
  return TRUE.has(value) ? true : FALSE.has(value) ? false : undefined;
}

/** Parses decimal texts, truncates fractions, and converts times to seconds and durations to nanoseconds. */
function toInt(value: CelValue): bigint | undefined {
  if (typeof value === 'string') {
    const [, sign = '', digits] = /^([+-]?)(\d+)$/.exec(value) ?? [];
    const size = digits === undefined ? undefined : readDigits(digits);
    return size === undefined ? undefined : inRange(sign === '-' ? -size : size);
  }
  if (typeof value === 'number') return checkedInt(whole(value, 'integer overflow'));
  if (value instanceof CelUint) return checkedInt(value.value);
  if (value instanceof CelDuration) return value.nanos;
  if (value instanceof CelTimestamp) {
    const { nanos } = value;
    const seconds = nanos / 1_000_000_000n;
    return nanos < 0n && nanos % 1_000_000_000n !== 0n ? seconds - 1n : seconds;
  }
  return undefined;
}

function inRange(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function whole(value: number, problem: string): bigint {
  if (!Number.isFinite(value)) throw new CelEvaluationError(problem);
  return BigInt(Math.trunc(value));
}

function toUint(value: CelValue): CelUint | undefined {
  if (typeof value === 'string') {
    const size = /^\d+$/.test(value) ? readDigits(value) : undefined;
    return size === undefined || BigInt.asUintN(64, size) !== size ? undefined : new CelUint(size);
  }
  if (typeof value === 'number') return new CelUint(whole(value, 'unsigned integer overflow'));
  return typeof value === 'bigint' ? new CelUint(value) : undefined;
}

function toDouble(value: CelValue): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== 'string') return undefined;
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) {
    const number = Number(value);
    return Number.isFinite(number) ? number : undefined;
  }
  const special = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(value);
  if (special === null) return undefined;
  if (special[2]?.toLowerCase() === 'nan') return Number.NaN;
  return special[1] === '-' ? -Infinity : Infinity;
}

function toText(value: CelValue): string | undefined {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return formatDouble(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (!(value instanceof Uint8Array)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CelEvaluationError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

const textToBytes: CallCost = {
  ...traversalCost(),
  estimate: ([text]) => ({
    ...traversalCost().estimate(text === undefined ? [] : [text]),
    ...(text?.size === undefined ? {} : { resultSize: { min: text.size.min, max: scale(text.size, 4).max } }),
  }),
};

const bytesToText: CallCost = {
  ...traversalCost(),
  estimate: ([data]) => ({
    ...traversalCost().estimate(data === undefined ? [] : [data]),
    ...(data?.size === undefined ? {} : { resultSize: { min: Math.floor(data.size.min / 4), max: data.size.max } }),
  }),
};

const conversionFunctions: CelFunctions = {
  bool: [conversion(['bool_to_bool', bool, bool], same), conversion(['string_to_bool', string, bool], toBool)],
  bytes: [
    conversion(['bytes_to_bytes', bytes, bytes], same),
    conversion(
      ['string_to_bytes', string, bytes],
      (value) => (typeof value === 'string' ? new TextEncoder().encode(value) : undefined),
      textToBytes,
    ),
  ],
  double: [
    conversion(['double_to_double', double, double], same),
    conversion(['int64_to_double', int, double], toDouble),
    conversion(['string_to_double', string, double], toDouble),
    conversion(['uint64_to_double', uint, double], toDouble),
  ],
  duration: [
    conversion(['duration_to_duration', duration, duration], same),
    conversion(['string_to_duration', string, duration], (value) =>
      typeof value === 'string' ? parseGoDuration(value) : undefined,
    ),
  ],
  int: [
    conversion(['int64_to_int64', int, int], same),
    conversion(['double_to_int64', double, int], toInt),
    conversion(['duration_to_int64', duration, int], toInt),
    conversion(['string_to_int64', string, int], toInt),
    conversion(['timestamp_to_int64', timestamp, int], toInt),
    conversion(['uint64_to_int64', uint, int], toInt),
  ],
  string: [
    conversion(['string_to_string', string, string], same),
    conversion(['bool_to_string', bool, string], toText),
    conversion(['bytes_to_string', bytes, string], toText, bytesToText),
    conversion(['double_to_string', double, string], toText),
    conversion(['duration_to_string', duration, string], toText),
    conversion(['int64_to_string', int, string], toText),
    conversion(['timestamp_to_string', timestamp, string], toText),
    conversion(['uint64_to_string', uint, string], toText),
  ],
  timestamp: [
    conversion(['timestamp_to_timestamp', timestamp, timestamp], same),
    conversion(['int64_to_timestamp', int, timestamp], (value) =>
      typeof value === 'bigint' ? new CelTimestamp(value * 1_000_000_000n) : undefined,
    ),
    conversion(['string_to_timestamp', string, timestamp], (value) =>
      typeof value === 'string' ? parseTimestamp(value) : undefined,
    ),
  ],
  uint: [
    conversion(['uint64_to_uint64', uint, uint], same),
    conversion(['double_to_uint64', double, uint], toUint),
    conversion(['int64_to_uint64', int, uint], toUint),
    conversion(['string_to_uint64', string, uint], toUint),
  ],
  type: [
    overload(
      'type',
      { args: [A], result: { kind: 'type', parameter: A } },
      (value = null) => new CelTypeValue(runtimeTypeName(value)),
    ),
  ],
};

function size(value: CelValue): bigint {
  if (typeof value === 'string') return BigInt(textSize(value));
  if (value instanceof Uint8Array) return BigInt(value.length);
  if (value instanceof CelList || value instanceof CelMap) return BigInt(value.size);
  throw noSuchOverload();
}

const SIZED = { bytes, list: listOf(A), map: mapOf(A, B), string } as const;

const sizes: CelFunctions = {
  size: Object.entries(SIZED).flatMap(([name, type]) => [
    overload(`size_${name}`, { args: [type], result: int }, (value = null) => size(value)),
    member(`${name}_size`, { args: [type], result: int }, (value = null) => size(value)),
  ]),
};

export const conversions: readonly CelFunctions[] = [conversionFunctions, sizes];
