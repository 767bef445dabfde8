import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { append } from '../../../base/collections/append.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { systemRandom } from '../../../base/random/random.ts';
import type { Random } from '../../../base/random/random.ts';
import { ChangeEntryError, readChangeEntry } from '../embedded/change-entry.ts';
import type { CopyBytes, DecodedChange } from '../embedded/change-entry.ts';
import { lockDirectory } from './directory-lock.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { EmbeddedStore, defaultLimits, historyBound, trimHistory } from '../embedded/embedded-store.ts';
import type { EmbeddedStoreLimits } from '../embedded/embedded-store.ts';
import type { Revision } from '../interface.ts';
import type { Journal } from '../embedded/journal.ts';
import { DATA_FILE, DataFile } from './data-file.ts';
import type { BorrowedEntry, OpenHandle } from './data-file.ts';
import { MultiVersionMap } from '../embedded/mvcc.ts';
import { RedoLogs } from './redo-journal.ts';
import { STORE_ID_BYTES } from './redo-record.ts';
import { StoreCorruptedError, StoreDirectoryError, StoreFormatError } from '../store-errors.ts';
import { storedSignature } from '../stored-json.ts';

export interface FileStoreOptions {
  /** A directory on a local disk, created if it does not exist. It contains secrets, so only its owner can read it. */
  readonly path: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly random?: Random;
  readonly limits?: Partial<EmbeddedStoreLimits>;
  /** Opens the data file; Node's `open` unless given. */
  readonly openHandle?: OpenHandle | undefined;
}

/**
 * Opens the durable store: a write that was answered survives kill -9 and power loss.
 *
 * Rejects with StoreLockedError, StoreDirectoryError, StoreFormatError or StoreCorruptedError; the directory is free again then.
 */
export async function openFileStore(options: FileStoreOptions): Promise<EmbeddedStore> {
  const directory = resolve(options.path);
  const logger = options.logger ?? silentLogger;
  const limits = { ...defaultLimits, ...options.limits };
  const random = options.random ?? systemRandom;
  const lock = await lockDirectory(directory, { clock: options.clock, random });
  try {
    const { file, redo } = await openFiles(directory, random, logger, options.openHandle);
    try {
      const compacted = redo.pending.at(-1)?.compacted ?? file.compacted;
      const { map, forget } = await readBack(file, redo, { directory, limits, compacted });
      const journal = lockedJournal(redo.journal(file, { compacted, logger }), lock);
      return new EmbeddedStore({ map, clock: options.clock, logger, limits, journal: { journal, compacted, forget } });
    } catch (error) {
      await redo.close().finally(() => file.close());
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The data file, and the logs of commits that it may lack. A directory without either gets both, the logs first. */
async function openFiles(
  directory: string,
  random: Random,
  logger: Logger,
  openHandle: OpenHandle | undefined,
): Promise<{ readonly file: DataFile; readonly redo: RedoLogs }> {
  await refuseLmdb(directory);
  const found = await DataFile.open(directory, logger, openHandle);
  const file = found ?? (await makeFiles(directory, random, logger, openHandle));
  try {
    return { file, redo: await RedoLogs.open(directory, file) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function makeFiles(
  directory: string,
  random: Random,
  logger: Logger,
  openHandle: OpenHandle | undefined,
): Promise<DataFile> {
  await RedoLogs.make(directory);
  await DataFile.make(directory, random.bytes(STORE_ID_BYTES), openHandle);
  const made = await DataFile.open(directory, logger, openHandle);
  if (made === undefined) throw new StoreDirectoryError(directory, new Error(`${DATA_FILE} was removed`));
  return made;
}

/** Earlier versions stored objects in lmdb. */
async function refuseLmdb(directory: string): Promise<void> {
  const found = await access(join(directory, 'data.mdb')).then(
    () => true,
    () => false,
  );
  if (found) throw new StoreFormatError(directory, 'data.mdb, a database of an earlier version of kubegc');
}

/** Reads the entries of the data file, then those that only the logs have, in the order of their revisions. */
async function readBack(
  file: DataFile,
  { pending }: RedoLogs,
  {
    directory,
    limits,
    compacted,
  }: { readonly directory: string; readonly limits: EmbeddedStoreLimits; readonly compacted: Revision },
): Promise<{ readonly map: MultiVersionMap; readonly forget: readonly Revision[] }> {
  const map = new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature });
  const forget: Revision[] = [];
  const copy: CopyBytes = (source, start, end) => map.copyValue(source, start, end);
  let last = compacted;
  const restore = (entry: BorrowedEntry): void => {
    if (entry.revision > last && entry.revision !== ++last) {
      throw new StoreCorruptedError(directory, `revision ${last} is missing`);
    }
    append(forget, map.restore(decoded(entry, directory, copy)), trimHistory(map, limits));
  };
  map.beginRestore(compacted);
  await file.read(restore);
  for (const { entries } of pending) {
    for (const { revision, bytes } of entries) restore({ revision, buffer: bytes, length: bytes.length });
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

/** The lock is released after the last commit. */
function lockedJournal(journal: Journal, lock: DirectoryLock): Journal {
  return {
    commit: (commit) => journal.commit(commit),
    makeRoom: () => journal.makeRoom(),
    close: () => journal.close().finally(() => lock.release()),
  };
}
