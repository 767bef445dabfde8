/**
 * Amounts of resources: `100m`, `1.5Gi`, `12e6` (apimachinery `pkg/api/resource`). A quantity is an exact decimal number with its notation,
 * because Kubernetes keeps the notation when it writes the number again.
 */

/** `12e6`, `12Mi`, `12M`. */
export type QuantityFormat = 'DecimalExponent' | 'BinarySI' | 'DecimalSI';

export interface Quantity {
  /** The value is `unscaled * 10^scale`. */
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  /** The original text, where the API server keeps it although it is not canonical (`1.125`, `+5`). */
  readonly kept?: string;
}

/** Not a quantity; the message is upstream's. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC = 'unable to parse numeric part of quantity';
const SUFFIX = "unable to parse quantity's suffix";

/** Limits of computation, far beyond any resource: digits of the text, and of the exponent's value. */
const MAX_TEXT = 1024;
const MAX_EXPONENT = 1024;

/** Digits beyond nano are rounded away from zero. */
const NANO = -9;
const MAX_INT64 = 2n ** 63n - 1n;

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

interface Suffix {
  readonly format: QuantityFormat;
  /** Power of ten, or of two for BinarySI. */
  readonly exponent: number;
}

function interpretSuffix(text: string): Suffix {
  const decimal = DECIMAL_SUFFIXES.get(text);
  if (decimal !== undefined) return { format: 'DecimalSI', exponent: decimal };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary > 0) return { format: 'BinarySI', exponent: binary * 10 };
  if (!/^[eE][-+]?\d+$/.test(text)) throw new QuantityError(SUFFIX);
  const exponent = Number(text.slice(1));
  if (Math.abs(exponent) > MAX_EXPONENT) throw new QuantityError(NUMERIC);
  return { format: 'DecimalExponent', exponent };
}

const QUANTITY = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;

/** Throws {@link QuantityError}. */
export function parseQuantity(text: string): Quantity {
  if (text === '') throw new QuantityError(FORMAT_WRONG);
  if (text.length > MAX_TEXT) throw new QuantityError(NUMERIC);
  const match = QUANTITY.exec(text);
  if (match === null) throw new QuantityError(FORMAT_WRONG);
  const [, sign, digits = '', fraction = '', suffixText = ''] = match;
  const suffix = interpretSuffix(suffixText);
  const whole = digits === '' ? '0' : digits;
  const magnitude = BigInt(whole + fraction);
  const negative = sign === '-';
  const signed = (value: bigint): bigint => (negative ? -value : value);
  if (suffix.format === 'BinarySI') {
    const exact = round({ unscaled: magnitude << BigInt(suffix.exponent), scale: -fraction.length }, NANO);
    const capped = isAbove(exact, MAX_INT64) ? { unscaled: MAX_INT64, scale: 0 } : exact;
    const small = capped.unscaled > 0n && compareAmounts(capped, { unscaled: 1n, scale: 0 }) < 0;
    return {
      unscaled: signed(capped.unscaled),
      scale: capped.scale,
      format: small ? 'DecimalSI' : 'BinarySI',
      ...(keepsBinaryText(whole, fraction, suffix.exponent) ? { kept: text } : {}),
    };
  }
  const scale = suffix.exponent - fraction.length;
  const amount = round({ unscaled: magnitude, scale }, NANO);
  return {
    unscaled: signed(amount.unscaled),
    scale: amount.scale,
    format: suffix.format,
    ...(keepsDecimalText(whole, fraction, scale) ? { kept: text } : {}),
  };
}

/**
 * The API server keeps a text that looks canonical: few digits, an exponent that is a multiple of three, no trailing zeros. This quick
 * check accepts a few other texts (`1.125` is canonically `1125m`), and clients receive them unchanged.
 */
function keepsDecimalText(whole: string, fraction: string, scale: number): boolean {
  const shifted = whole + fraction;
  return (
    shifted.length <= 18 && scale >= NANO && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
  );
}

function keepsBinaryText(whole: string, fraction: string, exponent: number): boolean {
  return fraction === '' && 14 - whole.length - Math.trunc((exponent * 3) / 10) >= 0 && (BigInt(whole) & 7n) !== 0n;
}

