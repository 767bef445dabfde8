import { describe, expect, it } from 'vitest';
import { HOUR, SECOND } from '../config/go-duration.ts';
import type { ImageRecord } from '../inventory/image-records.ts';
import type { ImageCycleResult } from './image-cycle.ts';
import { MeasuredImageCycle, type MeasuredCycleFacts } from './measured-image-cycle.ts';
import { SharedBytes } from './shared-bytes.ts';

interface Given {
  readonly id: string;
  /** The bytes that its removal frees. */
  readonly real: number;
  /** The size that the runtime reports. */
  readonly size?: number;
  readonly usedHoursAgo?: number;
  readonly firstSecondsAgo?: number;
}

const NOW = 1000n * HOUR;

function recordOf({ id, real, size = real, usedHoursAgo, firstSecondsAgo }: Given): ImageRecord {
  return {
    key: id,
    image: { id, runtimeHandler: '', tags: [], digests: [], size: BigInt(size), pinned: false },
    firstDetected: firstSecondsAgo === undefined ? 0n : NOW - BigInt(firstSecondsAgo) * SECOND,
    lastUsed: usedHoursAgo === undefined ? undefined : NOW - BigInt(usedHoursAgo) * HOUR,
    users: [],
  };
}

interface Run {
  readonly batches: string[];
  readonly result: ImageCycleResult;
}

function run(
  given: readonly Given[],
  disk: { capacity: number; available: number; inodes?: number; inodesFree?: number },
  more: Partial<MeasuredCycleFacts> = {},
  failing: readonly string[] = [],
): Run {
  const real = new Map(given.map(({ id, real: bytes }) => [id, BigInt(bytes)]));
  const cycle = new MeasuredImageCycle({
    inventory: new Map(given.map((each) => [each.id, recordOf(each)])),
    protections: new Map(),
    operation: 'garbageCollect',
    freeTime: NOW,
    minimumAge: 120n * SECOND,
    maximumAge: 0n,
    thresholds: { high: 85, low: 80 },
    inodeThresholds: { high: 95, low: 90 },
    choose: 'fewest',
    protectRecent: 24n * HOUR,
    parallelRemovals: 1,
    minimumAgeFrom: 'detected',
    ...more,
  });
  let available = BigInt(disk.available);
  let inodesFree = BigInt(disk.inodesFree ?? 0);
  const batches: string[] = [];
  for (;;) {
    const step = cycle.next();
    if (step.step === 'end') return { batches, result: step.result };
    if (step.step === 'readDisk') {
      cycle.read({ capacity: BigInt(disk.capacity), available, inodes: BigInt(disk.inodes ?? 0), inodesFree });
      continue;
    }
    batches.push(step.removals.map(({ record }) => record.key).join('+'));
    for (const removal of step.removals) {
      const fails = failing.includes(removal.record.key);
      if (!fails) {
        available += real.get(removal.record.key)!;
        inodesFree += 10n;
      }
      cycle.settle(removal, fails ? { outcome: 'failed', message: 'boom' } : { outcome: 'removed' });
    }
  }
}

const four = [
  { id: 'a', real: 10, usedHoursAgo: 100 },
  { id: 'b', real: 30, usedHoursAgo: 90 },
  { id: 'c', real: 60, usedHoursAgo: 80 },
  { id: 'd', real: 500, usedHoursAgo: 1 },
];

