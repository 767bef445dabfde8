import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../base/random/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { Store } from '../interface.ts';
import { StoreCorruptedError, StoreFormatError } from '../store-errors.ts';
import { openFileStore } from './file-store.ts';

const FILES = ['data.kubegc', 'redo-0.log', 'redo-1.log'] as const;
const PAGE = 4096;
const PLACES = 80;

const open = (path: string): ReturnType<typeof openFileStore> =>
  openFileStore({ path, clock: systemClock, random: seededRandom(1) });

/** A digest of everything that a store serves. */
async function digestOf(store: Store): Promise<string> {
  const { items, revision } = await store.list('/');
  const hash = createHash('sha256').update(String(revision));
  for (const { key, value, modRevision } of items) hash.update(`${key} ${modRevision} `).update(value);
  return hash.digest('hex');
}

/** Flips a bit, or zeroes a page, at a random place within the bytes that are in use. */
function damage(content: Buffer, random: Random): void {
  const end = content.findLastIndex((byte) => byte !== 0) + 1;
  const at = random.integer(end);
  if (random.float() < 0.5) content[at]! ^= 1 << random.integer(8);
  else content.fill(0, at - (at % PAGE), at - (at % PAGE) + PAGE);
}

interface Saved {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Digests of the contents that a start may serve. */
  readonly allowed: readonly string[];
}

describe('a store whose files are damaged at random places', () => {
  let path: string;
  const saved = new Map<string, Saved>();

  const filesOf = async (directory: string): Promise<ReadonlyMap<string, Buffer>> =>
    new Map(await Promise.all(FILES.map(async (file) => [file, await readFile(join(directory, file))] as const)));

  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'kubegc-damage-'));
    const directory = join(path, 'whole');
    const store = await open(directory);
    let before = '';
    for (let i = 0; i < 120; i++) {
      before = await digestOf(store);
      const { kv } = await store.get(`/registry/${i % 50}`);
      const value = Buffer.alloc(i % 10 === 0 ? 60_000 : 9000, `${i}.`);
      await (kv === undefined
        ? store.create(`/registry/${i % 50}`, value)
        : store.update(kv.key, value, kv.modRevision));
      if (i === 100) await store.compact((await store.list('/')).revision);
    }
    const complete = await digestOf(store);
    const running = join(path, 'running');
    await mkdir(running);
    for (const file of FILES) await copyFile(join(directory, file), join(running, file));
    // After a crash, the newest record may be half of a write that was not acknowledged, so damage of it is not visible.
    saved.set('a process that was killed', { files: await filesOf(running), allowed: [complete, before] });
    await store.close();
    saved.set('a closed store', { files: await filesOf(directory), allowed: [complete] });
  });
  afterAll(() => rm(path, { recursive: true, force: true }));

  it.each(['a closed store', 'a process that was killed'])('%s serves everything or refuses the start', async (of) => {
    const { files, allowed } = saved.get(of)!;
    const random = seededRandom(24);
    const outcomes = { refused: 0, intact: 0 };
    for (let place = 0; place < PLACES; place++) {
      const copy = join(path, `copy-${place}`);
      await mkdir(copy);
      const damages = 1 + random.integer(3);
      const contents = new Map([...files].map(([file, content]) => [file, Buffer.from(content)]));
      for (let i = 0; i < damages; i++) damage(contents.get(random.pick(FILES))!, random);
      for (const [file, content] of contents) await writeFile(join(copy, file), content);
      try {
        const store = await open(copy);
        expect(allowed, `place ${place}`).toContain(await digestOf(store));
        await store.close();
        outcomes.intact++;
      } catch (error) {
        if (!(error instanceof StoreCorruptedError || error instanceof StoreFormatError)) throw error;
        expect(error.message).toMatch(/data.kubegc|redo-|commit \d+ is missing/);
        outcomes.refused++;
      }
      await rm(copy, { recursive: true });
    }
    expect(outcomes.refused).toBeGreaterThan(10);
    expect(outcomes.intact).toBeGreaterThan(10);
  });
});
