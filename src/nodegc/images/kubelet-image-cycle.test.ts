import { describe, expect, it } from 'vitest';
import { SECOND } from '../config/go-duration.ts';
import { detect, imageKey } from '../inventory/image-inventory.ts';
import { type ImageRecord, ImageRecords, type Inventory } from '../inventory/image-records.ts';
import type { RuntimeContainer, RuntimeImage } from '../inventory/runtime.ts';
import type { ImageCycleResult } from './image-cycle.ts';
import { imageVectors, type ImageVector, thresholdVectors, type VectorImage } from './image-vectors.fixture.ts';
import { KubeletImageCycle } from './kubelet-image-cycle.ts';
import { protections } from './protection.ts';
import { decideByThreshold, formatCapacity } from './thresholds.ts';

const seconds = (value: number): bigint => BigInt(value) * SECOND;

function runtimeImage({ id, size, pinned, handler = '' }: VectorImage): RuntimeImage {
  return { id, runtimeHandler: handler, tags: [], digests: [], size: BigInt(size), pinned: pinned === true };
}

function container(imageId: string, more: Partial<RuntimeContainer> = {}): RuntimeContainer {
  return {
    id: `user-of-${imageId}`,
    sandboxId: 's',
    name: 'c',
    attempt: 0,
    podUid: 'p',
    podName: 'pod',
    podNamespace: 'default',
    imageId,
    reference: '',
    runtimeHandler: '',
    state: 'running',
    createdAt: 0n,
    annotations: {},
    ...more,
  };
}

function inventoryOf(images: readonly VectorImage[]): ImageRecords {
  return ImageRecords.empty.next(
    images,
    ({ id, handler = '' }) => imageKey(id, handler),
    (each, key): ImageRecord => ({
      key,
      image: runtimeImage(each),
      firstDetected: seconds(each.first),
      lastUsed: each.used === undefined ? undefined : seconds(each.used),
      users: each.inUse ? [container(each.id)] : [],
    }),
  );
}

interface Run {
  readonly order: string;
  readonly age: string[];
  readonly space: string[];
  readonly diskRead: boolean;
  readonly result: ImageCycleResult;
}

/** A disk whose goal is exactly this: all of it is used, and `low` is 0. */
const diskFor = (goal: number): Required<ImageVector>['disk'] => ({ capacity: goal, available: 0, high: 85, low: 0 });

function run(inventory: Inventory, vector: Omit<ImageVector, 'order' | 'age' | 'space' | 'freed' | 'images'>): Run {
  const { disk = diskFor(vector.goal ?? 1), failing = {} } = vector;
  const cycle = new KubeletImageCycle({
    inventory,
    protections: protections(inventory),
    operation: vector.operation ?? 'garbageCollect',
    freeTime: seconds(10000),
    startTime: seconds(vector.startTime ?? 0),
    minimumAge: seconds(120),
    maximumAge: seconds(vector.maximumAge ?? 0),
    thresholds: { high: disk.high, low: disk.low },
  });
  const order = cycle.candidates.map(({ key }) => key).join(' ');
  const [age, space]: [string[], string[]] = [[], []];
  let diskRead = false;
  for (;;) {
    const step = cycle.next();
    if (step.step === 'end') return { order, age, space, diskRead, result: step.result };
    if (step.step === 'readDisk') {
      diskRead = true;
      cycle.read({ capacity: BigInt(disk.capacity), available: BigInt(disk.available), inodes: 0n, inodesFree: 0n });
      continue;
    }
    for (const removal of step.removals) {
      const message = failing[removal.record.key];
      if (message === undefined) (removal.reason === 'age' ? age : space).push(removal.record.key);
      cycle.settle(removal, message === undefined ? { outcome: 'removed' } : { outcome: 'failed', message });
    }
  }
}

describe('thresholds', () => {
  it.each(thresholdVectors)('NODE-065 $id decides in integers', ({ capacity, available, high, low, usage, goal }) => {
    const decided = decideByThreshold(
      { capacity: capacity === undefined ? undefined : BigInt(capacity), available: BigInt(available) },
      { high, low },
    );
    if (usage === undefined) {
      expect(decided).toEqual({ decision: 'invalidCapacity', message: 'invalid capacity 0 on image filesystem' });
    } else if (goal === undefined) expect(decided).toEqual({ decision: 'below', usagePercent: usage });
    else expect(decided).toEqual({ decision: 'due', usagePercent: usage, goal: BigInt(goal) });
  });

  it('NODE-068 prints a capacity with one decimal in units of 1024', () => {
    expect([512n, 100000n, 241081344n, 10000000000000n].map(formatCapacity)).toEqual([
      '512 B',
      '97.7 KiB',
      '229.9 MiB',
      '9.1 TiB',
    ]);
  });
});

