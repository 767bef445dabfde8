import { stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Lmdb from 'lmdb';
import type { RootDatabase, RootDatabaseOptionsWithPath } from 'lmdb';
import { assert } from '../../../base/assert.ts';
import { asError, messageOf } from '../../../base/thrown.ts';
import type { Revision } from '../interface.ts';
import type { RedoState, RedoTable } from './redo-journal.ts';
import { STORE_ID_BYTES } from './redo-record.ts';
import type { RedoRecord } from './redo-record.ts';
import { LmdbMissingError, StoreCorruptedError, StoreDirectoryError, StoreFormatError } from '../store-errors.ts';

/**
 * Entry 0, where no revision is: what this is, what was compacted, which redo logs belong to it, and up to which record they were applied.
 * JSON, so that people and later versions can read it. Version 1 had no redo logs.
 */
interface Superblock {
  readonly format: string;
  readonly version: number;
  readonly compacted: Revision;
  readonly redo?: { readonly id: string; readonly applied: number };
}

const FORMAT = 'kubegc-journal';
const VERSION = 2;
const VERSION_WITHOUT_REDO = 1;
const FOREIGN = 'an lmdb database of another program';
const REVISION_KEY_BYTES = 8;
const SUPERBLOCK = revisionKey(0);

/** Entries of objects up to 8 KB then lie in the tree instead of taking pages of their own, which costs half the space. */
const PAGE_SIZE = 16_384;

/**
 * A commit reads the pages it goes on from through the memory map, the kernel maps those around them as well, and all of them count as
 * memory of this process until they are unmapped. Opening the environment anew does that, in a millisecond; so it is done
 * whenever about this much was touched.
 */
const MOST_MAPPED = 16 << 20;

/** What forgetting an entry touches, as a share of a page: neighbours are mostly forgotten together. */
const FORGET_TOUCHES = 4096;

export type LmdbModule = typeof Lmdb;

/** The optional package, loaded by the first call and by nothing else. Rejects with {@link LmdbMissingError}. */
export async function loadLmdb(): Promise<LmdbModule> {
  try {
    return await import('lmdb');
  } catch (error) {
    throw new LmdbMissingError(error);
  }
}

type Environment = RootDatabase<Uint8Array, Uint8Array>;

/** The first `length` bytes of a buffer that may be longer and is used again. */
export interface BorrowedEntry {
  readonly revision: Revision;
  readonly buffer: Buffer;
  readonly length: number;
}

/** What the table said about itself when it was opened. */
export interface LmdbTableState {
  readonly compacted: Revision;
  /** Absent: no redo logs were ever written beside it. */
  readonly redo?: RedoState;
}

/**
 * The entries of a journal in an lmdb environment, each under its revision, 8 bytes big endian.
 *
 * Durability: with `overlappingSync: false` lmdb's own commit writes the pages, calls fdatasync, then writes the meta page
 * through a descriptor opened with O_DSYNC, and only then does the promise of the batch resolve. A crash in between
 * leaves the old meta page, so a batch is there as a whole or not at all.
 */
export class LmdbTable implements RedoTable {
  readonly #directory: string;
  readonly #open: () => Environment;
  #database: Environment;
  #touched = 0;
  /** While the environment is opened anew. */
  #renewed: Promise<void> | undefined;
  #state: LmdbTableState;
  /** Of a file that lacked pages when it was opened, until it has proved to be whole, or is written to. */
  #shortage: Shortage | undefined;

  private constructor(directory: string, open: () => Environment) {
    this.#directory = directory;
    this.#open = open;
    this.#database = open();
    this.#state = { compacted: 0 };
  }

  /** The caller holds the lock of the directory. */
  static async open(lmdb: LmdbModule, directory: string): Promise<LmdbTable> {
    const table = new LmdbTable(directory, () => openEnvironment(lmdb, directory));
    try {
      table.#shortage = await makeUpForMissingPages(table.#database, table.#file);
      table.#state = readSuperblock(table.#database, directory);
      return table;
    } catch (error) {
      await table.close();
      throw table.#refusal(error);
    }
  }

  get state(): LmdbTableState {
    return this.#state;
  }

  /**
   * Hands all entries to `each`, in revision order; resolves with the newest revision, at least `compacted`: up to there entries may be
   * missing, because they were forgotten. The buffer is used again for the next entry.
   */
  async read(compacted: Revision, each: (entry: BorrowedEntry) => void): Promise<Revision> {
    let last = compacted;
    let count = 0;
    for (const { key, value } of this.#entries()) {
      const revision = readRevisionKey(key);
      if (revision > compacted && revision !== ++last) {
        throw new StoreCorruptedError(this.#directory, `revision ${last} is missing`);
      }
      each({ revision, buffer: asBuffer(value), length: value.length });
      count++;
    }
    // One is the superblock.
    const expected = Math.max(statistics(this.#database).entryCount - 1, 0);
    if (count !== expected) {
      throw new StoreCorruptedError(this.#directory, `data.mdb has ${count} entries where it should have ${expected}`);
    }
    if (this.#shortage !== undefined) await this.#findFreePages();
    this.#shortage = undefined;
    // What was read would stay in the memory map, as much again as the values themselves.
    if (last > 0) this.#renew();
    await this.#renewed;
    return last;
  }

  *#entries(): Generator<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
    try {
      for (const entry of this.#database.getRange({ start: revisionKey(1) })) {
        if (entry.key.length !== REVISION_KEY_BYTES) {
          throw new StoreCorruptedError(this.#directory, `data.mdb has a key of ${entry.key.length} bytes`);
        }
        yield entry;
      }
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /**
   * lmdb looks for free pages when it writes, in pages that nothing else reads. Where these are damaged that had better be known before
   * anything is acknowledged. A disk that is full is no damage: what is on it can be read.
   */
  async #findFreePages(): Promise<void> {
    const failure = await rejection(settled(this.#database.put(SUPERBLOCK, superblock(this.#state))));
    if (isDamage(failure?.cause)) throw this.#refusal(failure?.cause);
  }

  /** What reading failed with, as damage where it is. */
  #refusal(error: unknown): unknown {
    const shortage = this.#shortage;
    if (!isDamage(error) && (shortage === undefined || !(error instanceof StoreFormatError))) return error;
    const found = shortage === undefined ? 'data.mdb' : `data.mdb had ${shortage.size} bytes of ${shortage.counted}`;
    return new StoreCorruptedError(this.#directory, `${found}: ${messageOf(error)}`);
  }

  get #file(): string {
    return join(this.#directory, 'data.mdb');
  }

  /** Before the first redo log is written. */
  async beginRedo(id: Uint8Array): Promise<void> {
    const state = { ...this.#state, redo: { id, applied: 0 } };
    this.#shortage = undefined;
    await settled(this.#database.put(SUPERBLOCK, superblock(state)));
    this.#state = state;
  }

  async apply(records: readonly RedoRecord[]): Promise<void> {
    if (this.#renewed !== undefined) await this.#renewed;
    const state = stateAfter(this.#state, records);
    const table: Appendable = this.#database;
    const durable = this.#database.batch(() => {
      for (const { entries, forget } of records) {
        // Revisions only grow, so lmdb may fill its pages to the brim instead of splitting them in the middle.
        for (const { revision, bytes } of entries) void table.put(revisionKey(revision), bytes, { append: true });
        for (const revision of forget) void this.#database.remove(revisionKey(revision));
      }
      void this.#database.put(SUPERBLOCK, superblock(state));
    });
    await settled(durable);
    this.#state = state;
    for (const { entries, forget } of records) {
      for (const { bytes } of entries) this.#touched += bytes.length;
      this.#touched += forget.length * FORGET_TOUCHES;
    }
    if (this.#touched >= MOST_MAPPED) this.#renew();
  }

  /** Nothing waits for it but the next batch, which fails with it. */
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
    // Whoever looks at a file that was refused finds it as it was.
    if (this.#shortage !== undefined) await truncate(this.#file, this.#shortage.size);
  }
}

function stateAfter({ redo }: LmdbTableState, records: readonly RedoRecord[]): LmdbTableState {
  const last = records.at(-1);
  assert(redo !== undefined && last !== undefined, 'records come from redo logs that the table knows');
  return { compacted: last.compacted, redo: { id: redo.id, applied: last.sequence } };
}

function openEnvironment({ open }: LmdbModule, directory: string): Environment {
  const options: RootDatabaseOptionsWithPath & { readonly encoder: typeof borrowingDecoder } = {
    path: directory,
    noSubdir: false,
    pageSize: PAGE_SIZE,
    overlappingSync: false,
    // Otherwise the turn has a promise of its own, which nobody can see, and which rejects where a batch does.
    eventTurnBatching: false,
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

/** In bytes: the size of the file as it was found, and that of the pages that lmdb counts. */
interface Shortage {
  readonly size: number;
  readonly counted: number;
}

/**
 * Makes the file as long as lmdb counts its pages, and tells what it lacked.
 *
 * A file may be shorter than that by pages that one transaction took and gave back: lmdb writes them when it uses them again. It may
 * also have been cut off, and a page that is not there would kill the process that reads it through the memory map. A page of zeros
 * does not: it is of no kind that lmdb knows, and what it should have held of an entry does not have its checksum.
 */
async function makeUpForMissingPages(environment: Environment, file: string): Promise<Shortage | undefined> {
  const { lastPageNumber, pageSize } = statistics(environment);
  const { size } = await stat(file);
  const counted = (lastPageNumber + 1) * pageSize;
  if (size >= counted) return undefined;
  await truncate(file, counted);
  return { size, counted };
}

function isRedo(redo: Superblock['redo']): redo is NonNullable<Superblock['redo']> {
  if (typeof redo !== 'object' || redo === null || typeof redo.id !== 'string') return false;
  return (
    /^[0-9a-f]+$/.test(redo.id) &&
    redo.id.length === 2 * STORE_ID_BYTES &&
    Number.isSafeInteger(redo.applied) &&
    redo.applied >= 0
  );
}

function readSuperblock(environment: Environment, directory: string): LmdbTableState {
  const bytes = environment.get(SUPERBLOCK);
  if (bytes === undefined) {
    if (statistics(environment).entryCount > 0) throw new StoreFormatError(directory, FOREIGN);
    return { compacted: 0 };
  }
  const { format, version, compacted, redo } = parseSuperblock(bytes);
  if (format !== FORMAT || !Number.isSafeInteger(compacted)) throw new StoreFormatError(directory, FOREIGN);
  if (version === VERSION_WITHOUT_REDO) return { compacted };
  if (version !== VERSION) throw new StoreFormatError(directory, `data in format ${version}`);
  if (!isRedo(redo)) throw new StoreFormatError(directory, FOREIGN);
  return { compacted, redo: { id: Buffer.from(redo.id, 'hex'), applied: redo.applied } };
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
  const hint = codeOf(reason) === EIO ? ' (is the disk full?)' : '';
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
  const key = Buffer.alloc(REVISION_KEY_BYTES);
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

function superblock({ compacted, redo }: LmdbTableState): Uint8Array {
  const written = redo && { id: Buffer.from(redo.id).toString('hex'), applied: redo.applied };
  const content: Superblock = { format: FORMAT, version: VERSION, compacted, ...(written && { redo: written }) };
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

/** lmdb's MDB_CORRUPTED, MDB_PAGE_NOTFOUND and MDB_PROBLEM. */
function isDamage(error: unknown): boolean {
  return [-30_796, -30_797, -30_779].includes(codeOf(error));
}

/** lmdb's MDB_INVALID, MDB_VERSION_MISMATCH and MDB_CORRUPTED. */
function isInvalidFile(error: unknown): boolean {
  return [-30_793, -30_794, -30_796].includes(codeOf(error));
}

/** lmdb's number for an error; NaN: it has none. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
}
