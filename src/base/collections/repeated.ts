/** The indexes at which a list has again what it had before. */
export function repeatedIndexes(values: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  }
  return repeated;
}
