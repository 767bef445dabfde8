import type { Revision } from '../interface.ts';
import type { Change } from './mvcc.ts';

/** One transaction of a journal. */
export interface JournalCommit {
  /** In revision order, following on what was committed before. */
  readonly changes: readonly Change[];
  /** Revisions of entries that nothing needs any more, in the order they must disappear. Unknown ones are ignored. */
  readonly forget: readonly Revision[];
  /** The compacted revision, when it has moved since the last commit. */
  readonly compacted?: Revision;
}

/**
 * Makes changes durable; the only part of an embedded store that does I/O. The memory driver has none.
 * All or nothing per commit. Reading it back is the driver's business (`MultiVersionMap.restore`).
 */
export interface Journal {
  /**
   * Resolves when all of it is on disk; rejects when it may not be, after which the journal is not used again except
   * for `close`. Never called while an earlier call is under way.
   */
  commit(commit: JournalCommit): Promise<void>;
  close(): Promise<void>;
}
