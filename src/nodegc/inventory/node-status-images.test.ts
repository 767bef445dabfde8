import { describe, expect, it } from 'vitest';
import { nodeStatusImages } from './node-status-images.ts';
import type { RuntimeImage } from './runtime.ts';

const image = (id: string, size: bigint, tags: readonly string[] = [`${id}:1`]): RuntimeImage => ({
  id,
  runtimeHandler: '',
  tags,
  digests: [],
  size,
  pinned: false,
});

describe('nodeStatusImages', () => {
  const images = [
    image('a', 1n),
    image('b', 9_007_199_254_740_993n),
    image('c', 1n),
    image('d', 9_007_199_254_740_992n),
  ];
  const ids = (max: number): (string | undefined)[] => nodeStatusImages(images, max).map(({ names }) => names[0]);

  it('NODE-134 lists by size and then by id, both descending, as many as asked for', () => {
    expect(ids(-1)).toEqual(['b:1', 'd:1', 'c:1', 'a:1']);
    expect([ids(0), ids(3), ids(50)]).toEqual([[], ['b:1', 'd:1', 'c:1'], ['b:1', 'd:1', 'c:1', 'a:1']]);
  });

  it('NODE-134 gives at most 5 names of an image', () => {
    const many = image('m', 1n, ['1', '2', '3', '4', '5', '6']);
    expect(nodeStatusImages([many], 1)).toEqual([{ names: ['1', '2', '3', '4', '5'], sizeBytes: 1n }]);
  });
});
