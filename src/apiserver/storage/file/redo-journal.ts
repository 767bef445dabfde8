import { basename, join } from 'node:path';
import { assert } from '../../../base/errors/assert.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import { asError, messageOf } from '../../../base/errors/thrown.ts';
import type { Revision } from '../interface.ts';
import type { Journal, JournalCommit } from '../embedded/journal.ts';
import { REDO_LOG_BYTES, RedoLog, hasRecords, makeRedoLogs } from './redo-log.ts';
import { readRedoRecord, redoRecordSize, writeRedoRecord } from './redo-record.ts';
import type { RedoRecord } from './redo-record.ts';
import { recoverRedo, RedoDamagedError } from './redo-recovery.ts';
import type { LocatedRecord, RedoRecovery } from './redo-recovery.ts';
import { isOutOfSpace, StoreCorruptedError, StoreDirectoryError, StoreFullError } from '../store-errors.ts';

/** The table that receives the records of the logs, in order. */
export interface RedoTable {
  /**
   * Resolves when the records and the number of the last one are on disk. May be called again with the same records after a failure for
   * lack of space. Calls never overlap.
   */
  apply(records: readonly RedoRecord[]): Promise<void>;
  /** After a failed `apply`: resolves when none of its records is on disk, so that other records may have their numbers. */
  discard(): Promise<void>;
  close(): Promise<void>;
}

/** The table's knowledge about the logs beside it. */
export interface RedoState {
  readonly id: Uint8Array;
  /** The sequence of the newest record that the table has. */
  readonly applied: number;
}

type Logs = readonly [RedoLog, RedoLog];

/** Number of changes and revisions to forget that are applied to the table together, in one turn of the event loop. */
const APPLIED_AT_ONCE = 1024;

/** Bytes of entries that are applied to the table together. A flush of more would delay the records that are written meanwhile. */
const APPLIED_BYTES = 64 << 10;

/** The logs of a store as they were found, before anything is written. */
export class RedoLogs {
  readonly #logs: Logs;
  readonly #recovery: RedoRecovery;
  readonly #id: Uint8Array;

  private constructor(logs: Logs, recovery: RedoRecovery, id: Uint8Array) {
    this.#logs = logs;
    this.#recovery = recovery;
    this.#id = id;
  }

  /**
   * Creates the files of a new table. Rejects with {@link StoreCorruptedError} if there are files with records, because these belong to a
   * missing table, and with {@link StoreDirectoryError}.
   */
  static async make(directory: string): Promise<void> {
    const paths = logPaths(directory);
    await orUnusable(directory, async () => {
      for (const path of paths) {
        if (!(await hasRecords(path))) continue;
        throw new StoreCorruptedError(directory, `data.kubegc is missing, or older than ${basename(path)}`);
      }
      await makeRedoLogs(paths);
    });
  }

  /** Rejects with {@link StoreCorruptedError} or {@link StoreDirectoryError}; nothing is open then. */
  static async open(directory: string, { id, applied }: RedoState): Promise<RedoLogs> {
    const logs = await openLogs(directory);
    try {
      return new RedoLogs(logs, await orUnusable(directory, () => readLogs(logs, id, applied)), id);
    } catch (error) {
      await closeLogs(logs);
      throw error instanceof RedoDamagedError ? new StoreCorruptedError(directory, error.message) : error;
    }
  }

  /** The records that the table lacks, in order. */
  get pending(): RedoRecord[] {
    const { pending, current } = this.#recovery;
    return [...pending[1 - current]!, ...pending[current]].map(({ record }) => record);
  }

