import type { EventBatch } from './cache-event.ts';
import type { Revision } from '../interface.ts';

/**
 * The reason for the end of a watch:
 * - `slow`: the reader fell behind the events that the cache keeps (API-136); it may resume from its last revision;
 * - `expired`: its revision is no longer in history (API-123), `error` is a RevisionCompactedError;
 * - `stopped`: the server stops, or the store failed (`error`);
 * - `cancelled`: its reader closed it.
 */
export type WatchCloseReason = 'slow' | 'expired' | 'stopped' | 'cancelled';

export type WatchStep =
  | { readonly kind: 'events'; readonly batch: EventBatch }
  /** All objects of the initial list were delivered; they are the state at `revision` (API-129). */
  | { readonly kind: 'initial-end'; readonly revision: Revision }
  | { readonly kind: 'closed'; readonly reason: WatchCloseReason; readonly error?: Error };

/**
 * A watch in the reader's view. The reader pulls the next step after it has written the last one, so a watch has a position in the shared
 * ring instead of a buffer, and a blocked reader costs nothing.
 */
export interface CacheWatch {
  /** At most one call at a time. After `closed`, every call returns `closed`. */
  next(): Promise<WatchStep>;
  /** All events up to this revision were delivered, so a bookmark may name it. 0 before `initial-end`. */
  readonly revision: Revision;
  /** May be called repeatedly. A pending `next` returns `closed`. */
  close(): void;
}