interface Amount {
  readonly unscaled: bigint;
  readonly scale: number;
}

/** Rounds away from zero, so that no digits below `scale` remain. */
function round(amount: Amount, scale: number): Amount {
  if (amount.scale >= scale) return amount;
  const divisor = 10n ** BigInt(scale - amount.scale);
  const quotient = amount.unscaled / divisor;
  const rest = amount.unscaled % divisor;
  const away = rest === 0n ? 0n : rest > 0n ? 1n : -1n;
  return { unscaled: quotient + away, scale };
}

function isAbove(amount: Amount, limit: bigint): boolean {
  return compareAmounts(amount, { unscaled: limit, scale: 0 }) > 0;
}

function compareAmounts(a: Amount, b: Amount): number {
  const scale = Math.min(a.scale, b.scale);
  const left = a.unscaled * 10n ** BigInt(a.scale - scale);
  const right = b.unscaled * 10n ** BigInt(b.scale - scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares the values, whatever the notation: negative, zero or positive. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return compareAmounts(a, b);
}

/** The sum in the notation of the first operand, or of the second if the first is zero, because zero has no notation. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  const unscaled = a.unscaled * 10n ** BigInt(a.scale - scale) + b.unscaled * 10n ** BigInt(b.scale - scale);
  return { unscaled, scale, format: a.unscaled === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, unscaled: -b.unscaled });
}

/** The text that the API server writes. */
export function formatQuantity(quantity: Quantity): string {
  return quantity.kept ?? canonicalText(quantity);
}

/**
 * The canonical text: no fraction, the greatest exact suffix, and binary suffixes only for whole numbers from 1024 on. Beyond `E` it has
 * more digits, where upstream would lose the suffix.
 */
export function canonicalText(quantity: Quantity): string {
  if (quantity.unscaled === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const whole = wholeNumber(quantity);
    if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return binaryText(whole);
  }
  return decimalText(quantity, quantity.format === 'DecimalExponent' ? 'DecimalExponent' : 'DecimalSI');
}

/** Undefined if the value has a fraction. */
function wholeNumber({ unscaled, scale }: Amount): bigint | undefined {
  if (scale >= 0) return unscaled * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(-scale);
  return unscaled % divisor === 0n ? unscaled / divisor : undefined;
}

function binaryText(value: bigint): string {
  let rest = value;
  let power = 0;
  while (rest % 1024n === 0n && power < BINARY_SUFFIXES.length - 1) {
    rest /= 1024n;
    power += 1;
  }
  return `${rest}${BINARY_SUFFIXES[power]!}`;
}

function decimalText(amount: Amount, format: 'DecimalSI' | 'DecimalExponent'): string {
  let { unscaled, scale } = amount;
  while (unscaled % 10n === 0n) {
    unscaled /= 10n;
    scale += 1;
  }
  const greatest = format === 'DecimalSI' ? 18 : Number.POSITIVE_INFINITY;
  const exponent = Math.min(Math.floor(scale / 3) * 3, greatest);
  unscaled *= 10n ** BigInt(scale - exponent);
  if (format === 'DecimalExponent') return exponent === 0 ? `${unscaled}` : `${unscaled}e${exponent}`;
  for (const [suffix, value] of DECIMAL_SUFFIXES) if (value === exponent) return `${unscaled}${suffix}`;
  // Values are whole nanos, so the exponent is never below the exponent of `n`.
  throw new RangeError(`no suffix for 10^${exponent}`);
}

/** Rounds away from zero to thousandths, as for requests and limits. Keeps the text if nothing changes. */
export function roundUpToMilli(quantity: Quantity): Quantity {
  if (quantity.scale >= -3) return quantity;
  const { unscaled, scale } = round(quantity, -3);
  return { unscaled, scale, format: quantity.format };
}

/** The text that the API server stores for a client's text. Throws {@link QuantityError}. */
export function normalizeQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/** The value as a double, which may lose precision. */
export function quantityAsNumber({ unscaled, scale }: Quantity): number {
  return Number(`${unscaled}e${scale}`);
}
