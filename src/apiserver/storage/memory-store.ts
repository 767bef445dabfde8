import type { Clock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Logger } from '../../base/logger.ts';
import { EmbeddedStore, defaultLimits, historyBound } from './embedded-store.ts';
import type { EmbeddedStoreLimits } from './embedded-store.ts';
import type { Store } from './interface.ts';
import { MultiVersionMap } from './mvcc.ts';
import { storedSignature } from './stored-json.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly limits?: Partial<EmbeddedStoreLimits>;
}

/** A store that forgets everything when it is closed. Same code as the durable one, without a journal. */
export function openMemoryStore(options: MemoryStoreOptions): Store {
  const limits = { ...defaultLimits, ...options.limits };
  return new EmbeddedStore({
    map: new MultiVersionMap({ historyBound: historyBound(limits), signatureOf: storedSignature }),
    clock: options.clock,
    logger: options.logger ?? silentLogger,
    limits,
  });
}
