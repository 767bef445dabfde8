/** More than this have no place in 64 bits. */
const MAX_DIGITS = 20;

/** The number that digits write; undefined for far more than 64 bits hold, so that long texts take linear time. */
export function readDigits(digits: string): bigint | undefined {
  const significant = digits.replace(/^0+/, '');
  return significant.length > MAX_DIGITS ? undefined : BigInt(significant || '0');
}
