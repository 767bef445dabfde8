/**
 * True for a value with fields that is not a list, pattern or map, because callers without types pass anything. The check reads its tag,
 * because a test may run in a context with other classes.
 */
export function isObject(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]';
}
