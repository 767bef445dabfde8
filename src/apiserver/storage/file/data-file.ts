import { crc32 } from 'node:zlib';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../../../base/errors/assert.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import { asError, messageOf } from '../../../base/errors/thrown.ts';
import type { Revision } from '../interface.ts';
import { FRAME_LENGTH_BYTES, frameBytes, frameLength, isWhole, readFrame } from './data-frame.ts';
import type { DataFrame } from './data-frame.ts';
import { EntrySizes } from './entry-sizes.ts';
import { REDO_LOG_BYTES } from './redo-log.ts';
import type { RedoTable } from './redo-journal.ts';
import { STORE_ID_BYTES } from './redo-record.ts';
import type { JournalEntry, RedoRecord } from './redo-record.ts';
import { StoreCorruptedError, StoreDirectoryError, StoreFormatError } from '../store-errors.ts';

export const DATA_FILE = 'data.kubegc';
const NEW_FILE = 'data.kubegc.new';

const FORMAT = 'kubegc-data';
const VERSION = 3;

/** A JSON block with a checksum, so that people and later versions can identify the file. */
const HEADER_BYTES = 512;
/** After the header: a checksum and the number of a commit that the file must contain. */
const WITNESS_AT = HEADER_BYTES;
const WITNESS_BYTES = 12;
const FRAMES_AT = 4096;

const READ_BYTES = 1 << 20;
/** Bytes of entries in one frame of a snapshot. */
const SNAPSHOT_FRAME_BYTES = 1 << 20;
/** Minimum forgotten bytes before the file is rewritten. */
const SPARE_BYTES = 4 << 20;

/** Opens the data file, as Node's `open` does. */
export type OpenHandle = (path: string, flags: string, mode?: number) => Promise<FileHandle>;

/** How the file begins: a snapshot of `entries` entries, which has the commits up to `applied`. */
interface DataHeader {
  readonly id: Uint8Array;
  readonly applied: number;
  readonly compacted: Revision;
  readonly entries: number;
}

/** The first `length` bytes of a buffer that may be longer and is reused. */
export interface BorrowedEntry {
  readonly revision: Revision;
  readonly buffer: Buffer;
  readonly length: number;
}

/**
 * The entries of a journal in one file: a snapshot, followed by one frame for each group of commits from the redo logs. Every frame has a
 * checksum, and the numbers of its commits continue those of the previous frame. An unfinished frame is still in the redo logs, which are
 * overwritten only after the file has it on disk. So the logs prove what the file must contain, and a damaged frame is either repaired from
 * them or refused. When a third of the entries' bytes is forgotten, the file is rewritten beside the old one, which it then replaces.
 */
export class DataFile implements RedoTable {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #openHandle: OpenHandle;
  readonly #id: Uint8Array;
  readonly #sizes = new EntrySizes();
  #handle: FileHandle;
  #end = FRAMES_AT;
  #applied: number;
  #compacted: Revision;
  /** The file may have old bytes after `#end`, which must not continue the next frame. */
  #tail: 'clean' | 'unknown' = 'unknown';
  /** A snapshot is being written. Forgotten revisions wait until it is done, because it contains the entries of its start. */
  #rewrite: { readonly done: Promise<void>; readonly forgotten: Revision[] } | undefined;
  /** The next snapshot starts when this many more bytes are forgotten than half of the others. A failed snapshot raises it. */
  #spare = SPARE_BYTES;
  #applying: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #state: 'open' | 'closing' = 'open';

  private constructor(directory: string, logger: Logger, { handle, header }: OpenFile, openHandle: OpenHandle) {
    this.#openHandle = openHandle;
    this.#directory = directory;
    this.#logger = logger;
    this.#handle = handle;
    this.#id = header.id;
    this.#applied = header.applied;
    this.#compacted = header.compacted;
  }

