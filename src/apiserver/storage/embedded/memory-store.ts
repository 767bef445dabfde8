import type { Clock } from '../../../base/time/clock.ts';
import { silentLogger } from '../../../base/logs/logger.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import { EmbeddedStore, defaultLimits, historyBound } from './embedded-store.ts';
import type { EmbeddedStoreLimits } from './embedded-store.ts';
import type { KeyValue, Revision, Store } from '../interface.ts';
import { MultiVersionMap } from './mvcc.ts';
import { storedSignature } from '../stored-json.ts';

/** The state of a store at one revision, without its history. */
export interface StoredContents {
  /** The revision of this state. */
  readonly revision: Revision;
  /** Each key with its value, in any order. */
  readonly items: readonly Pick<KeyValue, 'key' | 'value' | 'createRevision' | 'modRevision'>[];
}

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** The clock for compaction. */
  readonly clock: Clock;
  /** Silent by default. */
  readonly logger?: Logger;
  /** Limits of waiting writes and of history. */
  readonly limits?: Partial<EmbeddedStoreLimits>;
  /** Its initial contents; its history begins after them. If absent, it is empty. */
  readonly contents?: StoredContents | undefined;
}

/** A store that loses everything when it is closed. It has the same code as the durable one, without a journal. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const limits = { ...defaultLimits, ...options.limits };
  const map = new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature });
  if (options.contents !== undefined) {
    const { revision, items } = options.contents;
    map.beginRestore(revision);
    for (const item of items) map.restore(item);
    map.endRestore();
  }
  return new EmbeddedStore({
    map,
    clock: options.clock,
    logger: options.logger ?? silentLogger,
    limits,
  });
}
