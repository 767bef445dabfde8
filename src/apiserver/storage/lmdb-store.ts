import { resolve } from 'node:path';
import { silentLogger } from '../../base/logger.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import type { Random } from '../../base/random.ts';
import { lockDirectory } from './directory-lock.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { EmbeddedStore, defaultLimits, historyBound, trimHistory } from './embedded-store.ts';
import type { EmbeddedStoreLimits } from './embedded-store.ts';
import type { Revision, Store } from './interface.ts';
import type { Journal } from './journal.ts';
import { LmdbJournal, loadLmdb } from './lmdb-journal.ts';
import { MultiVersionMap } from './mvcc.ts';
import { storedSignature } from './stored-json.ts';

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
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const directory = resolve(options.path);
  const logger = options.logger ?? silentLogger;
  const limits = { ...defaultLimits, ...options.limits };
  const lmdb = await loadLmdb();
  const lock = await lockDirectory(directory, { clock: options.clock, random: options.random ?? systemRandom });
  try {
    const map = new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature });
    const forget: Revision[] = [];
    let compacted: Revision = 0;
    const journal = await LmdbJournal.open(lmdb, directory, {
      begin: (revision) => {
        compacted = revision;
        map.beginRestore(revision);
      },
      copy: (source, start, end) => map.copyValue(source, start, end),
      change: (change) => {
        for (const superfluous of map.restore(change)) forget.push(superfluous);
        for (const superfluous of trimHistory(map, limits)) forget.push(superfluous);
      },
    });
    map.endRestore();
    return new EmbeddedStore({
      map,
      clock: options.clock,
      logger,
      limits,
      journal: { journal: lockedJournal(journal, lock), compacted, forget },
    });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The directory is given back after the last commit. */
function lockedJournal(journal: Journal, lock: DirectoryLock): Journal {
  return {
    commit: (commit) => journal.commit(commit),
    close: () => journal.close().finally(() => lock.release()),
  };
}