  /** Creates an empty file on disk. */
  static async make(directory: string, id: Uint8Array, openHandle: OpenHandle = open): Promise<void> {
    try {
      const header = { id, applied: 0, compacted: 0, entries: 0 };
      const handle = await makeFile(directory, header, openHandle);
      await handle.datasync().finally(() => handle.close());
      await rename(join(directory, NEW_FILE), join(directory, DATA_FILE));
      await syncFolder(directory);
    } catch (error) {
      throw new StoreDirectoryError(directory, error);
    }
  }

  /** Opens the file and reads its content. Resolves with undefined when there is none. */
  static async open(directory: string, logger: Logger, openHandle: OpenHandle = open): Promise<DataFile | undefined> {
    const opened = await openFile(directory, openHandle);
    if (opened === undefined) return undefined;
    try {
      const file = new DataFile(directory, logger, opened, openHandle);
      await file.#survey(opened.header);
      await rm(join(directory, NEW_FILE), { force: true });
      return file;
    } catch (error) {
      await opened.handle.close();
      throw error;
    }
  }

  get id(): Uint8Array {
    return this.#id;
  }

  /** The number of the newest commit in the file. */
  get applied(): number {
    return this.#applied;
  }

  get compacted(): Revision {
    return this.#compacted;
  }

  /**
   * Calls `each` with the entries that are not forgotten, in the order of their revisions and without gaps above the compacted one. Their
   * buffer is reused for the next one.
   */
  async read(each: (entry: BorrowedEntry) => void): Promise<void> {
    const end = await eachFrame(this.#handle, { from: FRAMES_AT, to: this.#end, checksums: 'known' }, ({ entries }) => {
      for (const { revision, bytes } of entries) {
        if (this.#sizes.isLive(revision)) each({ revision, buffer: bytes, length: bytes.length });
      }
      return true;
    });
    if (end !== this.#end) throw this.#damaged(`${DATA_FILE} cannot be read behind byte ${end}`);
  }

  /** Finds the end of the file, and the entries that it forgot. */
  async #survey(header: DataHeader): Promise<void> {
    const { size } = await this.#handle.stat();
    let inSnapshot = header.entries;
    let last = header.compacted;
    const take = (frame: DataFrame): boolean => {
      const ofSnapshot = inSnapshot > 0;
      if (ofSnapshot ? frame.first !== 0 : frame.first !== this.#applied + 1) return false;
      for (const { revision, bytes } of frame.entries) {
        if (revision > header.compacted && revision !== ++last) throw this.#damaged(`revision ${last} is missing`);
        this.#sizes.add(revision, bytes.length);
      }
      for (const revision of frame.forget) this.#sizes.forget(revision);
      if (ofSnapshot) inSnapshot -= frame.entries.length;
      else {
        this.#applied = frame.last;
        this.#compacted = frame.compacted;
      }
      return true;
    };
    this.#end = await eachFrame(this.#handle, { from: FRAMES_AT, to: size, checksums: 'checked' }, take);
    if (inSnapshot !== 0) throw this.#damaged(`${DATA_FILE} cannot be read behind byte ${this.#end} of ${size}`);
    const witness = await readWitness(this.#handle);
    if (this.#applied < witness) {
      throw this.#damaged(
        `${DATA_FILE} cannot be read behind byte ${this.#end} of ${size}: commit ${witness} is missing`,
      );
    }
    if (this.#end === size) this.#tail = 'clean';
  }

  #damaged(problem: string): StoreCorruptedError {
    return new StoreCorruptedError(this.#directory, problem);
  }

  apply(records: readonly RedoRecord[]): Promise<void> {
    this.#applying = this.#applying.catch(() => {}).then(() => this.#append(records));
    return this.#applying;
  }

  /** See {@link RedoTable}. */
  discard(): Promise<void> {
    this.#applying = this.#applying
      .catch(() => {})
      .then(async () => {
        if (this.#tail === 'clean') return;
        await this.#handle.truncate(this.#end);
        // The witness may name the discarded commit.
        await writeWitness(this.#handle, this.#applied);
        await this.#handle.datasync();
        this.#tail = 'clean';
      });
    return this.#applying;
  }

  async #append(records: readonly RedoRecord[]): Promise<void> {
    const first = records[0];
    const last = records.at(-1);
    assert(first?.sequence === this.#applied + 1 && last !== undefined, 'commits are applied in order');
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#tail === 'unknown') await this.#handle.truncate(this.#end);
    // Until this frame is on disk, bytes after the end may belong to it.
    this.#tail = 'unknown';
    const entries = records.flatMap((record) => record.entries);
    const forget = records.flatMap((record) => record.forget);
    const { sequence: applied, compacted } = last;
    const frame = frameBytes({ first: first.sequence, last: applied, compacted, forget, entries });
    await writeAll(this.#handle, frame, this.#end);
    await this.#handle.datasync();
    // A redo log cannot hold a commit of this size, so it cannot prove it.
    if (frame.length > REDO_LOG_BYTES) {
      await writeWitness(this.#handle, applied);
      await this.#handle.datasync();
    }
    this.#tail = 'clean';
    this.#end += frame.length;
    this.#applied = applied;
    this.#compacted = compacted;
    for (const { revision, bytes } of entries) this.#sizes.add(revision, bytes.length);
    if (this.#rewrite === undefined) for (const revision of forget) this.#sizes.forget(revision);
    else for (const revision of forget) this.#rewrite.forgotten.push(revision);
    this.#rewriteIfWorthwhile();
  }

  #rewriteIfWorthwhile(): void {
    const { forgottenBytes, liveBytes } = this.#sizes;
    if (this.#rewrite !== undefined || this.#state !== 'open' || forgottenBytes < liveBytes / 2 + this.#spare) return;
    this.#rewrite = { forgotten: [], done: this.#rewriteFile() };
  }

  /** Never rejects: without space for a second file, the first one continues. */
  async #rewriteFile(): Promise<void> {
    // The frame that triggered the snapshot is complete, and the next one may begin meanwhile.
    const from = { end: this.#end, applied: this.#applied, compacted: this.#compacted, entries: this.#sizes.live };
    try {
      const { applied, compacted, entries } = from;
      const target = await makeFile(this.#directory, { id: this.#id, applied, compacted, entries }, this.#openHandle);
      try {
        await this.#copyInto(target, from.end);
      } catch (error) {
        await target.close();
        throw error;
      }
      this.#spare = SPARE_BYTES;
    } catch (error) {
      this.#finishRewrite();
      if (this.#state === 'closing') return;
      this.#spare += this.#sizes.forgottenBytes;
      this.#logger.warn('could not write the data file anew, will retry', { error: messageOf(error) });
    } finally {
      await rm(join(this.#directory, NEW_FILE), { force: true }).catch(() => {});
    }
  }

  async #copyInto(target: FileHandle, end: number): Promise<void> {
    let at = await this.#copySnapshot(target, end);
    // Copies the frames that were added meanwhile; the last of them while no frame is being written.
    let copied = end;
    for (;;) {
      const applying = this.#applying;
      await applying.catch(() => {});
      if (this.#state === 'closing') throw new Error('the store closes');
      if (applying !== this.#applying) continue;
      if (copied === this.#end) break;
      const upTo = this.#end;
      at = await copyBytes({ source: this.#handle, from: copied, to: upTo }, target, at);
      await target.datasync();
      copied = upTo;
    }
    // The next frame waits until the files were exchanged, or the exchange failed.
    const exchanged = this.#exchange(target, at);
    this.#applying = exchanged.catch(() => {});
    await exchanged;
  }

  async #exchange(target: FileHandle, end: number): Promise<void> {
    await writeWitness(target, this.#applied);
    await target.datasync();
    await rename(join(this.#directory, NEW_FILE), join(this.#directory, DATA_FILE));
    const old = this.#handle;
    this.#handle = target;
    this.#end = end;
    this.#tail = 'clean';
    this.#sizes.dropForgotten();
    this.#finishRewrite();
    try {
      await syncFolder(this.#directory);
    } catch (error) {
      // After a power failure the name may still refer to the old file, which gets no more frames.
      this.#failure = asError(error);
    }
    await old.close();
  }

  #finishRewrite(): void {
    for (const revision of this.#rewrite?.forgotten ?? []) this.#sizes.forget(revision);
    this.#rewrite = undefined;
  }

  async #copySnapshot(target: FileHandle, end: number): Promise<number> {
    let at = FRAMES_AT;
    let entries: JournalEntry[] = [];
    let bytes = 0;
    const flush = async (): Promise<void> => {
      if (entries.length === 0) return;
      const frame = frameBytes({ first: 0, last: 0, compacted: 0, forget: [], entries });
      entries = [];
      bytes = 0;
      await writeAll(target, frame, at);
      // A flush of more data would delay concurrent commits.
      await target.datasync();
      at += frame.length;
    };
    const copied = await eachFrame(this.#handle, { from: FRAMES_AT, to: end, checksums: 'checked' }, async (frame) => {
      if (this.#state === 'closing') throw new Error('the store closes');
      for (const entry of frame.entries) {
        if (!this.#sizes.isLive(entry.revision)) continue;
        entries.push({ revision: entry.revision, bytes: Buffer.from(entry.bytes) });
        bytes += entry.bytes.length;
        if (bytes >= SNAPSHOT_FRAME_BYTES) await flush();
      }
      return true;
    });
    if (copied !== end) throw new Error(`${DATA_FILE} cannot be read behind byte ${copied}`);
    await flush();
    return at;
  }

  async close(): Promise<void> {
    this.#state = 'closing';
    await this.#rewrite?.done;
    await this.#handle.close();
  }
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly header: DataHeader;
}

async function openFile(directory: string, openHandle: OpenHandle): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    handle = await openHandle(join(directory, DATA_FILE), 'r+');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new StoreDirectoryError(directory, error);
  }
  try {
    return { handle, header: await readHeader(handle, directory) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function makeFile(directory: string, header: DataHeader, openHandle: OpenHandle): Promise<FileHandle> {
  const handle = await openHandle(join(directory, NEW_FILE), 'w+', 0o600);
  try {
    const block = Buffer.alloc(FRAMES_AT);
    headerBlock(header).copy(block);
    await writeAll(handle, block, 0);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A name is durable once its directory is synced; Windows cannot open a directory. */
async function syncFolder(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(directory, 'r');
  await folder.sync().finally(() => folder.close());
}

function headerBlock({ id, applied, compacted, entries }: DataHeader): Buffer {
  const block = Buffer.alloc(HEADER_BYTES, ' ');
  const hex = Buffer.from(id).toString('hex');
  block.write(`${JSON.stringify({ format: FORMAT, version: VERSION, id: hex, applied, compacted, entries })}\n`);
  block.writeUint32LE(crc32(block.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
  return block;
}

async function readHeader(handle: FileHandle, directory: string): Promise<DataHeader> {
  const block = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await handle.read(block, 0, HEADER_BYTES, 0);
  const parsed = parseHeader(block.toString('utf8', 0, HEADER_BYTES - 4));
  if (parsed === undefined) {
    // Every data file of kubegc begins like this, also in later versions.
    if (block.toString('latin1', 0, 25).startsWith(`{"format":"${FORMAT}"`) || bytesRead < HEADER_BYTES) {
      throw new StoreCorruptedError(directory, `the header of ${DATA_FILE} is wrong`);
    }
    throw new StoreFormatError(directory, `a file ${DATA_FILE} of another program`);
  }
  if (parsed.format !== FORMAT) throw new StoreFormatError(directory, `a file ${DATA_FILE} of another program`);
  if (parsed.version !== VERSION) throw new StoreFormatError(directory, `data in format ${parsed.version}`);
  const { id, applied, compacted, entries } = parsed;
  const numbers = [applied, compacted, entries].every((each) => Number.isSafeInteger(each) && each >= 0);
  const checksum = block.readUint32LE(HEADER_BYTES - 4) === crc32(block.subarray(0, HEADER_BYTES - 4));
  if (!checksum || !numbers || !/^[0-9a-f]+$/.test(id) || id.length !== 2 * STORE_ID_BYTES) {
    throw new StoreCorruptedError(directory, `the header of ${DATA_FILE} is wrong`);
  }
  return { id: Buffer.from(id, 'hex'), applied, compacted, entries };
}

interface WrittenHeader {
  readonly format: string;
  readonly version: number;
  readonly id: string;
  readonly applied: number;
  readonly compacted: number;
  readonly entries: number;
}

function parseHeader(text: string): WrittenHeader | undefined {
  try {
    return JSON.parse(text.slice(0, text.indexOf('\n'))) as WrittenHeader;
  } catch {
    return undefined;
  }
}

async function writeWitness(handle: FileHandle, applied: number): Promise<void> {
  const bytes = Buffer.alloc(WITNESS_BYTES);
  bytes.writeDoubleLE(applied, 4);
  bytes.writeUint32LE(crc32(bytes.subarray(4)), 0);
  await writeAll(handle, bytes, WITNESS_AT);
}

/** 0 if the file names no commit. */
async function readWitness(handle: FileHandle): Promise<number> {
  const bytes = Buffer.alloc(WITNESS_BYTES);
  await handle.read(bytes, 0, WITNESS_BYTES, WITNESS_AT);
  return bytes.readUint32LE(0) === crc32(bytes.subarray(4)) ? bytes.readDoubleLE(4) : 0;
}

/** Calls `take` with each frame until one cannot be read or `take` refuses it. Resolves with the start of that frame. */
async function eachFrame(
  handle: FileHandle,
  { from, to, checksums }: { from: number; to: number; checksums: 'checked' | 'known' },
  take: (frame: DataFrame) => boolean | Promise<boolean>,
): Promise<number> {
  let buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let held = 0;
  let start = 0;
  let at = from;
  /** Reads until the buffer holds `wanted` bytes of the frame; false if the file ends before. */
  const fill = async (wanted: number): Promise<boolean> => {
    if (at + wanted > to) return false;
    if (held - start >= wanted) return true;
    const rest = buffer.subarray(start, held);
    const next = wanted > buffer.length ? Buffer.allocUnsafeSlow(wanted) : buffer;
    rest.copy(next);
    buffer = next;
    held = rest.length;
    start = 0;
    while (held < wanted) {
      const most = Math.min(buffer.length - held, to - at - held);
      const { bytesRead } = await handle.read(buffer, held, most, at + held);
      if (bytesRead === 0) return false;
      held += bytesRead;
    }
    return true;
  };
  for (;;) {
    if (held - start < FRAME_LENGTH_BYTES && !(await fill(FRAME_LENGTH_BYTES))) return at;
    const length = frameLength(buffer, start);
    if (length === undefined) return at;
    if (held - start < length && !(await fill(length))) return at;
    if (checksums === 'checked' && !isWhole(buffer, start, length)) return at;
    const taken = take(readFrame(buffer, start));
    if (!(typeof taken === 'boolean' ? taken : await taken)) return at;
    start += length;
    at += length;
  }
}

async function copyBytes(
  { source, from, to }: { source: FileHandle; from: number; to: number },
  target: FileHandle,
  at: number,
): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let done = from;
  let end = at;
  while (done < to) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, to - done), done);
    if (bytesRead === 0) throw new Error(`${DATA_FILE} ended early`);
    await writeAll(target, buffer.subarray(0, bytesRead), end);
    done += bytesRead;
    end += bytesRead;
  }
  return end;
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    if (bytesWritten === 0) throw new Error('a write into the data file ended early');
    written += bytesWritten;
  }
}
