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
   * Resolves when the whole commit is on disk. Rejects with a StoreFullError if there is no space: the caller then rolls it back, and the
   * next commit has the same revisions. Rejects with any other error if the commit may not be on disk; after that the journal is only
   * closed. Calls never overlap.
   */
  commit(commit: JournalCommit): Promise<void>;
  /** Retries the writes that lacked space. Resolves when commits may continue, and rejects like `commit`. Never called during a commit. */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}
