import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { Store } from '../apiserver/storage/interface.ts';
import { openMemoryStore } from '../apiserver/storage/memory-store.ts';
import { CommandError } from './command-error.ts';
import type { DataDirectory } from './data-directory.ts';

export interface OpenStoreOptions {
  readonly kind: 'lmdb' | 'memory';
  /** Needed for lmdb. */
  readonly directory: DataDirectory | undefined;
  readonly clock: Clock;
  readonly random: Random;
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

/**
 * Opens the store. The directory is this process's alone while the store is open, also with the memory store, which keeps
 * nothing but the kubeconfig and certificates there: two servers must not take turns at writing those.
 */
export async function openStore({ kind, directory, clock, random, logger }: OpenStoreOptions): Promise<Store> {
  if (directory === undefined) return openMemoryStore({ clock, logger });
  try {
    if (kind === 'memory') {
      const { lockDirectory } = await import('../apiserver/storage/directory-lock.ts');
      const lock = await lockDirectory(directory.path, { clock, random });
      return closingWith(openMemoryStore({ clock, logger }), () => lock.release());
    }
    const { openLmdbStore } = await import('../apiserver/storage/lmdb-store.ts');
    return await openLmdbStore({ path: directory.path, clock, logger });
  } catch (error) {
    if (error instanceof Error && expectedErrors.includes(error.name)) {
      throw new CommandError(error.message, undefined, { cause: error });
    }
    throw error;
  }
}

function closingWith(store: Store, then: () => Promise<void>): Store {
  const close = store.close.bind(store);
  store.close = () => close().finally(then);
  return store;
}
