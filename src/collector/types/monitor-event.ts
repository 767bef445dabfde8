import type { ObjectColumns } from './object-columns.ts';

/** The servers that an outage concerns, so that each may be an older one when it answers again: all, or only those beside kube-apiserver. */
export type OutageScope = 'all' | 'beside';

/** `lowerVersion`: the version of a whole list is lower. A server beside kube-apiserver may count its versions in any way. */
export type HistoryEvidence = 'lowerVersion' | 'deletionTakenBack';

/**
 * All events of a monitor beside the objects themselves. Columns may be read during the call only. A monitor that was stopped sends nothing
 * after `stopped`, except `troubleChanged`.
 */
export type MonitorEvent =
  /** The first enumeration is complete. */
  | { readonly type: 'synced' }
  /** Any enumeration is complete, and the graph has it. */
  | { readonly type: 'listed' }
  /** An enumeration showed an object that waits for its dependents, or for these to be orphaned. */
  | { readonly type: 'waitingListed'; readonly columns: ObjectColumns }
  /** A watch showed a change of the object that does not matter to the graph: of a label, a status or its specification. */
  | { readonly type: 'touched'; readonly columns: ObjectColumns }
  /**
   * An object of this resource was created, changed or deleted after the first enumeration, or may have been before an enumeration was
   * complete. The result of an earlier read may be out of date.
   */
  | { readonly type: 'changed' }
  /** The monitor's trouble has begun or is over. */
  | { readonly type: 'troubleChanged' }
  /** Trouble has begun, or a server was away once more while it lasts: another server may answer next. */
  | { readonly type: 'outage'; readonly scope: OutageScope }
  /** A list or watch failed, and will be tried again. */
  | { readonly type: 'failed'; readonly error: Error }
  /** The connection of a watch broke that had been of use, and that resumes at once. */
  | { readonly type: 'cut'; readonly error: Error }
  /** The server answered a watch that continues from its last version: there may be no events to show. */
  | { readonly type: 'answered' }
  /**
   * The server answered a watch that continues at `version` after a failure. This server may be older than the one before. It then sends no
   * event until it has reached `version`.
   */
  | { readonly type: 'resumed'; readonly version: number }
  /** After a failure an enumeration is complete, or a watch shows something. */
  | { readonly type: 'recovered' }
  /**
   * The server's history was replaced, by a backup for example: its resource version is lower than it was, or a deletion is taken back. The
   * event comes before any worker can act upon the object or list that showed it, and not for the objects that are listed because of it.
   */
  | { readonly type: 'historyReset'; readonly evidence: HistoryEvidence }
  /** The monitor was stopped. */
  | { readonly type: 'stopped' };
