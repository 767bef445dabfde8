import type { EventBatch } from './cache-event.ts';
import type { Revision } from '../interface.ts';

/**
 * Why a watch is over:
 *  - `slow`: the reader fell behind what the cache keeps (API-136); it may resume from its last revision;
 *  - `expired`: its revision is no longer in history (API-123), `error` is a RevisionCompactedError;
 *  - `stopped`: the server is going down, or the store failed (`error`);
 *  - `cancelled`: its reader closed it.
 */
export type WatchCloseReason = 'slow' | 'expired' | 'stopped' | 'cancelled';

export type WatchStep =
  | { readonly kind: 'events'; readonly batch: EventBatch }
  /** All objects of the initial list have been delivered; they are the state at `revision` (API-129). */
  | { readonly kind: 'initial-end'; readonly revision: Revision }
  | { readonly kind: 'closed'; readonly reason: WatchCloseReason; readonly error?: Error };

/**
 * A watch as its reader sees it: pulled, not pushed. The reader asks for the next step when it has written the last one,
 * so a watch holds a position in the shared ring of events instead of a buffer, and a stuck reader costs nothing.
 */
export interface CacheWatch {
  /** At most one call at a time. After `closed` it is `closed` again. */
  next(): Promise<WatchStep>;
  /**
   * Everything up to this revision has been delivered with the steps so far: what a bookmark may say once they are
   * written. 0 before `initial-end`.
   */
  readonly revision: Revision;
  /** Harmless when repeated. A `next` under way gets `closed`. */
  close(): void;
}
