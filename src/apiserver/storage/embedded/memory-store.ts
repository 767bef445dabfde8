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
  /** The revision that they are the state of. */
  readonly revision: Revision;
  /** Each key with its value, in any order. */
  readonly items: readonly Pick<KeyValue, 'key' | 'value' | 'createRevision' | 'modRevision'>[];
}

/** How a store in memory works. */
export interface MemoryStoreOptions {
  /** Times its compaction. */
  readonly clock: Clock;
  /** Silent unless given. */
  readonly logger?: Logger;
  /** How much it holds back, and how much history it keeps. */
  readonly limits?: Partial<EmbeddedStoreLimits>;
  /** What it holds at the beginning; its history begins behind that. Absent: nothing. */
  readonly contents?: StoredContents | undefined;
}

/** A store that forgets everything when it is closed. Same code as the durable one, without a journal. */
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
