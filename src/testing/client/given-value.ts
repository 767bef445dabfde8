/**
 * Whether a value has fields, and is no list, pattern or map. Callers without types pass anything. The check reads its tag: a test may run in a
 * context of its own, with classes of its own.
 */
export function isObject(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
