import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import type { Service } from '../../../base/service.ts';
import type { Store } from '../interface.ts';
import { REGISTRY_ROOT } from '../storage-keys.ts';
import { StoreConnectError, StoreForeignDataError } from '../store-errors.ts';
import { EtcdClient, type EtcdClientOptions } from './etcd-client.ts';
import { EtcdCompactor } from './etcd-compactor.ts';
import { EtcdError } from './etcd-failure.ts';
import { EtcdKeys } from './etcd-keys.ts';
import { EtcdStore } from './etcd-store.ts';

export interface EtcdStoreConfig extends Omit<EtcdClientOptions, 'clock' | 'random' | 'logger'> {
  /** The prefix of the keys in etcd; `/registry` by default. */
  readonly prefix?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Default 5 minutes. */
  readonly compactionIntervalMs?: number;
}

export interface OpenedEtcdStore {
  readonly store: Store;
  /** Only one server on this etcd compacts at a time. */
  readonly compactor: Service;
  /** The reason for `/readyz` why the server is not ready. */
  readonly notReady: () => string | undefined;
}

/** Marks the data under the prefix as kubegc's, with their format. */
export const FORMAT_KEY = `${REGISTRY_ROOT}kubegc/format`;
const FORMAT = { format: 'kubegc-etcd', version: 1 };

/**
 * Connects, and verifies that the data belongs to kubegc: kube-apiserver uses the same prefix with other keys and encodings, and the two
 * must not be mixed. Rejects with StoreConnectError or StoreForeignDataError and then leaves nothing open.
 */
export async function openEtcdStore(config: EtcdStoreConfig): Promise<OpenedEtcdStore> {
  const { prefix = REGISTRY_ROOT, compactionIntervalMs: intervalMs, ...options } = config;
  const { clock, random, logger } = options;
  const client = new EtcdClient(options);
  const keys = new EtcdKeys(prefix);
  try {
    await assertOurs(client, keys);
  } catch (error) {
    client.close();
    if (error instanceof EtcdError) throw new StoreConnectError(client.troubles, error);
    throw error;
  }
  return {
    store: new EtcdStore({ client, keys, clock, random, logger }),
    compactor: new EtcdCompactor({ client, clock, logger, ...(intervalMs === undefined ? {} : { intervalMs }) }),
    notReady: () => client.unreachable,
  };
}

async function assertOurs(client: EtcdClient, keys: EtcdKeys): Promise<void> {
  const key = keys.encode(FORMAT_KEY);
  const { kvs } = await client.range({ key });
  let found = kvs[0]?.value;
  if (found === undefined) {
    // This key is written first, so keys without it are foreign.
    const { count } = await client.range({ ...keys.range(REGISTRY_ROOT), countOnly: true });
    const again = count === 0n ? undefined : (await client.range({ key })).kvs[0];
    if (count > 0n && again === undefined)
      throw new StoreForeignDataError(keys.root, `${count} keys of another program`);
    found = again?.value ?? (await client.createKey(key, Buffer.from(JSON.stringify(FORMAT)))).value;
  }
  const { format, version } = readFormat(found);
  if (format === FORMAT.format && version === FORMAT.version) return;
  throw new StoreForeignDataError(keys.root, `data of format ${String(format)}, version ${String(version)}`);
}

function readFormat(value: Uint8Array): { readonly format?: unknown; readonly version?: unknown } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(value).toString());
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}
