/** Numbers with more digits do not fit in 64 bits. */
const MAX_DIGITS = 20;

/** The number that the digits represent. Undefined for numbers far beyond 64 bits, so that long texts take linear time. */
export function readDigits(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  return significant.length > MAX_DIGITS ? undefined : BigInt(significant || '0');
}
