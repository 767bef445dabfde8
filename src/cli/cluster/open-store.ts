import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { Compactor } from '../../apiserver/storage/compactor.ts';
import type { Store } from '../../apiserver/storage/interface.ts';
import { openMemoryStore } from '../../apiserver/storage/embedded/memory-store.ts';
import { CommandError } from '../process/command-error.ts';
import type { DataDirectory } from './data-directory.ts';
import type { EtcdSettings } from './etcd-settings.ts';

export type StoreKind = 'file' | 'memory' | 'etcd';

export interface OpenStoreOptions {
  readonly kind: StoreKind;
  /** Required for the file store. */
  readonly directory: DataDirectory | undefined;
  /** Required for etcd. */
  readonly etcd: EtcdSettings | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface OpenedStore {
  readonly store: Store;
  /** Compacts history over time. */
  readonly compactor: Service;
  /** The reason why the server is not ready; if absent, it always is. */
  readonly notReady?: () => string | undefined;
}

/** Errors that prevent a store from opening. The message of each says what is wrong; this text says what to do if the message does not. */
const advice: Readonly<Record<string, string | undefined>> = {
  StoreLockedError: undefined,
  StoreDirectoryError: undefined,
  StoreFormatError: undefined,
  StoreCorruptedError: undefined,
  StoreConnectError:
    'Check that etcd runs there, and that --etcd-endpoints, --etcd-cafile, --etcd-certfile and --etcd-keyfile fit it.',
  StoreForeignDataError: 'Choose another --etcd-prefix.',
};

/**
 * Opens the store and locks the directory, also with the memory store and etcd, which keep only the kubeconfig and certificates there,
 * because two servers must not overwrite them.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  try {
    if (options.kind === 'etcd') return await openEtcd(options);
    return await openEmbedded(options);
  } catch (error) {
    if (error instanceof Error && error.name in advice) {
      throw new CommandError(error.message, advice[error.name], { cause: error });
    }
    throw error;
  }
}

async function openEmbedded({ kind, directory, clock, random, logger }: OpenStoreOptions): Promise<OpenedStore> {
  if (directory === undefined || kind !== 'file') {
    const store = openMemoryStore({ clock, logger });
    const compactor = new Compactor({ store, clock, logger });
    if (directory === undefined) return { store, compactor };
    const { lockDirectory } = await import('../../apiserver/storage/file/directory-lock.ts');
    const lock = await lockDirectory(directory.path, { clock, random });
    return { store: closingWith(store, () => lock.release()), compactor };
  }
  const { openFileStore } = await import('../../apiserver/storage/file/file-store.ts');
  const store = await openFileStore({ path: directory.path, clock, logger });
  // Reads continue after a write could not be made durable; readiness lets clients use another server.
  return { store, compactor: new Compactor({ store, clock, logger }), notReady: () => store.failure?.message };
}

async function openEtcd({ etcd, directory, clock, random, logger, metrics }: OpenStoreOptions): Promise<OpenedStore> {
  if (etcd === undefined) throw new Error('etcd is opened by its settings');
  const [{ openEtcdStore }, { lockDirectory }] = await Promise.all([
    import('../../apiserver/storage/etcd/open-etcd-store.ts'),
    import('../../apiserver/storage/file/directory-lock.ts'),
  ]);
  const lock = directory === undefined ? undefined : await lockDirectory(directory.path, { clock, random });
  try {
    const opened = await openEtcdStore({
      ...etcd,
      clock,
      random,
      metrics,
      logger: logger.child({ component: 'etcd' }),
    });
    return { ...opened, store: closingWith(opened.store, async () => lock?.release()) };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

function closingWith(store: Store, then: () => Promise<void>): Store {
  const close = store.close.bind(store);
  store.close = () => close().finally(then);
  return store;
}
