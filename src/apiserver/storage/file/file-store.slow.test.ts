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
import { systemClock } from '../../../base/time/clock.ts';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { describeStore } from '../conformance.ts';
import type { Store, WriteResult } from '../interface.ts';
import type { OpenHandle } from './data-file.ts';
import { openFileStore } from './file-store.ts';
import { StoreCorruptedError, StoreFormatError, StoreFullError, StoreLockedError } from '../store-errors.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const open = (path: string): Promise<Store> => openFileStore({ path, clock: systemClock });

async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'kubegc-store-'));
}

describeStore('file', async () => {
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

const files = ['data.kubegc', 'redo-0.log', 'redo-1.log'];

/** A copy of a closed store, whose data file has other content if any is given. */
async function copyOf(from: string, parent: string, name: string, data?: Uint8Array): Promise<string> {
  const copy = join(parent, name);
  await mkdir(copy);
  const copied = data === undefined ? files : files.slice(1);
  await Promise.all(copied.map((file) => copyFile(join(from, file), join(copy, file))));
  if (data !== undefined) await writeFile(join(copy, 'data.kubegc'), data);
  return copy;
}

async function overwrite(file: string, at: number, text: string): Promise<void> {
  const handle = await openFile(file, 'r+');
  await handle.write(bytes(text), 0, text.length, at);
  await handle.close();
}

/** Changes one key many times and forgets its history on the way. */
async function churn(store: Store, changes: number): Promise<void> {
  let revision: number | undefined;
  for (let i = 0; i < changes; i++) {
    const value = Buffer.alloc(9000, `${i}.`);
    const written: WriteResult =
      revision === undefined
        ? await store.create('/registry/a', value)
        : await store.update('/registry/a', value, revision);
    if (written.succeeded) revision = written.kv.modRevision;
    if (i % 100 === 99) await store.compact(revision!);
  }
}

/** Keys that are created together, so that the disk is synced once for all of them. */
const TOGETHER = 10;

/** Creates objects of two sizes. */
async function createMany(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += TOGETHER) {
    const create = (i: number): Promise<WriteResult> =>
      store.create(`/registry/${i}`, Buffer.alloc(i % 10 === 0 ? 40_000 : 6000, `${i}.`));
    await Promise.all(Array.from({ length: TOGETHER }, (_, index) => create(from + index)));
  }
}

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

describe('the file store', () => {
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
    expect(await readdir(path)).toEqual(['data.kubegc', 'redo-0.log', 'redo-1.log']);
  });

  it('frees the directory when opening fails', async () => {
    await writeFile(join(path, 'data.kubegc'), Buffer.alloc(50_000, 7));
    await expect(open(path)).rejects.toThrow(StoreFormatError);
    await expect(open(path)).rejects.toThrow('holds a file data.kubegc of another program');
  });

  it('refuses the lmdb database of an earlier version, and says so', async () => {
    await writeFile(join(path, 'data.mdb'), Buffer.alloc(50_000, 7));
    await expect(open(path)).rejects.toThrow(StoreFormatError);
    await expect(open(path)).rejects.toThrow('holds data.mdb, a database of an earlier version of kubegc');
    expect(await readdir(path)).toEqual(['data.mdb']);
  });

  it('refuses data of a later format', async () => {
    await (await open(path)).close();
    await overwrite(join(path, 'data.kubegc'), 0, '{"format":"kubegc-data","version":4,');
    await expect(open(path)).rejects.toThrow(/holds data in format 4, which this version of kubegc cannot read/);
  });

  it('refuses a header that was changed, also to one of the same form', async () => {
    await (await open(path)).close();
    await overwrite(join(path, 'data.kubegc'), 0, '{"format":"kubegc-data","version":3,"id":"0000');
    await expect(open(path)).rejects.toThrow('is damaged: the header of data.kubegc is wrong');
  });

  it('refuses logs whose data file is missing', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('kept'));
    await store.close();
    await rm(join(path, 'data.kubegc'));
    await expect(open(path)).rejects.toThrow(
      `the data directory ${path} is damaged: data.kubegc is missing, or older than redo-0.log`,
    );
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
    // No commit is in progress, so a kill would leave the same files.
    for (const name of files) await copyFile(join(path, name), join(copy, name));
    const again = await open(copy);
    expect(await again.list('/registry/')).toEqual(await store.list('/registry/'));
    expect((await again.list('/registry/', { revision: 26 })).items).toHaveLength(14);
    await expect(again.list('/registry/', { revision: 24 })).rejects.toThrow('has been compacted');
    await again.close();
    await store.close();
    await rm(copy, { recursive: true });
  });

  it('writes the file anew when much of it is forgotten', async () => {
    const store = await open(path);
    await churn(store, 3000);
    await store.close();
    expect((await stat(join(path, 'data.kubegc'))).size).toBeLessThan(9 << 20);
    expect(await readdir(path)).toEqual(files.toSorted());
    const again = await open(path);
    const { items, revision } = await again.list('/registry/');
    expect(items.map(({ value }) => Buffer.from(value).toString('utf8', 0, 5))).toEqual(['2999.']);
    expect(revision).toBe(3000);
    await again.close();
  });

  it('refuses a missing log, and is free again', async () => {
    await (await open(path)).close();
    const log = await readFile(join(path, 'redo-1.log'));
    await rm(join(path, 'redo-1.log'));
    await expect(open(path)).rejects.toThrow(`the data directory ${path} is damaged: redo-1.log is missing`);
    await writeFile(join(path, 'redo-1.log'), log);
    await (await open(path)).close();
  });

  it('repairs a damaged value from the logs where they have it, and refuses it where they do not', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('needle'.repeat(100)));
    await store.close();
    const damage = async (): Promise<void> => {
      const at = (await readFile(join(path, 'data.kubegc'))).indexOf('needleneedle');
      expect(at).toBeGreaterThan(0);
      await overwrite(join(path, 'data.kubegc'), at + 6, 'noodle');
    };
    await damage();
    const repaired = await open(path);
    expect(Buffer.from((await repaired.get('/registry/a')).kv!.value).toString()).toBe('needle'.repeat(100));
    for (let i = 0; i < 4; i++) await repaired.create(`/registry/more-${i}`, Buffer.alloc(600_000));
    await repaired.close();
    await damage();
    await expect(open(path)).rejects.toThrow(StoreCorruptedError);
    await expect(open(path)).rejects.toThrow(/is damaged: commit 1 is missing/);
  });

  it('refuses a file that lacks a commit which no log could take', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('small'));
    await store.create('/registry/b', Buffer.alloc(2 << 20, 'b'));
    await store.close();
    const { size } = await stat(join(path, 'data.kubegc'));
    await truncate(join(path, 'data.kubegc'), size - 1);
    await expect(open(path)).rejects.toThrow(
      /is damaged: data.kubegc cannot be read behind byte \d+ of \d+: commit 2 is missing/,
    );
  });

  it.each(['a page of zeros', 'a flipped bit'])(
    'serves everything or refuses the start with %s anywhere',
    async (damage) => {
      const whole = join(path, 'whole');
      const store = await open(whole);
      await churn(store, 300);
      await createMany(store, 60);
      await store.compact(330);
      await store.close();
      const complete = await contentOf(whole);
      const content = await readFile(join(whole, 'data.kubegc'));
      let refused = 0;
      const step = Math.ceil(content.length / 40);
      for (let at = 0; at < content.length; at += step) {
        const damaged = Buffer.from(content);
        if (damage === 'a flipped bit') damaged[at]! ^= 1 << (at % 8);
        else damaged.fill(0, at - (at % 4096), at - (at % 4096) + 4096);
        const copy = await copyOf(whole, path, `at-${at}`, damaged);
        const found = await contentOf(copy).catch((error: unknown) => error);
        if (found instanceof StoreCorruptedError || found instanceof StoreFormatError) refused++;
        else expect(found, `at ${at}`).toBe(complete);
        await rm(copy, { recursive: true });
      }
      expect(refused).toBeGreaterThan(10);
    },
  );

  it('starts from the old file when the new one was not finished', async () => {
    const store = await open(path);
    await store.create('/registry/a', bytes('kept'));
    await store.close();
    await writeFile(join(path, 'data.kubegc.new'), 'half');
    const again = await open(path);
    expect((await again.list('/registry/')).items).toHaveLength(1);
    await again.close();
    expect(await readdir(path)).toEqual(files.toSorted());
  });

  it('refuses a file cut short, wherever, instead of crashing or serving a part', async () => {
    const whole = join(path, 'whole');
    const store = await open(whole);
    await createMany(store, 400);
    await store.compact(30);
    await store.close();
    const complete = await contentOf(whole);
    let refused = 0;
    const { size } = await stat(join(whole, 'data.kubegc'));
    for (let cut = 0; cut < size; cut += 100_000) {
      const copy = await copyOf(whole, path, `cut-${cut}`);
      await truncate(join(copy, 'data.kubegc'), cut);
      const first = await contentOf(copy).catch((error: unknown) => error);
      const second = await contentOf(copy).catch((error: unknown) => error);
      if (first instanceof StoreCorruptedError) {
        expect(second, `cut at ${cut}`).toEqual(first);
        expect((await stat(join(copy, 'data.kubegc'))).size).toBe(cut);
        refused++;
      } else {
        expect([first, second], `cut at ${cut}`).toEqual([complete, complete]);
      }
    }
    expect(refused).toBeGreaterThan(1);
  });

  it('reports a directory that cannot be one', async () => {
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
      // Each burst changes many other keys, and among them the same key once.
      await Promise.all(Array.from({ length: 999 }, (_, j) => store.create(`/registry/${i}-${j}`, bytes(String(j)))));
      const updated = await store.update('/registry/a', bytes(String(i)), revision);
      if (updated.succeeded) revision = updated.kv.modRevision;
    }
    await store.close();
    const limits = { maxHistoryChanges: 11_000 };
    const bounded = await openFileStore({ path, clock: systemClock, limits });
    await expect(bounded.list('', { revision: 500 })).rejects.toThrow('has been compacted');
    expect((await bounded.list('', { revision: 2500 })).items).toHaveLength(2498);
    // Reading the journal writes nothing; the compacted revision is written with the next commit.
    await bounded.create('/registry/b', bytes('0'));
    await bounded.close();
    const again = await open(path);
    await expect(again.list('', { revision: 500 })).rejects.toThrow('has been compacted');
    expect(Buffer.from((await again.get('/registry/a')).kv?.value ?? []).toString()).toBe('11001');
    await again.close();
  });
});

