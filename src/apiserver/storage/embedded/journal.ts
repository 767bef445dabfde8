import type { Revision } from '../interface.ts';
import type { Change } from './mvcc.ts';

/** One transaction of a journal. */
export interface JournalCommit {
  /** In revision order, directly after the previous commit. */
  readonly changes: readonly Change[];
  /** Revisions of entries that are no longer needed, in the order in which they must be removed. Unknown ones are ignored. */
  readonly forget: readonly Revision[];
  /** The compacted revision, if it changed since the last commit. */
  readonly compacted?: Revision;
}

/**
 * Makes changes durable; the only part of an embedded store with I/O. The memory driver has none. Each commit is all or nothing. The driver
 * reads the journal back (`MultiVersionMap.restore`).
 */
export interface Journal {
  /**
   * Resolves when all of it is on disk. Rejects with a StoreFullError when there is no room for it: the caller takes it back, and the next
   * commit has the same revisions. Rejects with any other error when it may not be on disk, after which the journal is not used again except
   * for `close`. Never called while an earlier call is under way.
   */
  commit(commit: JournalCommit): Promise<void>;
  /**
   * Tries the writes again that lacked room. Resolves when commits may go on; rejects as `commit` does. Never called while a commit is
   * under way.
   */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}
