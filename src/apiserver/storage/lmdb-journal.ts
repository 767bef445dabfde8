import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Lmdb from 'lmdb';
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb';
import { asError } from '../../base/thrown.ts';
import { ChangeEntryError, changeEntrySize, readChangeEntry, writeChangeEntry } from './change-entry.ts';
import type { CopyBytes, DecodedChange } from './change-entry.ts';
import type { Revision } from './interface.ts';
import type { Journal, JournalCommit } from './journal.ts';
import { LmdbMissingError, StoreCorruptedError, StoreDirectoryError, StoreFormatError } from './store-errors.ts';

/** Entry 0, where no revision is: what this is, and what was compacted. JSON, so that people and later versions can read it. */
interface Superblock {
  readonly format: string;
  readonly version: number;
  readonly compacted: Revision;
}

const FORMAT = 'kubegc-journal';
const VERSION = 1;
const FOREIGN = 'an lmdb database of another program';
const SUPERBLOCK = revisionKey(0);

/** Entries of objects up to 8 KB then lie in the tree instead of taking pages of their own, which costs half the space. */
const PAGE_SIZE = 16_384;

/** The commit buffer is kept for the next commit unless it had to grow beyond this. */
const KEPT_BUFFER = 1 << 20;

/**
 * A commit reads the pages it goes on from through the memory map, the kernel maps those around them as well, and all of them count as
 * memory of this process until they are unmapped. Opening the environment anew does that, in a millisecond; so it is done
 * whenever about this much was touched.
 */
const MOST_MAPPED = 16 << 20;

/** What forgetting an entry touches, as a share of a page: neighbours are mostly forgotten together. */
const FORGET_TOUCHES = 4096;

type LmdbModule = typeof Lmdb;

/** The optional package, loaded by the first call and by nothing else. Rejects with {@link LmdbMissingError}. */
export async function loadLmdb(): Promise<LmdbModule> {
  try {
    return await import('lmdb');
  } catch (error) {
    throw new LmdbMissingError(error);
  }
}

type Environment = RootDatabase<Uint8Array, Uint8Array>;

/** Takes what the journal holds: first the compacted revision, then each change that is left, in revision order. */
export interface Restore {
  readonly begin: (compacted: Revision) => void;
  /** Makes memory for the value of the next change. */
  readonly copy: CopyBytes;
  readonly change: (change: DecodedChange) => void;
}

/**
 * The journal in an lmdb environment: one entry per change under its revision, 8 bytes big endian.
 *
 * Durability: with `overlappingSync: false` lmdb's own commit writes the pages, calls fdatasync, then writes the meta page
 * through a descriptor opened with O_DSYNC, and only then does the promise of the batch resolve. A crash in between
 * leaves the old meta page, so a commit is there as a whole or not at all.
 */
export class LmdbJournal implements Journal {
  readonly #open: () => Environment;
  #database: Environment;
  #touched = 0;
  /** While the environment is opened anew. */
  #renewed: Promise<void> | undefined;
  #buffer = Buffer.allocUnsafeSlow(65_536);
  #compacted: Revision;

  private constructor(open: () => Environment, compacted: Revision) {
    this.#open = open;
    this.#database = open();
    this.#compacted = compacted;
  }

  /** Hands all entries to `restore`, in revision order. The caller holds the lock of the directory. */
  static async open(lmdb: LmdbModule, directory: string, restore: Restore): Promise<LmdbJournal> {
    const reader = openEnvironment(lmdb, directory);
    let compacted: Revision;
    try {
      await checkLength(reader, directory);
      compacted = await readSuperblock(reader, directory);
      restore.begin(compacted);
      readEntries(reader, { directory, compacted, restore });
    } finally {
      await reader.close();
    }
    // Opened anew, because what was read would stay in the memory map, as much again as the values themselves.
    return new LmdbJournal(() => openEnvironment(lmdb, directory), compacted);
  }