  close(): Promise<void> {
    return closeLogs(this.#logs);
  }

  /** `compacted` is the newest compacted revision in `pending`, or else in the table. */
  journal(table: RedoTable, state: { readonly compacted: Revision; readonly logger: Logger }): RedoJournal {
    return new RedoJournal({ logs: this.#logs, recovery: this.#recovery, id: this.#id, table, ...state });
  }
}

interface RedoJournalOptions {
  readonly logs: Logs;
  readonly recovery: RedoRecovery;
  readonly id: Uint8Array;
  readonly table: RedoTable;
  readonly compacted: Revision;
  readonly logger: Logger;
}

/**
 * A journal in front of a table that is slow to become durable. A commit is one record in one of two logs, and is acknowledged when the
 * record is on the disk. A full log is applied to the table while the other one is written; it is overwritten only when the table has all
 * its records on the disk.
 *
 * The records that the table lacks are in memory: two logs at most. `redo-recovery.ts` describes the logs after a stop.
 */
export class RedoJournal implements Journal {
  readonly #logs: Logs;
  readonly #id: Uint8Array;
  readonly #table: RedoTable;
  readonly #logger: Logger;
  /** For each log, the offsets of records that the table may lack. */
  readonly #pending: [number[], number[]];
  #current: 0 | 1;
  /** Offset of the next record in the current log. */
  #offset: number;
  #sequence: number;
  #compacted: Revision;
  /**
   * The range of the current log where a record found no room on the disk. Parts of it may be there, and the next record gets its number, so
   * the range is overwritten before anything else is committed.
   */
  #remains: { readonly start: number; readonly end: number } | undefined;
  /** The transfer of the other log to the table: in progress or done. */
  #applying: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor({ logs, recovery, id, table, compacted, logger }: RedoJournalOptions) {
    this.#logs = logs;
    this.#id = id;
    this.#table = table;
    this.#logger = logger;
    this.#pending = [recovery.pending[0].map(offsetOf), recovery.pending[1].map(offsetOf)];
    this.#current = recovery.current;
    this.#offset = recovery.offset;
    this.#sequence = recovery.sequence;
    this.#compacted = compacted;
  }

  async commit(commit: JournalCommit): Promise<void> {
    // Throws at once, not only when the other log is full: commits acknowledged until then would reach the table only after a restart.
    if (this.#failure !== undefined) throw this.#failure;
    await this.#overwriteRemains();
    const size = redoRecordSize(commit);
    if (size > REDO_LOG_BYTES) await this.#commitToTable(commit, size);
    else {
      if (this.#offset + size > REDO_LOG_BYTES) await this.#turnToOtherLog();
      await this.#commitToLog(commit, size);
      this.#pending[this.#current].push(this.#offset);
      this.#offset += size;
    }
    this.#sequence++;
    this.#compacted = commit.compacted ?? this.#compacted;
  }

  async #commitToLog(commit: JournalCommit, size: number): Promise<void> {
    const log = this.#logs[this.#current];
    const start = this.#offset;
    const end = start + size;
    this.#write(log.buffer, start, commit);
    try {
      await log.write(start, end);
    } catch (error) {
      log.buffer.fill(0, start, end);
      if (isOutOfSpace(error)) this.#remains = { start, end };
      throw this.#failed(error);
    }
  }

  /** The error that a commit rejects with. Everything but a lack of space ends the journal. */
  #failed(error: unknown): Error {
    if (isOutOfSpace(error)) return new StoreFullError(messageOf(error), error);
    this.#failure = asError(error);
    return this.#failure;
  }

  /** See {@link Journal}. */
  async makeRoom(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await this.#applied();
    await this.#overwriteRemains();
  }

  async #overwriteRemains(): Promise<void> {
    if (this.#remains === undefined) return;
    const { start, end } = this.#remains;
    try {
      await this.#logs[this.#current].write(start, end);
      this.#remains = undefined;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #write(target: Buffer, offset: number, commit: JournalCommit): void {
    const sequence = this.#sequence + 1;
    const compacted = commit.compacted ?? this.#compacted;
    writeRedoRecord(target, offset, { id: this.#id, sequence, compacted }, commit);
  }

  /** Applies a commit that is too large for a log to the table, after all earlier commits. */
  async #commitToTable(commit: JournalCommit, size: number): Promise<void> {
    await this.#applied();
    await this.#apply(this.#current);
    this.#offset = 0;
    const record = Buffer.allocUnsafeSlow(size);
    this.#write(record, 0, commit);
    try {
      await this.#applyRecords(record, [0]);
    } catch (error) {
      // No log has this commit, and the next commit gets its number.
      if (this.#failure === undefined) await this.#table.discard().catch((problem: unknown) => this.#end(problem));
      throw error;
    }
  }

  #end(problem: unknown): never {
    this.#failure = asError(problem);
    throw this.#failure;
  }

  async #turnToOtherLog(): Promise<void> {
    await this.#applied();
    const full = this.#current;
    this.#current = full === 0 ? 1 : 0;
    this.#offset = 0;
    this.#applying = this.#apply(full);
    // The next commit reports the failure.
    this.#applying.catch(() => {});
  }

  /** Resolves when the table has all records of the other log. After a restart, their transfer has not begun yet. */
  #applied(): Promise<void> {
    this.#applying ??= this.#apply(this.#current === 0 ? 1 : 0);
    return this.#applying;
  }

  /** If this call finds no space, the next one continues at that place. */
  async #apply(log: 0 | 1): Promise<void> {
    try {
      await this.#applyRecords(this.#logs[log].buffer, this.#pending[log]);
    } catch (error) {
      if (this.#failure === undefined && log !== this.#current) this.#applying = undefined;
      throw error;
    }
  }

  /** Applies the records, and removes their offsets. */
  async #applyRecords(buffer: Buffer, offsets: number[]): Promise<void> {
    let done = 0;
    try {
      for (const records of inPieces(this.#read(buffer, offsets))) {
        await this.#table.apply(records);
        done += records.length;
      }
    } catch (error) {
      throw this.#failed(error);
    } finally {
      offsets.splice(0, done);
    }
  }

  /**
   * Reads the records back; they are not kept, because hundreds of small objects for each log would reach the old generation before they
   * are dropped.
   */
  *#read(buffer: Buffer, offsets: readonly number[]): Generator<RedoRecord> {
    for (const offset of offsets) {
      const found = readRedoRecord(buffer, offset, this.#id);
      assert(found !== undefined, 'the buffer of a redo log holds its records');
      yield found.record;
    }
  }

  /** Empties the logs, unless the table cannot take their records: then the next start finds them in the logs. */
  async close(): Promise<void> {
    try {
      await this.#applied();
      if (this.#failure === undefined) await this.#apply(this.#current);
    } catch (error) {
      const { message } = asError(error);
      this.#logger.warn('the database could not take what the redo logs hold; the next start reads it from them', {
        error: message,
      });
    }
    await this.#table.close().finally(() => closeLogs(this.#logs));
  }
}

async function readLogs(logs: Logs, id: Uint8Array, applied: number): Promise<RedoRecovery> {
  for (const [i, log] of logs.entries()) {
    const length = await log.read();
    if (length !== REDO_LOG_BYTES) {
      throw new RedoDamagedError(`${logName(i)} has ${length} bytes where it should have ${REDO_LOG_BYTES}`);
    }
  }
  const recovery = recoverRedo([logs[0].buffer, logs[1].buffer], id, applied);
  const { pending, current, offset } = recovery;
  for (const [i, log] of logs.entries()) if (pending[i]!.length === 0) log.dropBuffer();
  // Writes the newest record again, because only this one may not have been acknowledged: it will be served, so it must survive the next
  // power cut. A flush alone would not do, because it does not repeat the failed write of a page.
  const newest = pending[current].at(-1);
  if (newest !== undefined) await logs[current].write(newest.offset, offset);
  return recovery;
}

/** Turns an error that is not about the content of the files into one about the directory. */
async function orUnusable<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RedoDamagedError || error instanceof StoreCorruptedError) throw error;
    throw new StoreDirectoryError(directory, error);
  }
}

