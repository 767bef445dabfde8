/**
 * With fields, and no list, pattern or map. Callers without types hand in anything. Told by its tag: a test may run in a context of its
 * own, with classes of its own.
 */
export function isObject(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
