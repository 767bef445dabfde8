import { CelEvaluationError } from '../cel-error.ts';
import { formatDuration, formatTimestamp } from '../cel-time.ts';
import {
  CelDuration,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  runtimeTypeName,
} from '../cel-value.ts';
import { formatDouble } from './number-format.ts';

const CLAUSE = /%(?:%|(?:\.(\d+))?([A-Za-z])|(.?))/gsu;
const DEFAULT_PRECISION = 6;
/** Digits beyond the precision of a double are all zero. */
const MAX_PRECISION = 100;

/** `'%s has %d'.format([name, 3])` (cel-go `ext/formatting.go`). `limit` is the maximum number of characters of the result. */
export function formatText(pattern: string, args: CelList, limit: number): string {
  let next = 0;
  let length = 0;
  const text = pattern.replaceAll(CLAUSE, (clause: string, precision: string | undefined, verb: string | undefined) => {
    if (clause === '%%') return '%';
    if (verb === undefined) {
      throw new CelEvaluationError(
        `could not parse formatting clause: unrecognized formatting clause "${clause.slice(1)}"`,
      );
    }
    if (next >= args.size) throw new CelEvaluationError(`index ${next} out of range`);
    const part = formatClause(verb, args.at(next++), precision === undefined ? undefined : Number(precision));
    length += part.length;
    if (length > limit) throw new CelEvaluationError(`result of more than ${limit} characters`);
    return part;
  });
  return text;
}

function formatClause(verb: string, value: CelValue, precision: number | undefined): string {
  if (precision !== undefined && precision > MAX_PRECISION) {
    throw new CelEvaluationError(`could not parse formatting clause: precision ${precision} exceeds ${MAX_PRECISION}`);
  }
  switch (verb) {
    case 's':
      return plain(value);
    case 'd':
      return decimal(value);
    case 'f':
      return real(value, { verb, wants: 'fixed-point clause can only be used on doubles' }).toFixedText(
        precision ?? DEFAULT_PRECISION,
      );
    case 'e':
      return real(value, { verb, wants: 'scientific clause can only be used on doubles' }).toScientificText(
        precision ?? DEFAULT_PRECISION,
      );
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return integer(value, 'only integers and bools can be formatted as binary').toString(2);
    case 'o':
      return integer(value, 'octal clause can only be used on integers').toString(8);
    case 'x':
    case 'X': {
      const text = hexadecimal(value);
      return verb === 'X' ? text.toUpperCase() : text;
    }
    default:
      throw new CelEvaluationError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function wrong(detail: string, value: CelValue): CelEvaluationError {
  return new CelEvaluationError(`error during formatting: ${detail}, was given ${runtimeTypeName(value)}`);
}

/** Formats a value for `%s`. */
function plain(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return formatDouble(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelList) return `[${[...value].map(nested).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => `${nested(key)}:${nested(value.get(key) ?? null)}`);
    return `{${entries.toSorted().join(', ')}}`;
  }
  throw wrong(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

/** Inside lists and maps, values are printed as CEL literals. */
function nested(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `b${JSON.stringify(plain(value))}`;
  if (value instanceof CelTimestamp) return `timestamp(${JSON.stringify(plain(value))})`;
  if (value instanceof CelDuration) return `duration(${JSON.stringify(plain(value))})`;
  if (typeof value === 'number' && Number.isFinite(value)) return value.toFixed(DEFAULT_PRECISION);
  if (typeof value === 'number') return JSON.stringify(formatDouble(value));
  return plain(value);
}

function decimal(value: CelValue): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof CelUint) return String(value.value);
  throw wrong('decimal clause can only be used on integers', value);
}

function integer(value: CelValue, wants: string): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return value.value;
  throw wrong(wants, value);
}

function hexadecimal(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return integer(value, 'only integers, byte buffers, and strings can be formatted as hex').toString(16);
}

interface Real {
  toFixedText(precision: number): string;
  toScientificText(precision: number): string;
}

const SPECIAL: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity };

function real(value: CelValue, { wants }: { readonly verb: string; readonly wants: string }): Real {
  const number = typeof value === 'string' ? SPECIAL[value] : value;
  if (typeof number !== 'number') throw wrong(wants, value);
  if (!Number.isFinite(number)) {
    const text = Number.isNaN(number) ? 'NaN' : number > 0 ? '∞' : '-∞';
    return { toFixedText: () => text, toScientificText: () => text };
  }
  return {
    // Upstream formats in the locale en-US.
    toFixedText: (precision) =>
      number.toFixed(precision).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ',')),
    toScientificText(precision) {
      const [digits = '', exponent = '0'] = number.toExponential(precision).split('e');
      return `${digits}×10${superscript(Number(exponent))}`;
    },
  };
}

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** At least two digits: `⁰⁴`. */
function superscript(exponent: number): string {
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${exponent < 0 ? '⁻' : ''}${[...digits].map((digit) => RAISED[Number(digit)]).join('')}`;
}