function* inPieces(records: Iterable<RedoRecord>): Generator<RedoRecord[]> {
  let piece: RedoRecord[] = [];
  let count = 0;
  let bytes = 0;
  for (const record of records) {
    const more = record.entries.length + record.forget.length;
    let moreBytes = 0;
    for (const entry of record.entries) moreBytes += entry.bytes.length;
    if (piece.length > 0 && (count + more > APPLIED_AT_ONCE || bytes + moreBytes > APPLIED_BYTES)) {
      yield piece;
      piece = [];
      count = 0;
      bytes = 0;
    }
    piece.push(record);
    count += more;
    bytes += moreBytes;
  }
  if (piece.length > 0) yield piece;
}

function offsetOf({ offset }: LocatedRecord): number {
  return offset;
}

function logName(i: number): string {
  return `redo-${i}.log`;
}

function logPaths(directory: string): [string, string] {
  return [join(directory, logName(0)), join(directory, logName(1))];
}

async function openLogs(directory: string): Promise<Logs> {
  const [first, second] = logPaths(directory);
  const log = await openLog(directory, first);
  try {
    return [log, await openLog(directory, second)];
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function openLog(directory: string, path: string): Promise<RedoLog> {
  try {
    return await RedoLog.open(path);
  } catch (error) {
    throw isMissing(error)
      ? new StoreCorruptedError(directory, `${basename(path)} is missing`)
      : new StoreDirectoryError(directory, error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function closeLogs(logs: Logs): Promise<void> {
  await Promise.all(logs.map((log) => log.close()));
}
