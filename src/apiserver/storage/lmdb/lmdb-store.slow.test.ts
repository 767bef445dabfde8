import { createHash } from 'node:crypto';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
  readdir,
  open as openFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../base/clock.ts';
import { describeStore } from '../conformance.ts';
import type { Store, WriteResult } from '../interface.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { StoreCorruptedError, StoreFormatError, StoreLockedError } from '../store-errors.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const open = (path: string): Promise<Store> => openLmdbStore({ path, clock: systemClock });

async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'kubegc-store-'));
}

describeStore('lmdb', async () => {
  const path = await temporaryDirectory();
  let store = await open(path);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await open(path);
      return store;
    },
    dispose: async () => {
      await store.close();
      await rm(path, { recursive: true });
    },
  };
});

/** A digest of everything that the store at the path serves. */
async function contentOf(path: string): Promise<string> {
  const store = await open(path);
  try {
    const { items, revision } = await store.list('/');
    const hash = createHash('sha256').update(String(revision));
    for (const { key, value, modRevision } of items) hash.update(`${key} ${modRevision} `).update(value);
    return hash.digest('hex');
  } finally {
    await store.close();
  }
}

describe('the lmdb store', () => {
  let path: string;
  beforeEach(async () => {
    path = await temporaryDirectory();
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  it('refuses a directory that is in use, names the process, and takes it when it is free', async () => {
    const first = await open(path);
    const error = await open(path).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StoreLockedError);
    expect(error).toMatchObject({
      message: expect.stringContaining(
        `the data directory ${path} is in use by another kubegc (process ${process.pid})`,
      ),
    });
    await first.close();
    const second = await open(path);
    await second.close();
    expect(await readdir(path)).toEqual(['data.mdb', 'lock.mdb', 'redo-0.log', 'redo-1.log']);
  });

  it('frees the directory when opening fails', async () => {
    await writeFile(join(path, 'data.mdb'), Buffer.alloc(50_000, 7));
    await expect(open(path)).rejects.toThrow(StoreFormatError);
    await expect(open(path)).rejects.toThrow('not an lmdb database');
  });

  it('refuses the lmdb database of another program', async () => {
    const lmdb = await import('lmdb');
    const other = lmdb.open({ path });
    await other.put('key', 'value');
    await other.close();
    await expect(open(path)).rejects.toThrow(StoreFormatError);
  });

  it('refuses data of a later format', async () => {
    await (await open(path)).close();
    const lmdb = await import('lmdb');
    const raw = lmdb.open<Uint8Array, Uint8Array>({ path, encoding: 'binary', keyEncoding: 'binary' });
    await raw.put(Buffer.alloc(8), bytes('{"format":"kubegc-journal","version":3,"compacted":0}'));
    await raw.close();
    await expect(open(path)).rejects.toThrow(/holds data in format 3, which this version of kubegc cannot read/);
  });

  it('takes data from before there were redo logs', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('kept'));
    await store.close();
    const lmdb = await import('lmdb');
    const raw = lmdb.open<Uint8Array, Uint8Array>({ path, encoding: 'binary', keyEncoding: 'binary' });
    await raw.put(Buffer.alloc(8), bytes('{"format":"kubegc-journal","version":1,"compacted":0}'));
    await raw.close();
    for (const name of ['redo-0.log', 'redo-1.log']) await rm(join(path, name));
    const later = await open(path);
    await later.create('/registry/b', bytes('new'));
    await later.close();
    const again = await open(path);
    const { items, revision } = await again.list('/registry/');
    expect(items.map(({ value }) => Buffer.from(value).toString())).toEqual(['kept', 'new']);
    expect(revision).toBe(2);
    await again.close();
  });

  it('tells a table that is missing beside its logs, or does not say what they are', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('kept'));
    await store.close();
    const table = await readFile(join(path, 'data.mdb'));
    await rm(join(path, 'data.mdb'));
    await expect(open(path)).rejects.toThrow(
      `the data directory ${path} is damaged: data.mdb is missing, or older than redo-0.log`,
    );
    for (const redo of ['', ',"redo":{}', ',"redo":{"id":"zz","applied":1}', ',"redo":{"id":"","applied":"7"}']) {
      await writeFile(join(path, 'data.mdb'), table);
      const lmdb = await import('lmdb');
      const raw = lmdb.open<Uint8Array, Uint8Array>({ path, encoding: 'binary', keyEncoding: 'binary' });
      await raw.put(Buffer.alloc(8), bytes(`{"format":"kubegc-journal","version":2,"compacted":0${redo}}`));
      await raw.close();
      await expect(open(path), redo).rejects.toThrow(StoreFormatError);
    }
  });

  it('finds in the logs of a copy, made while it runs, what the table does not have yet', async () => {
    const store = await open(path);
    const revisions: number[] = [];
    for (let i = 0; i < 20; i++) {
      const created = await store.create(`/registry/${i}`, bytes(String(i)));
      if (created.succeeded) revisions.push(created.kv.modRevision);
    }
    for (let i = 0; i < 10; i++) await store.delete(`/registry/${i}`, revisions[i]!);
    await store.compact(25);
    const copy = await temporaryDirectory();
    // Nothing is under way: a kill now would leave the same.
    for (const name of ['data.mdb', 'redo-0.log', 'redo-1.log']) await copyFile(join(path, name), join(copy, name));
    const again = await open(copy);
    expect(await again.list('/registry/')).toEqual(await store.list('/registry/'));
    expect((await again.list('/registry/', { revision: 26 })).items).toHaveLength(14);
    await expect(again.list('/registry/', { revision: 24 })).rejects.toThrow('has been compacted');
    await again.close();
    await store.close();
    await rm(copy, { recursive: true });
  });

  it('forgets in the table what nothing needs any more', async () => {
    const store = await open(path);
    let revision: number | undefined;
    for (let i = 0; i < 400; i++) {
      const value = Buffer.alloc(9000, `${i}.`);
      const written: WriteResult =
        revision === undefined
          ? await store.create('/registry/a', value)
          : await store.update('/registry/a', value, revision);
      if (written.succeeded) revision = written.kv.modRevision;
    }
    await store.compact(400);
    await store.create('/registry/b', bytes('so that it is written'));
    await store.close();
    const lmdb = await import('lmdb');
    const raw = lmdb.open<Uint8Array, Uint8Array>({ path, encoding: 'binary', keyEncoding: 'binary' });
    expect([...raw.getKeys()].length).toBeLessThan(10);
    await raw.close();
  });

  it('tells a log that is missing, and is free again', async () => {
    await (await open(path)).close();
    const log = await readFile(join(path, 'redo-1.log'));
    await rm(join(path, 'redo-1.log'));
    await expect(open(path)).rejects.toThrow(`the data directory ${path} is damaged: redo-1.log is missing`);
    await writeFile(join(path, 'redo-1.log'), log);
    await (await open(path)).close();
  });

  it('tells a damaged value', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('needle'.repeat(100)));
    await store.close();
    const file = await openFile(join(path, 'data.mdb'), 'r+');
    const content = await file.readFile();
    for (let at = content.indexOf('needleneedle'); at >= 0; at = content.indexOf('needleneedle', at + 1)) {
      await file.write(bytes('noodle'), 0, 6, at + 6);
    }
    await file.close();
    await expect(open(path)).rejects.toThrow(StoreCorruptedError);
    await expect(open(path)).rejects.toThrow(/is damaged: the checksum of revision 1 is wrong/);
  });

  it('tells a missing revision', async () => {
    const store = await open(path);
    for (const name of ['a', 'b', 'c']) await store.create(`/registry/${name}`, bytes(name));
    await store.close();
    const lmdb = await import('lmdb');
    const raw = lmdb.open<Uint8Array, Uint8Array>({ path, encoding: 'binary', keyEncoding: 'binary' });
    await raw.remove(Buffer.from([0, 0, 0, 0, 0, 0, 0, 2]));
    await raw.close();
    await expect(open(path)).rejects.toThrow(/is damaged: revision 2 is missing/);
  });

  it('opens a file that lacks pages which nothing needs: lmdb takes pages, gives them back, and never writes them', async () => {
    const store = await open(path);
    for (let i = 0; i < 20; i++) await store.create(`/registry/${i}`, Buffer.alloc(2000, i));
    await store.close();
    const file = join(path, 'data.mdb');
    const lmdb = await import('lmdb');
    const raw = lmdb.open<Uint8Array, Uint8Array>({
      path,
      encoding: 'binary',
      keyEncoding: 'binary',
      overlappingSync: false,
    });
    const key = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    // Once with the pages that are free, and once more with others.
    for (let round = 0; round < 2; round++) {
      raw.transactionSync(() => {
        raw.putSync(key, Buffer.alloc(100_000));
        raw.removeSync(key);
      });
    }
    const { lastPageNumber, pageSize } = raw.getStats() as { lastPageNumber: number; pageSize: number };
    await raw.close();
    expect((await stat(file)).size).toBeLessThan((lastPageNumber + 1) * pageSize);

    for (let round = 1; round <= 3; round++) {
      const again = await open(path);
      const { items } = await again.list('/registry/');
      expect(items).toHaveLength(19 + round);
      await again.create(`/registry/more-${round}`, Buffer.alloc(100_000));
      await again.close();
    }
  });

  it('tells a file cut short, wherever, instead of dying of it or of serving a part', async () => {
    const whole = join(path, 'whole');
    const store = await open(whole);
    for (let i = 0; i < 60; i++)
      await store.create(`/registry/${i}`, Buffer.alloc(i % 10 === 0 ? 40_000 : 6000, `${i}.`));
    await store.compact(30);
    await store.close();
    const complete = await contentOf(whole);
    const { size } = await stat(join(whole, 'data.mdb'));
    let told = 0;
    for (let cut = 8192; cut < size; cut += 8192) {
      const copy = join(path, `cut-${cut}`);
      await mkdir(copy);
      for (const name of ['data.mdb', 'redo-0.log', 'redo-1.log']) await copyFile(join(whole, name), join(copy, name));
      await truncate(join(copy, 'data.mdb'), cut);
      const first = await contentOf(copy).catch((error: unknown) => error);
      const second = await contentOf(copy).catch((error: unknown) => error);
      if (cut <= 16_384) {
        expect(first, 'with one page it is no file of lmdb').toBeInstanceOf(StoreFormatError);
        expect(second).toEqual(first);
      } else if (first instanceof StoreCorruptedError) {
        expect(first.message).toContain(`data.mdb had ${cut} bytes of ${size}`);
        expect(second, `cut at ${cut}`).toEqual(first);
        expect((await stat(join(copy, 'data.mdb'))).size).toBe(cut);
        told++;
      } else {
        expect([first, second], `cut at ${cut}`).toEqual([complete, complete]);
      }
    }
    expect(told).toBeGreaterThan(size / 16_384);
  });

  it('tells a directory that cannot be one', async () => {
    const file = join(path, 'file');
    await writeFile(file, '');
    await expect(open(file)).rejects.toThrow(`the data directory ${file} cannot be used`);
  });

  it('goes on with a compaction that was cut off, and keeps within the bounds of history when it reads a journal', async () => {
    const store = await open(path);
    let revision = 0;
    const created = await store.create('/registry/a', bytes('0'));
    if (created.succeeded) revision = created.kv.modRevision;
    for (let i = 1; i < 12_000; i += 1000) {
      // Each burst is one group of changes on other keys around one change of the same key.
      await Promise.all(Array.from({ length: 999 }, (_, j) => store.create(`/registry/${i}-${j}`, bytes(String(j)))));
      const updated = await store.update('/registry/a', bytes(String(i)), revision);
      if (updated.succeeded) revision = updated.kv.modRevision;
    }
    await store.close();
    const limits = { maxHistoryChanges: 11_000 };
    const bounded = await openLmdbStore({ path, clock: systemClock, limits });
    await expect(bounded.list('', { revision: 500 })).rejects.toThrow('has been compacted');
    expect((await bounded.list('', { revision: 2500 })).items).toHaveLength(2498);
    // Reading alone writes nothing; what was compacted goes with the next commit.
    await bounded.create('/registry/b', bytes('0'));
    await bounded.close();
    const again = await open(path);
    await expect(again.list('', { revision: 500 })).rejects.toThrow('has been compacted');
    expect(Buffer.from((await again.get('/registry/a')).kv?.value ?? []).toString()).toBe('11001');
    await again.close();
  });

  it.runIf(process.platform === 'linux')(
    'keeps little of the file in its own memory, and all of it on the disk',
    async () => {
      const store = await open(path);
      const commits = 1000;
      const together = 8;
      for (let i = 0; i < commits; i++) {
        const value = Buffer.alloc(5000, `${i}.`);
        await Promise.all(Array.from({ length: together }, (_, j) => store.create(`/registry/${i}-${j}`, value)));
      }
      const mapped = residentBytes(await readFile('/proc/self/smaps', 'latin1'), join(path, 'data.mdb'));
      // How much of the last 16 MiB has reached the file is the disk's affair; all of them would be 40 MB and their pages.
      expect(mapped).toBeLessThan(24 << 20);
      await store.close();
      const again = await open(path);
      const { items } = await again.list('/registry/');
      expect(items).toHaveLength(commits * together);
      for (const { key, value } of items) {
        expect(Buffer.from(value).equals(Buffer.alloc(5000, `${/\d+/.exec(key)![0]}.`)), key).toBe(true);
      }
      await again.close();
    },
  );
});

/** Of a file's pages, how much is mapped into a process. */
function residentBytes(smaps: string, file: string): number {
  let bytes = 0;
  for (const mapping of smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)) {
    const [header = ''] = mapping.split('\n', 1);
    if (header.endsWith(file)) bytes += Number(/^Rss: +(\d+) kB$/m.exec(mapping)?.[1]) * 1024;
  }
  return bytes;
}