describe('image collection that measures', () => {
  it('NODE-200 stops by what the disk says, not by the sizes that the runtime reports', () => {
    const compressed = four.map((each) => ({ ...each, size: 1 }));
    const { batches, result } = run(compressed, { capacity: 1000, available: 140 }, { choose: 'leastRecentlyUsed' });
    expect(batches).toEqual(['a', 'b', 'c']);
    expect(result).toMatchObject({
      outcome: 'success',
      goal: 60n,
      measuredFreed: 100n,
      estimatedFreed: 3n,
      usagePercentAfter: 76,
    });
  });

  it('NODE-201 reports both the estimated and the measured bytes', () => {
    const { result } = run([{ id: 'a', real: 100, size: 40, usedHoursAgo: 99 }], { capacity: 1000, available: 140 });
    expect([result.estimatedFreed, result.measuredFreed]).toEqual([40n, 100n]);
  });

  it('NODE-203 meets the goal with the fewest removals, and spares what was used lately', () => {
    expect(run(four, { capacity: 1000, available: 140 }).batches).toEqual(['c']);
    expect(run(four, { capacity: 1000, available: 110 }).batches).toEqual(['c', 'b']);
    expect(run(four, { capacity: 1000, available: 0 }).batches).toEqual(['c', 'b', 'a', 'd']);
  });

  it('NODE-203 takes the smallest image that alone is enough, where bytes are exact', () => {
    const shared = new SharedBytes(
      new Map(four.map(({ id }) => [id, [`own-${id}`]])),
      new Map(four.map(({ id, real }) => [`own-${id}`, BigInt(real)])),
    );
    const { batches, result } = run(
      four,
      { capacity: 1000, available: 175 },
      { shared, thresholds: { high: 82, low: 80 } },
    );
    expect(batches).toEqual(['b']);
    expect(result.removed[0]).toMatchObject({ exact: true, bytes: 30n });
  });

  it('NODE-204 removes side by side, fewer as the goal nears, and never beyond it where bytes are exact', () => {
    const ten = Array.from({ length: 10 }, (_, index) => ({ id: `i${index}`, real: 10, usedHoursAgo: 100 - index }));
    const shared = (): SharedBytes =>
      new SharedBytes(new Map(ten.map(({ id }) => [id, [id]])), new Map(ten.map(({ id }) => [id, 10n])));
    expect(run(ten, { capacity: 1000, available: 145 }, { parallelRemovals: 8, shared: shared() }).batches).toEqual([
      'i0+i1+i2+i3+i4+i5',
    ]);
    expect(run(ten, { capacity: 1000, available: 105 }, { parallelRemovals: 8, shared: shared() }).batches).toEqual([
      'i0+i1+i2+i3+i4+i5+i6+i7',
      'i8+i9',
    ]);
    expect(run(ten, { capacity: 1000, available: 145 }, { parallelRemovals: 8 }).batches).toEqual([
      'i0+i1',
      'i2',
      'i3',
      'i4',
      'i5',
    ]);
  });

  it('NODE-211 counts the age of a never used image from its first detection, and keeps the minimum age', () => {
    const given = [
      { id: 'new', real: 1, firstSecondsAgo: 60 },
      { id: 'hour', real: 1, firstSecondsAgo: 3600 },
      { id: 'old', real: 1 },
    ];
    const { batches, result } = run(given, { capacity: 1000, available: 900 }, { maximumAge: 2n * HOUR });
    expect(batches).toEqual(['old']);
    expect(result).toMatchObject({ outcome: 'success', because: 'age' });
    expect(result.skipped.map(({ record, reason }) => `${record.key} ${reason}`)).toEqual(['new minimumAge']);
  });

  it('NODE-216 runs the space pass after a failed age pass, and is a success when the goal is met', () => {
    const given = [
      { id: 'old', real: 5 },
      { id: 'big', real: 100, usedHoursAgo: 30 },
    ];
    const { batches, result } = run(given, { capacity: 1000, available: 140 }, { maximumAge: 100n * HOUR }, ['old']);
    expect(batches).toEqual(['old', 'big']);
    expect(result).toMatchObject({ outcome: 'success', error: undefined });
    expect(result.failed.map(({ record }) => record.key)).toEqual(['old']);
  });

  it('NODE-216 does not try an image again whose removal failed lately', () => {
    const { batches, result } = run(four, { capacity: 1000, available: 140 }, { retryLater: new Set(['c']) });
    expect(batches).toEqual(['b', 'a', 'd']);
    expect(result.skipped.map(({ reason }) => reason)).toEqual(['retryLater']);
  });

  it('NODE-218 frees inodes when they run out, whatever the bytes', () => {
    const { batches, result } = run(
      four,
      { capacity: 1000, available: 900, inodes: 1000, inodesFree: 50 },
      { choose: 'leastRecentlyUsed' },
    );
    expect(batches).toEqual(['a', 'b', 'c', 'd']);
    expect(result).toMatchObject({ because: 'insufficientFreed' });
    expect(run(four, { capacity: 1000, available: 900, inodes: 200, inodesFree: 10 }).batches).toEqual(['a']);
  });

  it('NODE-072 removes everything that may go when asked to, without an event', () => {
    const { batches, result } = run(
      [...four, { id: 'young', real: 1, firstSecondsAgo: 5 }],
      { capacity: 1000, available: 900 },
      { operation: 'deleteUnused', parallelRemovals: 8 },
    );
    expect(batches).toEqual(['a+b+c+d']);
    expect(result).toMatchObject({ outcome: 'success', because: 'allUnused', events: [], measuredFreed: 600n });
  });

  it('NODE-068, 219 reports what could not be freed', () => {
    const { result } = run([], { capacity: 100000, available: 10000 });
    expect(result.events.map(({ reason }) => reason)).toEqual(['FreeDiskSpaceFailed']);
    expect(result).toMatchObject({ outcome: 'error', because: 'insufficientFreed', removed: [] });
  });

  it('NODE-065 reports an invalid capacity', () => {
    expect(run([], { capacity: 0, available: 0 }).result).toMatchObject({
      because: 'invalidCapacity',
      events: [{ reason: 'InvalidDiskCapacity', message: 'invalid capacity 0 on image filesystem' }],
    });
  });
});

describe('bytes that images share', () => {
  it('NODE-202 frees a layer when the last image that holds it goes', () => {
    const shared = new SharedBytes(
      new Map([
        ['a', ['base', 'x']],
        ['b', ['base', 'y']],
      ]),
      new Map([
        ['base', 100n],
        ['x', 1n],
        ['y', 2n],
      ]),
    );
    expect([shared.own('a'), shared.shared('a'), shared.knows('c')]).toEqual([1n, 100n, false]);
    const copy = shared.clone();
    copy.remove('a');
    copy.remove('a');
    expect([copy.own('a'), copy.own('b'), copy.shared('b'), shared.own('b')]).toEqual([0n, 102n, 0n, 2n]);
  });
});
