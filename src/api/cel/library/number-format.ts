/** Formats a double like Go's `%g`: `1.5`, `1e+06`, `+Inf`. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  return exponent < -4 || exponent >= 6 ? `${digits}e${formatExponent(exponent)}` : String(value);
}

/** At least two digits with a sign: `+06`. */
function formatExponent(exponent: number): string {
  return `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
