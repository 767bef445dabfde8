import { describe, expect, it } from 'vitest';
import { detect } from './image-inventory.ts';
import { ImageRecords } from './image-records.ts';
import type { RuntimeContainer, RuntimeImage } from './runtime.ts';

const image = (id: string, more: Partial<RuntimeImage> = {}): RuntimeImage => ({
  id,
  runtimeHandler: '',
  tags: [],
  digests: [],
  size: 1n,
  pinned: false,
  ...more,
});
const user = (imageId: string): RuntimeContainer => ({
  id: `c-${imageId}`,
  sandboxId: 's',
  name: 'c',
  attempt: 0,
  podUid: 'p',
  podName: '',
  podNamespace: '',
  imageId,
  reference: '',
  runtimeHandler: '',
  state: 'exited',
  createdAt: 0n,
  annotations: {},
});
const see = (previous: ImageRecords, images: RuntimeImage[], at: bigint, users: RuntimeContainer[] = []) =>
  detect(previous, { images, containers: users, volumes: new Map(), at, now: at + 1n });

describe('the inventory of images', () => {
  it('NODE-031 begins a record at the detection, and marks use after the lists', () => {
    const first = see(ImageRecords.empty, [image('a'), image('b')], 5n, [user('b')]);
    expect([...first.values()].map(({ key, firstDetected, lastUsed }) => [key, firstDetected, lastUsed])).toEqual([
      ['a', 5n, undefined],
      ['b', 5n, 6n],
    ]);
    const second = see(first, [image('a'), image('b', { size: 9n, pinned: true })], 8n);
    expect(second.get('b')).toMatchObject({
      firstDetected: 5n,
      lastUsed: 6n,
      image: { size: 9n, pinned: true },
      users: [],
    });
  });

  it('NODE-031 IM-18 forgets an image that is gone: when it comes back it is new', () => {
    const gone = see(see(ImageRecords.empty, [image('d')], 5n), [], 6n);
    expect(gone.size).toBe(0);
    expect(see(gone, [image('d')], 9990n).get('d')?.firstDetected).toBe(9990n);
  });

  it('NODE-030 knows an image by id and handler', () => {
    expect([...see(ImageRecords.empty, [image('p'), image('p', { runtimeHandler: 'kata' })], 0n).keys()]).toEqual([
      'p',
      'p,kata',
    ]);
  });

  it('NODE-210 remembers an image of an earlier process', () => {
    const memory = new Map([['a', { firstDetected: 1n, lastUsed: 2n }]]);
    const seen = detect(
      ImageRecords.empty,
      { images: [image('a'), image('b')], containers: [], volumes: new Map(), at: 9n, now: 9n },
      memory,
    );
    expect([seen.get('a')?.firstDetected, seen.get('a')?.lastUsed, seen.get('b')?.firstDetected]).toEqual([1n, 2n, 9n]);
  });

  it('takes an image for new when the clock was set back behind its record', () => {
    expect(see(see(ImageRecords.empty, [image('a')], 100n), [image('a')], 50n).get('a')?.firstDetected).toBe(50n);
  });

  it('NODE-012 keeps sizes above 2^53 exact', () => {
    expect(see(ImageRecords.empty, [image('a', { size: 2n ** 53n + 1n })], 0n).get('a')?.image.size).toBe(
      9007199254740993n,
    );
  });
});
