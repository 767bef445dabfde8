/** What callers without types hand in, told by tags: a test may run in a context of its own, with classes of its own. */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

/** With fields, and no list, pattern or map. */
export function isObject(value: unknown): value is object {
  return tagOf(value) === '[object Object]';
}

/** A function that answers with a Promise whatever it finds, which counts as true. */
export function isAsync(value: unknown): boolean {
  return tagOf(value) === '[object AsyncFunction]';
}
