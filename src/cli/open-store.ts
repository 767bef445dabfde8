import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Store } from '../apiserver/storage/interface.ts';
import { openMemoryStore } from '../apiserver/storage/memory-store.ts';
import { CommandError } from './command-error.ts';
import type { DataDirectory } from './data-directory.ts';

export interface OpenStoreOptions {
  readonly kind: 'lmdb' | 'memory';
  /** Needed for lmdb. */
  readonly directory: DataDirectory | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What can keep the durable store from opening; each names what to do, so the message is all a person needs. */
const expectedErrors = [
  'LmdbMissingError',
  'StoreLockedError',
  'StoreDirectoryError',
  'StoreFormatError',
  'StoreCorruptedError',
];

export async function openStore({ kind, directory, clock, logger }: OpenStoreOptions): Promise<Store> {
  if (kind === 'memory' || directory === undefined) return openMemoryStore({ clock, logger });
  const { openLmdbStore } = await import('../apiserver/storage/lmdb-store.ts');
  try {
    return await openLmdbStore({ path: directory.path, clock, logger });
  } catch (error) {
    if (error instanceof Error && expectedErrors.includes(error.name))
      throw new CommandError(error.message, undefined, { cause: error });
    throw error;
  }
}