  async commit({ changes, forget, compacted = this.#compacted }: JournalCommit): Promise<void> {
    if (this.#renewed !== undefined) await this.#renewed;
    const entries = this.#encode(changes);
    const table: Appendable = this.#database;
    const durable = this.#database.batch(() => {
      changes.forEach((change, i) => {
        const entry = entries[i];
        // Revisions only grow, so lmdb may fill its pages to the brim instead of splitting them in the middle.
        if (entry !== undefined) void table.put(revisionKey(change.modRevision), entry, { append: true });
      });
      for (const revision of forget) void this.#database.remove(revisionKey(revision));
      if (compacted !== this.#compacted) void this.#database.put(SUPERBLOCK, superblock(compacted));
    });
    await settled(durable);
    this.#compacted = compacted;
    for (const { length } of entries) this.#touched += length;
    this.#touched += forget.length * FORGET_TOUCHES;
    if (this.#touched >= MOST_MAPPED) this.#renew();
  }

  /** Nothing waits for it but the next commit, which fails with it. */
  #renew(): void {
    this.#touched = 0;
    const renewed = this.#database.close().then(() => {
      this.#database = this.#open();
      this.#renewed = undefined;
    });
    renewed.catch(() => {});
    this.#renewed = renewed;
  }

  async close(): Promise<void> {
    // Where opening anew failed nothing is open.
    if ((await rejection(this.#renewed)) === undefined) await this.#database.close();
  }

  /** One buffer for all entries, used again by the next commit: none is under way when this is called. */
  #encode(changes: JournalCommit['changes']): Buffer[] {
    let size = 0;
    for (const change of changes) size += changeEntrySize(change);
    if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size * 2);
    else if (this.#buffer.length > KEPT_BUFFER && size <= KEPT_BUFFER)
      this.#buffer = Buffer.allocUnsafeSlow(KEPT_BUFFER);
    let offset = 0;
    return changes.map((change) => {
      const start = offset;
      offset = writeChangeEntry(this.#buffer, offset, change);
      return this.#buffer.subarray(start, offset);
    });
  }
}

function openEnvironment({ open }: LmdbModule, directory: string): Environment {
  const options: RootDatabaseOptionsWithPath & { readonly encoder: typeof borrowingDecoder } = {
    path: directory,
    noSubdir: false,
    pageSize: PAGE_SIZE,
    overlappingSync: false,
    encoder: borrowingDecoder,
    keyEncoding: 'binary',
    maxDbs: 1,
  };
  try {
    return open<Uint8Array, Uint8Array>(options);
  } catch (error) {
    throw isInvalidFile(error)
      ? new StoreFormatError(directory, 'a file data.mdb that is not an lmdb database')
      : new StoreDirectoryError(directory, error);
  }
}

/** A file cut short would kill the process when a page that is not there is read through the memory map. */
async function checkLength(environment: Environment, directory: string): Promise<void> {
  const { lastPageNumber, pageSize } = statistics(environment);
  const { size } = await stat(join(directory, 'data.mdb'));
  const needed = (lastPageNumber + 1) * pageSize;
  if (size < needed) {
    throw new StoreCorruptedError(directory, `data.mdb has ${size} bytes where it should have ${needed}`);
  }
}

/** The compacted revision. Makes an empty environment ours. */
async function readSuperblock(environment: Environment, directory: string): Promise<Revision> {
  const bytes = environment.get(SUPERBLOCK);
  if (bytes === undefined) {
    if (statistics(environment).entryCount > 0) throw new StoreFormatError(directory, FOREIGN);
    await settled(environment.put(SUPERBLOCK, superblock(0)));
    return 0;
  }
  const { format, version, compacted } = parseSuperblock(bytes);
  if (format !== FORMAT || !Number.isSafeInteger(compacted)) throw new StoreFormatError(directory, FOREIGN);
  if (version !== VERSION) throw new StoreFormatError(directory, `data in format ${version}`);
  return compacted;
}

function readEntries(
  environment: Environment,
  { directory, compacted, restore }: { directory: string; compacted: Revision; restore: Restore },
): void {
  let last = compacted;
  for (const { key, value } of environment.getRange({ start: revisionKey(1) })) {
    const revision = readRevisionKey(key);
    if (revision > compacted && revision !== ++last) {
      throw new StoreCorruptedError(directory, `revision ${last} is missing`);
    }
    let change: DecodedChange;
    try {
      change = readChangeEntry({ buffer: asBuffer(value), length: value.length }, revision, restore.copy);
    } catch (error) {
      throw error instanceof ChangeEntryError ? new StoreCorruptedError(directory, error.message) : error;
    }
    restore.change(change);
  }
}

/**
 * lmdb would copy each value it reads. This hands out its own buffer instead, valid until the next step of the range or
 * the next get. The buffer is longer than the value; lmdb sets its `length`, and only that, to the value's.
 */
const borrowingDecoder = {
  encode: (bytes: Uint8Array): Uint8Array => bytes,
  decode: (bytes: Uint8Array): Uint8Array => bytes,
};

/** lmdb takes these options, its type declarations leave them out. */
interface Appendable {
  put(key: Uint8Array, value: Uint8Array, options: { readonly append: boolean }): Promise<boolean>;
}

/** lmdb rejects with a message that only points to the promise that tells why. */
async function settled(commit: Promise<unknown>): Promise<void> {
  const failure = await rejection(commit);
  if (failure === undefined) return;
  const reason = 'commitError' in failure ? ((await rejection(failure.commitError)) ?? failure) : failure;
  // EIO is lmdb's word for a write that ended early, and nearly always this is what it means.
  const hint = 'code' in reason && reason.code === EIO ? ' (is the disk full?)' : '';
  throw new Error(reason.message + hint, { cause: reason });
}

async function rejection(promise: unknown): Promise<Error | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

const EIO = 5;

function revisionKey(revision: Revision): Uint8Array {
  const key = Buffer.alloc(8);
  // 48 bits: a million changes a second for nearly nine years.
  key.writeUIntBE(revision, 2, 6);
  return key;
}

function readRevisionKey(key: Uint8Array): Revision {
  return asBuffer(key).readUIntBE(2, 6);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function superblock(compacted: Revision): Uint8Array {
  const content: Superblock = { format: FORMAT, version: VERSION, compacted };
  return Buffer.from(JSON.stringify(content));
}

function parseSuperblock(bytes: Uint8Array): Superblock {
  try {
    return JSON.parse(asBuffer(bytes).toString('utf8', 0, bytes.length)) as Superblock;
  } catch {
    return { format: 'unknown', version: 0, compacted: 0 };
  }
}

interface Statistics {
  readonly lastPageNumber: number;
  readonly pageSize: number;
  readonly entryCount: number;
}

function statistics(environment: Environment): Statistics {
  return environment.getStats() as Statistics;
}

/** lmdb's MDB_INVALID, MDB_VERSION_MISMATCH and MDB_CORRUPTED. */
function isInvalidFile(error: unknown): boolean {
  return error instanceof Error && 'code' in error && [-30_793, -30_794, -30_796].includes(Number(error.code));
}
