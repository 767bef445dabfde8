import type { KeptText } from '../../api/codec/metadata/partial-object-metadata.ts';
import type { LabelSignature } from '../../api/selectors/label-signature.ts';

/**
 * The contract of a store: a flat, ordered map from keys to bytes under one global, ever-growing revision.
 *
 * It is etcd's model (one key-space, guarded transactions on the key's modification revision, a history that can be read
 * and watched until it is compacted), so that etcd itself fits behind it. Every driver runs `storage/conformance.ts`.
 *
 * Keys are paths of printable characters, `/registry/…` (see `storage-keys.ts`).
 *
 * Dependencies on this contract:
 *  - the registry relies on *guarded writes*: a write happens only if the key's modRevision is the expected one, and that of another key
 *    if the options name one, checked in the same atomic step (law 2), and is durable when its promise resolves on a durable driver (law 3);
 *  - resourceVersion *is* the revision (API-076): numeric, one counter over all keys, each successful write takes the
 *    next one, nothing else does;
 *  - lists with `continue` rely on reads at an old revision, watches on the history from a revision (API-097, API-122);
 *  - nobody may see a write before it is durable, neither by get, list nor watch.
 */

/** A positive safe integer. 0 stands for "no revision": a key that does not exist. */
export type Revision = number;

export interface KeyValue {
  readonly key: string;
  /** Neither the store nor its caller changes it afterwards. */
  readonly value: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** Facts that readers compute about the value; a store that keeps its values keeps these too. */
  listItem?: KeptText['listItem'];
  /** The position after the metadata in the value; 0 if unknown. */
  metadataEnd?: number;
}

/** Outcome of a guarded write. `current` is the existing entry that prevents it (absent: the key does not exist). */
export type WriteResult =
  | { readonly succeeded: true; readonly kv: KeyValue }
  | { readonly succeeded: false; readonly current?: KeyValue; readonly revision: Revision };

/** `kv` is the removed value, with `modRevision` still that of its last write; `revision` is that of the removal. */
export type DeleteResult =
  | { readonly succeeded: true; readonly kv: KeyValue; readonly revision: Revision }
  | { readonly succeeded: false; readonly current?: KeyValue; readonly revision: Revision };

/** Another key as its reader knows it. */
export interface UnchangedKey {
  readonly key: string;
  /** The `modRevision` that was read. */
  readonly revision: Revision;
}

export interface WriteOptions {
  /**
   * The write also needs that this key has not changed, which is checked in the same atomic step. If it has changed, the write is refused,
   * and `current` shows the written key, which may fulfil its own guard.
   */
  readonly unchanged?: UnchangedKey;
  /**
   * The store keeps the key only for this long after the write; if absent, for ever, even if an earlier write had a ttl. {@link
   * Store.expiry} defines how the key expires.
   */
  readonly ttlMs?: number;
}

export interface GetResult {
  readonly kv?: KeyValue;
  /** Revision of the store at the time of the read. */
  readonly revision: Revision;
}

export interface ListOptions {
  /** Only keys at or after this one (inclusive). */
  readonly start?: string;
  /** At most this many; 0 or absent = all. */
  readonly limit?: number;
  /**
   * Read the state at exactly this revision; absent = now. Below the compacted one: {@link RevisionCompactedError}; in
   * the future: {@link RevisionFutureError}.
   */
  readonly revision?: Revision;
  /** Counts the keys after the page (API-096). This may walk over the whole range. */
  readonly countRemaining?: boolean;
  /**
   * A hint: the caller wants only objects whose labels may have these bits. A store may return others as well; if it uses the hint, it
   * reads at most `limit` values.
   */
  readonly labels?: LabelSignature;
}

export interface ListResult {
  /** In bytewise key order. */
  readonly items: readonly KeyValue[];
  readonly more: boolean;
  /** The start of the next page, if it is not directly after the last item. */
  readonly next?: string;
  readonly remaining?: number;
  /** The revision of the state that the items show. */
  readonly revision: Revision;
}

export interface StoreEvent {
  readonly type: 'PUT' | 'DELETE';
  readonly key: string;
  /** Revision of this change. */
  readonly revision: Revision;
  /** The new value; absent for DELETE. */
  readonly current?: KeyValue;
  readonly createRevision: Revision;
  /** The old value; absent when the key was created. */
  readonly previous?: KeyValue;
}

export interface WatchOptions {
  /**
   * First revision to deliver. At or below the compacted one: {@link RevisionCompactedError}; later than the next one:
   * {@link RevisionFutureError}.
   */
  readonly startRevision: Revision;
  /**
   * Called with events in revision order; each event exactly once. Must not throw and must return quickly: the store does
   * not wait for slow consumers, they keep their own bounded buffer.
   */
  readonly onEvents: (events: readonly StoreEvent[]) => void;
  /**
   * All changes up to `revision` have been delivered, also when none of them concerned the prefix. Called once soon after the start, then
   * again as the revision grows.
   */
  readonly onProgress?: (revision: Revision) => void;
  /** The watch ended by itself: the store closed (no error), failed, or its history was compacted. */
  readonly onClose?: (error: Error | undefined) => void;
}

export interface StoreWatch {
  /** No callback runs after this returns. */
  cancel(): void;
}

/** A store under an API server. Every driver passes the same suite. */
export interface Store {
  /** `leases`: the store removes keys when their time is over. Absent: they stay, and the caller has to remove them. */
  readonly expiry?: 'leases';
  /** `several servers`: other processes write too, and at the same time. Absent: only this one does. */
  readonly writers?: 'several servers';
  /** Newest state, never older than any write acknowledged before the call. */
  get(key: string): Promise<GetResult>;
  /** The keys that begin with the prefix, in order, as of one revision. */
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /** Succeeds only if the key does not exist. */
  create(key: string, value: Uint8Array, options?: WriteOptions): Promise<WriteResult>;
  /** Succeeds only if the key's modRevision is `expected`. */
  update(key: string, value: Uint8Array, expected: Revision, options?: WriteOptions): Promise<WriteResult>;
  /** Succeeds only if the key's modRevision is `expected`. */
  delete(key: string, expected: Revision): Promise<DeleteResult>;
  /** No callback runs inside the call itself; the first ones may run before the promise resolves. */
  watch(prefix: string, options: WatchOptions): Promise<StoreWatch>;
  /** The revision of the newest write. */
  currentRevision(): Promise<Revision>;
  /**
   * Forgets history: from now on, reads below `revision` and watches that start at or below it fail. The state at `revision` and everything
   * after it stay. A revision that is already compacted is accepted; a future one is a {@link RevisionFutureError}.
   */
  compact(revision: Revision): Promise<void>;
  /** Waits for writes in progress, and ends all watches. Later calls fail. */
  close(): Promise<void>;
}

/** The requested state or history has been compacted (410 Expired; API-095, API-099, API-123). */
export class RevisionCompactedError extends Error {
  readonly compactedRevision: Revision;
  constructor(requested: Revision, compactedRevision: Revision) {
    super(`revision ${requested} has been compacted: history is held from revision ${compactedRevision} on`);
    this.name = 'RevisionCompactedError';
    this.compactedRevision = compactedRevision;
  }
}

/** The requested revision is in the future (504 Timeout; API-094). */
export class RevisionFutureError extends Error {
  readonly currentRevision: Revision;
  constructor(requested: Revision, currentRevision: Revision) {
    super(`revision ${requested} is in the future: the current one is ${currentRevision}`);
    this.name = 'RevisionFutureError';
    this.currentRevision = currentRevision;
  }
}
