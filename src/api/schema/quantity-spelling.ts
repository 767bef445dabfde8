/**
 * The one spelling of a quantity that Go prints (apimachinery `pkg/api/resource`): the largest suffix that leaves a whole
 * number, in the family of suffixes the text used. Values finer than a billionth are rounded up, values beyond 63 bits cut.
 */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE])i|([numkMGTPE])|[eE]([+-]?\d{1,4}))?$/;

const BINARY_POWER = { K: 1, M: 2, G: 3, T: 4, P: 5, E: 6 } as const;
const DECIMAL_EXPONENT = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 } as const;
const DECIMAL_SUFFIXES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(DECIMAL_EXPONENT).map(([suffix, exponent]) => [exponent, suffix] as const),
  [0, ''] as const,
]);
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const NANO_EXPONENT = 9;
const NANOS = 10n ** 9n;
const MAX_NANOS = (2n ** 63n - 1n) * NANOS;
/** More digits than any value in range has, before and after the point. */
const MAX_DIGITS = 100;

type Family = 'binary' | 'decimal' | 'exponent';

/** Undefined for a text that is no quantity. */
export function canonicalQuantity(text: string): string | undefined {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole + fraction === '' || whole.length + fraction.length > MAX_DIGITS) return undefined;

  const power = binary === undefined ? 0 : BINARY_POWER[binary as keyof typeof BINARY_POWER];
  const tens =
    decimal === undefined ? Number(exponent ?? 0) : DECIMAL_EXPONENT[decimal as keyof typeof DECIMAL_EXPONENT];
  const digits = BigInt(whole + fraction) * 1024n ** BigInt(power);
  const magnitude = scale(digits, tens + NANO_EXPONENT - fraction.length);
  if (magnitude === 0n) return '0';
  const family: Family = binary !== undefined ? 'binary' : exponent !== undefined ? 'exponent' : 'decimal';
  return `${sign === '-' ? '-' : ''}${spell(magnitude > MAX_NANOS ? MAX_NANOS : magnitude, family)}`;
}

/** `digits * 10^exponent` as an integer, rounded up; far beyond the range there is no need to be exact. */
function scale(digits: bigint, exponent: number): bigint {
  if (digits === 0n) return 0n;
  if (exponent >= 0) return exponent > MAX_DIGITS ? MAX_NANOS + 1n : digits * 10n ** BigInt(exponent);
  if (exponent < -2 * MAX_DIGITS) return 1n;
  const divisor = 10n ** BigInt(-exponent);
  return (digits + divisor - 1n) / divisor;
}

function spell(nanos: bigint, family: Family): string {
  if (family === 'binary' && nanos >= 1024n * NANOS && nanos % NANOS === 0n) return spellBinary(nanos / NANOS);
  const largest = family === 'exponent' ? MAX_DIGITS : Math.max(...DECIMAL_SUFFIXES.keys());
  let amount = nanos;
  let exponent = -NANO_EXPONENT;
  while (exponent < largest && amount % 1000n === 0n) {
    amount /= 1000n;
    exponent += 3;
  }
  const suffix = family === 'exponent' ? (exponent === 0 ? '' : `e${exponent}`) : DECIMAL_SUFFIXES.get(exponent);
  return `${amount}${suffix ?? ''}`;
}

function spellBinary(units: bigint): string {
  let amount = units;
  let power = 0;
  while (amount % 1024n === 0n && power + 1 < BINARY_SUFFIXES.length) {
    amount /= 1024n;
    power++;
  }
  return `${amount}${BINARY_SUFFIXES[power]}`;
}