describe('image collection as the kubelet does it', () => {
  it.each(imageVectors)('NODE-061, 062, 063, 066 $id removes what the kubelet removes, in its order', (vector) => {
    const { order, age, space, result } = run(inventoryOf(vector.images), vector);
    expect(order).toBe(vector.order);
    expect(age.join(' ')).toBe(vector.age);
    expect(space.join(' ')).toBe(vector.space ?? '');
    expect(result.removed.filter(({ reason }) => reason === 'space').reduce((sum, { bytes }) => sum + bytes, 0n)).toBe(
      BigInt(vector.freed),
    );
    if (vector.error !== undefined) expect(result.error).toBe(vector.error);
    else if (vector.event === undefined) expect(result.error).toBeUndefined();
    expect(result.events.map(({ reason, message }) => `${reason} ${message === result.error}`)).toEqual(
      vector.event === undefined ? [] : [`${vector.event} true`],
    );
  });

  it('NODE-064 reads no disk after a failed age pass (IM-12)', () => {
    const vector = imageVectors.find(({ id }) => id === 'IM-12')!;
    expect(run(inventoryOf(vector.images), vector).diskRead).toBe(false);
  });

  it('NODE-067 reports failed removals although the goal was met (IM-06)', () => {
    const vector = imageVectors.find(({ id }) => id === 'IM-06')!;
    expect(run(inventoryOf(vector.images), vector).result).toMatchObject({
      outcome: 'partial',
      because: 'deleteError',
    });
  });

  it('NODE-070 leaves what comes after the image that met the goal untouched and unmentioned', () => {
    const { result } = run(inventoryOf(imageVectors[0]!.images), { id: '', goal: 1 });
    expect(result.skipped.map(({ record, reason }) => `${record.key} ${reason}`)).toEqual(['e inUse', 'f pinned']);
  });

  it('NODE-071 removes nothing when the goal is nothing (TH-13)', () => {
    const { space, result } = run(inventoryOf(imageVectors[0]!.images), {
      id: '',
      disk: { capacity: 3, available: 1, high: 66, low: 50 },
    });
    expect(space).toEqual([]);
    expect(result).toMatchObject({ outcome: 'noop', error: undefined, usagePercent: 67 });
  });

  it('NODE-072 has no event when nothing unused can go', () => {
    const { result } = run(inventoryOf([{ id: 'x', size: 1, first: 0, pinned: true }]), {
      id: '',
      operation: 'deleteUnused',
    });
    expect(result).toMatchObject({ outcome: 'noop', because: 'allUnused', events: [], error: undefined });
  });

  it('NODE-030 IM-15 protects an image under the handler that is used, and removes it under the other', () => {
    const images = [
      runtimeImage({ id: 'p', size: 5, first: 0 }),
      runtimeImage({ id: 'p', size: 5, first: 0, handler: 'kata' }),
    ];
    const inventory = detect(ImageRecords.empty, {
      images,
      containers: [container('p')],
      volumes: new Map(),
      at: 0n,
      now: 0n,
    });
    const { order, space, result } = run(inventory, { id: '', goal: 5 });
    expect(order).toBe('p,kata');
    expect(space).toEqual(['p,kata']);
    expect(result.removed[0]?.record.image).toMatchObject({ id: 'p', runtimeHandler: 'kata' });
  });

  const detected = (
    images: readonly VectorImage[],
    users: readonly RuntimeContainer[],
    volumes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) =>
    detect(inventoryOf(images), {
      images: images.map(runtimeImage),
      containers: users,
      volumes,
      at: seconds(10000),
      now: seconds(10000),
    });

  it('NODE-032, 040 IM-16 protects the image of an exited container', () => {
    const users = [container('e'), container('c', { state: 'exited' })];
    const { order, space } = run(detected(imageVectors[0]!.images, users), { id: '', goal: 300 });
    expect([order, space.join()]).toEqual(['d g b a', 'd']);
  });

  it('NODE-031 IM-17 protects an image that a container mounts as a volume', () => {
    const users = [container('e', { id: 'mounts' })];
    const { order } = run(detected(imageVectors[0]!.images, users, new Map([['mounts', ['c']]])), {
      id: '',
      goal: 300,
    });
    expect(order).toBe('d g b a');
  });

  it('NODE-041 goes by the pinned flag of this detection', () => {
    const unpinned = imageVectors[0]!.images.map((each) =>
      each.id === 'f' ? { ...each, pinned: undefined as never } : each,
    );
    expect(run(inventoryOf(unpinned), { id: '', goal: 1 }).order).toBe('f d c g b a');
  });

  it('NODE-042 keeps an image younger than the minimum age, and lets one of exactly that age go (IM-10)', () => {
    const { result } = run(inventoryOf(imageVectors.find(({ id }) => id === 'IM-10')!.images), { id: '', goal: 10 });
    expect(result.skipped.map(({ record, reason }) => `${record.key} ${reason}`)).toEqual(['y minimumAge']);
  });
});
