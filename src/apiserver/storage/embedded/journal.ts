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
  /** Resolves when all of it is on disk; rejects if it may not be, after which only `close` is called. Calls never overlap. */
  commit(commit: JournalCommit): Promise<void>;
  close(): Promise<void>;
}
