import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detect } from '../inventory/image-inventory.ts';
import { ImageRecords } from '../inventory/image-records.ts';
import { ImageMemoryFile, StateFileError } from './image-memory-file.ts';

describe('the state file', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubegc-state-'));
  });
  afterAll(async () => await rm(directory, { recursive: true }));

  it('NODE-210 returns what was written, with times above 2^53, and leaves no other file', async () => {
    const path = join(directory, 'state.json');
    const image = { id: 'a', runtimeHandler: '', tags: [], digests: [], size: 1n, pinned: false };
    const at = 1_795_710_307_015_672_782n;
    const file = new ImageMemoryFile(path);
    expect((await file.read()).size).toBe(0);
    await file.write(detect(ImageRecords.empty, { images: [image], containers: [], volumes: new Map(), at, now: at }));
    expect(await new ImageMemoryFile(path).read()).toEqual(
      new Map([['a', { firstDetected: at, lastUsed: undefined }]]),
    );
    expect([await readdir(directory), (await stat(path)).mode & 0o777]).toEqual([['state.json'], 0o600]);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      apiVersion: 'node.kubegc/v1alpha1',
      kind: 'NodeState',
    });
  });

  it.each([
    ['not JSON', '{"apiVersion"', 'it is not JSON'],
    ['another kind', '{"apiVersion":"v1","kind":"Pod"}', 'it is not a NodeState of node.kubegc/v1alpha1'],
    ['no images', '{"apiVersion":"node.kubegc/v1alpha1","kind":"NodeState"}', 'it has no images'],
    [
      'times that are none',
      '{"apiVersion":"node.kubegc/v1alpha1","kind":"NodeState","images":{"a":{"firstDetected":7}}}',
      'the times of image a are not numbers',
    ],
  ])('NODE-210 refuses a file that is %s', async (_, text, reason) => {
    const path = join(directory, 'broken.json');
    await writeFile(path, text);
    await expect(new ImageMemoryFile(path).read()).rejects.toThrow(new StateFileError(path, reason));
  });
});
