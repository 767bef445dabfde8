import { resolve } from 'node:path';
import { silentLogger } from '../../../base/logger.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Clock } from '../../../base/clock.ts';
import { systemRandom } from '../../../base/random.ts';
import type { Random } from '../../../base/random.ts';
import { ChangeEntryError, readChangeEntry } from '../embedded/change-entry.ts';
import type { CopyBytes, DecodedChange } from '../embedded/change-entry.ts';
import { lockDirectory } from './directory-lock.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { EmbeddedStore, defaultLimits, historyBound, trimHistory } from '../embedded/embedded-store.ts';
import type { EmbeddedStoreLimits } from '../embedded/embedded-store.ts';
import type { Revision } from '../interface.ts';
import type { Journal } from '../embedded/journal.ts';
import { LmdbTable, loadLmdb } from './lmdb-table.ts';
import type { BorrowedEntry, LmdbModule } from './lmdb-table.ts';
import { MultiVersionMap } from '../embedded/mvcc.ts';
import { RedoLogs } from './redo-journal.ts';
import { STORE_ID_BYTES } from './redo-record.ts';
import { StoreCorruptedError } from '../store-errors.ts';
import { storedSignature } from '../stored-json.ts';

export interface LmdbStoreOptions {
  /** A directory on a local disk; made when it does not exist. Holds secrets, so it is for its owner only. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly random?: Random;
  readonly limits?: Partial<EmbeddedStoreLimits>;
}

/**
 * Opens the durable store: a write that was answered survives kill -9 and power loss.
 *
 * Rejects with LmdbMissingError, StoreLockedError, StoreDirectoryError, StoreFormatError or StoreCorruptedError; the
 * directory is free again then. Loads the optional package lmdb, and nothing does before this is called.
 */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<EmbeddedStore> {
  const directory = resolve(options.path);
  const logger = options.logger ?? silentLogger;
  const limits = { ...defaultLimits, ...options.limits };
  const lmdb = await loadLmdb();
  const random = options.random ?? systemRandom;
  const lock = await lockDirectory(directory, { clock: options.clock, random });
  try {
    const files = await openFiles(lmdb, directory, random);
    try {
      const compacted = files.redo.pending.at(-1)?.compacted ?? files.table.state.compacted;
      const { map, forget } = await readBack(files, { directory, limits, compacted });
      const journal = lockedJournal(files.redo.journal(files.table, { compacted, logger }), lock);
      return new EmbeddedStore({ map, clock: options.clock, logger, limits, journal: { journal, compacted, forget } });
    } catch (error) {
      await files.redo.close().finally(() => files.table.close());
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The table, and the logs of what it may lack. */
interface JournalFiles {
  readonly table: LmdbTable;
  readonly redo: RedoLogs;
}

async function openFiles(lmdb: LmdbModule, directory: string, random: Random): Promise<JournalFiles> {
  const table = await LmdbTable.open(lmdb, directory);
  try {
    return { table, redo: await openRedo(table, directory, random) };
  } catch (error) {
    await table.close();
    throw error;
  }
}

/** The logs are on the disk before the table says that they are there, and that before anything is written to them. */
async function openRedo(table: LmdbTable, directory: string, random: Random): Promise<RedoLogs> {
  const known = table.state.redo;
  if (known !== undefined) return RedoLogs.open(directory, known);
  const id = random.bytes(STORE_ID_BYTES);
  await RedoLogs.make(directory);
  await table.beginRedo(id);
  return RedoLogs.open(directory, { id, applied: 0 });
}

/** First what the table has, then what only the logs have: in revision order. */
async function readBack(
  { table, redo }: JournalFiles,
  {
    directory,
    limits,
    compacted,
  }: { readonly directory: string; readonly limits: EmbeddedStoreLimits; readonly compacted: Revision },
): Promise<{ readonly map: MultiVersionMap; readonly forget: readonly Revision[] }> {
  const map = new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature });
  const forget: Revision[] = [];
  const copy: CopyBytes = (source, start, end) => map.copyValue(source, start, end);
  const restore = (entry: BorrowedEntry): void => {
    for (const superfluous of map.restore(decoded(entry, directory, copy))) forget.push(superfluous);
    for (const superfluous of trimHistory(map, limits)) forget.push(superfluous);
  };
  map.beginRestore(compacted);
  let last = await table.read(compacted, restore);
  for (const { entries } of redo.pending) {
    for (const { revision, bytes } of entries) {
      if (revision > last && revision !== ++last)
        throw new StoreCorruptedError(directory, `revision ${last} is missing`);
      restore({ revision, buffer: bytes, length: bytes.length });
    }
  }
  map.endRestore();
  return { map, forget };
}

function decoded(entry: BorrowedEntry, directory: string, copy: CopyBytes): DecodedChange {
  try {
    return readChangeEntry(entry, entry.revision, copy);
  } catch (error) {
    throw error instanceof ChangeEntryError ? new StoreCorruptedError(directory, error.message) : error;
  }
}

/** The directory is given back after the last commit. */
function lockedJournal(journal: Journal, lock: DirectoryLock): Journal {
  return {
    commit: (commit) => journal.commit(commit),
    close: () => journal.close().finally(() => lock.release()),
  };
}