/** A disk on which the data file may grow to this many bytes. */
class Disk {
  room = Number.POSITIVE_INFINITY;
  #refused = 0;

  get refused(): number {
    return this.#refused;
  }

  readonly openHandle: OpenHandle = async (file, flags, mode) => {
    const handle = await openFile(file, flags, mode);
    const write = async (buffer: Buffer, offset: number, length: number, position: number): Promise<unknown> => {
      const fits = Math.min(length, this.room - position);
      // Fails like a full disk: the first call writes a part, and the next one finds no space.
      if (fits > 0) return handle.write(buffer, offset, fits, position);
      this.#refused++;
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    };
    return new Proxy(handle, {
      get: (target, name) => {
        if (name === 'write') return write;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
}

describe('the file store on a full disk', () => {
  let path: string;
  beforeEach(async () => {
    path = await temporaryDirectory();
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  it.each([
    { what: 'commits that a log takes', bytes: 9000 },
    { what: 'commits that no log takes', bytes: 1_300_000 },
  ])(
    'law 3: refuses writes, goes on without a restart, and keeps what it acknowledged: $what',
    async ({ bytes: size }) => {
      const disk = new Disk();
      const clock = new FakeClock();
      const store = await openFileStore({ path, clock, openHandle: disk.openHandle });
      const acknowledged: string[] = [];
      const refused: unknown[] = [];
      const write = async (i: number): Promise<void> => {
        const key = `/registry/${String(i).padStart(4, '0')}`;
        const written = await store
          .create(key, Buffer.alloc(size, `${i}.`))
          .catch((error: unknown) => void refused.push(error));
        if (written?.succeeded === true) acknowledged.push(key);
      };
      const keys = async (): Promise<string[]> => (await store.list('/')).items.map(({ key }) => key);
      for (let round = 0; round < 3; round++) {
        disk.room = (await stat(join(path, 'data.kubegc'))).size + 20_000;
        refused.length = 0;
        for (let i = 0; refused.length === 0; i++) await write(round * 1000 + i);
        expect(refused[0]).toBeInstanceOf(StoreFullError);
        expect(store.failure).toBe(refused[0]);
        expect(await keys()).toEqual(acknowledged);
        await clock.advanceAsync(1000);
        disk.room = Number.POSITIVE_INFINITY;
        clock.advance(1000);
        while (store.failure !== undefined) await new Promise((resolve) => setImmediate(resolve));
        await write(round * 1000 + 900);
        expect(acknowledged.at(-1)).toBe(`/registry/${String(round * 1000 + 900).padStart(4, '0')}`);
      }
      expect(disk.refused).toBeGreaterThan(2);
      await store.close();
      const after = await open(path);
      expect((await after.list('/')).items.map(({ key }) => key)).toEqual(acknowledged);
      await after.close();
    },
  );

  it('law 3: has what it acknowledged after a close while the disk is full', async () => {
    const disk = new Disk();
    const store = await openFileStore({ path, clock: new FakeClock(), openHandle: disk.openHandle });
    disk.room = 20_000;
    let written = 0;
    const full = async (): Promise<boolean> => {
      const answer = await store.create(`/registry/${written}`, Buffer.alloc(9000)).catch(() => undefined);
      if (answer?.succeeded === true) written++;
      return answer === undefined;
    };
    while (!(await full()));
    await store.close();
    const after = await open(path);
    expect((await after.list('/')).items).toHaveLength(written);
    await after.close();
  });
});
