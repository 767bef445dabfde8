import { basename, dirname } from 'node:path';

/**
 * How far a test file is from a source file: its own test, then its folder, then the room, then the scenarios with a server, random
 * histories, and last a collector that is killed at every call. The nearer, the sooner a fault is found, and the cheaper.
 */
function distance(source: string, test: string): number {
  if (test === 'test/collector/killed.slow.test.ts') return 7;
  if (test.startsWith('test/collector/simulat')) return 6;
  // Scenarios about one folder have its name.
  if (test === `test/collector/${basename(dirname(source))}.test.ts`) return 3;
  if (test.startsWith('test/')) return 5;
  if (test === source.replace(/\.ts$/, '.test.ts')) return 0;
  if (test.startsWith(source.replace(/\.ts$/, '.'))) return 1;
  return dirname(test) === dirname(source) ? 2 : 4;
}

/** Those that go through many states, and take as many times as long as the others. */
const slow = (test: string): number =>
  /\.(?:enumeration|model)\.|\/(?:interleavings|large-cascade)\./.test(test) ? 1 : 0;

/** Sorted copy, nearest first; equal ones by cost and name, so that every run finds the same. */
export function nearestFirst<T>(source: string, tests: readonly T[], pathOf: (test: T) => string): T[] {
  return tests.toSorted((a, b) => {
    const [left, right] = [pathOf(a), pathOf(b)];
    const order = distance(source, left) - distance(source, right) || slow(left) - slow(right);
    return order || (left < right ? -1 : 1);
  });
}
