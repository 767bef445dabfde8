/** The indexes of elements that occurred before in the list. */
export function repeatedIndexes(values: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  }
  return repeated;
}
