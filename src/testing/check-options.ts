/**
 * Refuses what an object of options does not know, so that a slip in a name is not an option left out. For callers
 * without types.
 */
export function checkKeys(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new TypeError(`${what} has no "${unknown}"; there are: ${known.join(', ')}`);
}
