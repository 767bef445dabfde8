import { type LabelSignature, NO_LABELS, union } from '../../../api/selectors/label-signature.ts';
import { assert } from '../../../base/errors/assert.ts';
import { Ring } from '../../../base/collections/ring.ts';
import type { KeyValue, ListOptions, ListResult, Revision, StoreEvent, UnchangedKey } from '../interface.ts';
import { RevisionCompactedError, RevisionFutureError } from '../interface.ts';
import { SortedKeyIndex } from './sorted-key-index.ts';
import { ValueSlabs } from './value-slabs.ts';
import type { SlabTenant } from './value-slabs.ts';

/** The effect of one write on one key. If it has a value, it is also the {@link KeyValue} of the write. */
export class Change implements SlabTenant {
  readonly key: string;
  /** Absent if the key was deleted. The content never changes, but {@link ValueSlabs} may replace it by other bytes of the same content. */
  value: Uint8Array | undefined;
  slot = -1;
  /** For a deletion, the revision at which the deleted key had been created. */
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  #previous: Change | undefined;
  // Set by readers. It is declared here, so that all changes have one shape.
  listItem: KeyValue['listItem'] = undefined;
  metadataEnd = 0;

  constructor(kv: Pick<Change, 'key' | 'value' | 'createRevision' | 'modRevision'>, previous?: Change) {
    // One shared string for all changes of a key, because each request brings a new one.
    this.key = previous?.key ?? kv.key;
    this.value = kv.value;
    this.createRevision = kv.createRevision;
    this.modRevision = kv.modRevision;
    this.#previous = previous;
  }

  /** The previous change of the same key, while history holds it. */
  get previous(): Change | undefined {
    return this.#previous;
  }

  forgetPrevious(): void {
    this.#previous = undefined;
  }
}

/** One for each key that exists or is in history. `head` is its newest change, including pending ones. */
interface KeyState {
  readonly key: string;
  head: Change;
}

/** `seen` is the change on which a refusal rests. The answer is sent once that change is published. */
export type WriteDecision =
  | { readonly outcome: 'written'; readonly change: Change; readonly removed?: KeyValue }
  | { readonly outcome: 'refused'; readonly current?: KeyValue; readonly seen: Revision };

export interface MultiVersionMapOptions {
  /** Maximum number of changes in history and pending writes together. */
  readonly historyBound: number;
  /** The memory of values. */
  readonly values?: ValueSlabs;
  /** Computes the labels' signature of a value, for lists with a selector. If absent, they examine all values. */
  signatureOf?(value: Uint8Array): LabelSignature;
}

/** Estimated bytes of one change in history, in addition to its superseded value. */
const CHANGE_OVERHEAD = 200;

/**
 * The versions of all keys under one revision counter, in memory, with no I/O and no clock.
 *
 * A write is checked against the *pending* state and gets its revision at once; everybody reads the *published* state.
 * The two are one data structure: a pending change is simply a version newer than {@link published}, so reading "now" is
 * reading at that revision, and publishing is moving a number.
 *
 * Invariants:
 *  - `compacted <= published <= revision`;
 *  - `history` holds every change above `compacted` (plus, while {@link dropHistory} has work left, some at or below), in
 *    revision order without gaps;
 *  - for each key the newest change at or below `compacted` is still there unless it is a deletion; so each state from
 *    `compacted` on can be read;
 *  - a signature in `index` has the bits of every version of its key that a read at `signed` or later can see.
 */
export class MultiVersionMap {
  readonly #keys = new Map<string, KeyState>();
  /** The states of `#keys` in order; empty during a restore. */
  readonly #index = new SortedKeyIndex<KeyState>(({ head }) => (isLive(head) ? undefined : head.modRevision));
  #phase: 'in use' | 'restoring' = 'in use';
  readonly #history: Ring<Change>;
  /** Its tenants are the changes with a value that can still be read. */
  readonly #values: ValueSlabs;
  #historyBytes = 0;
  #revision: Revision = 0;
  #published: Revision = 0;
  #compacted: Revision = 0;
  readonly #signatureOf: MultiVersionMapOptions['signatureOf'];
  /** The newest revision for which a signature was computed; 0 if there are none. */
  #signed: Revision = 0;

  constructor({ historyBound, values = new ValueSlabs(), signatureOf }: MultiVersionMapOptions) {
    this.#history = new Ring({ bound: historyBound });
    this.#values = values;
    this.#signatureOf = signatureOf;
  }

  /** The newest revision. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The newest revision that readers see. */
  get published(): Revision {
    return this.#published;
  }

  get compacted(): Revision {
    return this.#compacted;
  }

  get historyLength(): number {
    return this.#history.length;
  }

  /** Estimated memory that only history keeps. */
  get historyBytes(): number {
    return this.#historyBytes;
  }

  /** Keeps a copy of `value` if it is written. */
  create(key: string, value: Uint8Array, unchanged?: UnchangedKey): WriteDecision {
    const head = this.#keys.get(key)?.head;
    if (head?.value !== undefined) return refused(head, this.#compacted);
    if (unchanged !== undefined && !this.#isUnchanged(unchanged)) return refused(head, this.#revision);
    const revision = this.#revision + 1;
    return {
      outcome: 'written',
      change: this.#append(
        new Change({ key, value: this.#values.copy(value), createRevision: revision, modRevision: revision }, head),
      ),
    };
  }

  /** Keeps a copy of `value` if it is written. */
  update(key: string, value: Uint8Array, expected: Revision, unchanged?: UnchangedKey): WriteDecision {
    const head = this.#keys.get(key)?.head;
    if (head?.value === undefined || head.modRevision !== expected) return refused(head, this.#compacted);
    if (unchanged !== undefined && !this.#isUnchanged(unchanged)) return refused(head, this.#revision);
    const { createRevision } = head;
    return {
      outcome: 'written',
      change: this.#append(
        new Change({ key, value: this.#values.copy(value), createRevision, modRevision: this.#revision + 1 }, head),
      ),
    };
  }

  /** Compares with the pending state, as all guards do. */
  #isUnchanged({ key, revision }: UnchangedKey): boolean {
    const head = this.#keys.get(key)?.head;
    return head !== undefined && isLive(head) && head.modRevision === revision;
  }

  delete(key: string, expected: Revision): WriteDecision {
    const head = this.#keys.get(key)?.head;
    if (head === undefined || !isLive(head) || head.modRevision !== expected) return refused(head, this.#compacted);
    const { createRevision } = head;
    return {
      outcome: 'written',
      change: this.#append(
        new Change({ key, value: undefined, createRevision, modRevision: this.#revision + 1 }, head),
      ),
      removed: head,
    };
  }

  /** Makes all changes up to `revision` visible to readers. */
  publish(revision: Revision): void {
    assert(
      revision >= this.#published && revision <= this.#revision,
      'publishing moves forward within what was written',
    );
    this.#published = revision;
  }

  /** Removes all changes that are not published, as if they had never been written. Later changes get their revisions. */
  rollBack(): void {
    for (
      let change = this.#newest;
      change !== undefined && change.modRevision > this.#published;
      change = this.#newest
    ) {
      this.#history.popBack();
      this.#historyBytes -= historyCost(change);
      this.#revision = change.modRevision - 1;
      this.#takeBack(change);
    }
  }

  get #newest(): Change | undefined {
    return this.#history.at(this.#history.length - 1);
  }

  #takeBack(change: Change): void {
    const { key, previous } = change;
    const state = this.#keys.get(key);
    assert(state?.head === change, 'the newest change of a key is its head');
    // A deletion outside of history was kept only because of the change above it.
    const isForgotten = previous === undefined || (!isLive(previous) && previous.modRevision <= this.#compacted);
    if (isForgotten) {
      // The index finds a key by its head, so the key is removed before its head changes.
      this.#index.delete(key);
      this.#keys.delete(key);
    } else {
      state.head = previous;
      this.#index.changed(state, isLive(change));
    }
    this.#values.release(change);
  }

  get(key: string): KeyValue | undefined {
    return visible(this.#keys.get(key)?.head, this.#published);
  }

  list(prefix: string, options: ListOptions): ListResult {
    const { start = '', limit = 0, revision = this.#published, countRemaining, labels } = options;
    if (revision > this.#published) throw new RevisionFutureError(revision, this.#published);
    if (revision < this.#compacted) throw new RevisionCompactedError(revision, this.#compacted);
    if (labels !== undefined && this.#signatureOf !== undefined && revision >= this.#signed) {
      return this.#sift(prefix, { start, limit, revision, labels }, this.#signatureOf);
    }
    const items: KeyValue[] = [];
    let next: string | undefined;
    this.#index.scan(prefix, { start, revision }, ({ key, head }) => {
      const kv = visible(head, revision);
      if (kv === undefined) return 'next';
      if (limit > 0 && items.length === limit) {
        next = key;
        return 'stop';
      }
      items.push(kv);
      return 'next';
    });
    const more = next !== undefined;
    if (countRemaining !== true) return { items, more, revision };
    return { items, more, revision, remaining: next === undefined ? 0 : this.#count(prefix, next, revision) };
  }

  #sift(
    prefix: string,
    { start, limit, revision, labels }: Required<Omit<ListOptions, 'countRemaining'>>,
    signatureOf: (value: Uint8Array) => LabelSignature,
  ): ListResult {
    const items: KeyValue[] = [];
    const most = limit > 0 ? limit : Infinity;
    const rest = this.#index.sift(prefix, start, {
      required: labels,
      most,
      signatureOf: ({ head }) => {
        this.#signed = revision;
        return signatureSince(head, revision, signatureOf);
      },
      visit: ({ head }) => {
        const kv = visible(head, revision);
        if (kv === undefined) return 'next';
        if (items.length === most) return 'stop';
        items.push(kv);
        return 'next';
      },
    });
    return { items, more: rest !== undefined, revision, ...(rest === undefined ? {} : { next: rest.key }) };
  }

  /**
   * Counts the keys that are visible at `revision`: the current ones, corrected by later changes. If there are more changes than keys,
   * walks the range instead.
   */
  #count(prefix: string, start: string, revision: Revision): number {
    const changes = this.#revision - revision;
    if (changes > this.#index.size) {
      let walked = 0;
      this.#index.scan(prefix, { start, revision }, ({ head }) => {
        if (visible(head, revision) !== undefined) walked++;
        return 'next';
      });
      return walked;
    }
    let counted = this.#index.count(prefix, start);
    const changed = new Set<KeyState>();
    for (let i = this.#history.length - changes; i < this.#history.length; i++) {
      const state = this.#keys.get(this.#history.at(i)?.key ?? '');
      if (state !== undefined) changed.add(state);
    }
    for (const { key, head } of changed) {
      if (!key.startsWith(prefix) || key < start) continue;
      if (isLive(head)) counted--;
      if (visible(head, revision) !== undefined) counted++;
    }
    return counted;
  }

  /** The published change of that revision, which must be above {@link compacted}. */
  change(revision: Revision): Change {
    assert(revision > this.#compacted && revision <= this.#published, `revision ${revision} is in history`);
    const change = this.#history.at(revision - this.#historyStart);
    assert(change?.modRevision === revision, 'history has no gaps');
    return change;
  }

  /** Readers below `revision` fail from now on. {@link dropHistory} releases the memory. */
  compact(revision: Revision): void {
    if (revision > this.#published) throw new RevisionFutureError(revision, this.#published);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  /**
   * Forgets up to `most` changes of compacted history (less the values that it has to move), and returns the revisions that are no longer
   * needed, in an order in which a journal may forget them one by one: after each step, the remaining entries restore no deleted or older
   * value. Call it until `more` is false.
   */
  dropHistory(most: number): { readonly dropped: Revision[]; readonly more: boolean } {
    const dropped: Revision[] = [];
    for (let i = 0; i < most; i++) {
      const oldest = this.#history.at(0);
      if (oldest === undefined || oldest.modRevision > this.#compacted) return { dropped, more: false };
      this.#history.popFront();
      this.#historyBytes -= historyCost(oldest);
      i += this.#settle(oldest, dropped);
    }
    const next = this.#history.at(0);
    return { dropped, more: next !== undefined && next.modRevision <= this.#compacted };
  }

  /**
   * The revision to compact to so that history takes at most `bytes` and `changes`; undefined if it is small enough or nothing can be
   * removed. The newest `keep` changes stay, whatever their size.
   */
  compactionTarget(limits: { bytes: number; changes: number; keep: number }): Revision | undefined {
    const spare = Math.min(this.#history.length - limits.keep, this.#published - this.#historyStart + 1);
    let bytes = this.#historyBytes;
    let count = 0;
    while (count < spare && (bytes > limits.bytes || this.#history.length - count > limits.changes)) {
      const change = this.#history.at(count++);
      if (change !== undefined) bytes -= historyCost(change);
    }
    return count === 0 ? undefined : this.#historyStart + count - 1;
  }

  /**
   * Begins to restore a journal in which nothing at or below `compacted` is history. Only for an empty map, which allows only {@link
   * restore}, {@link compact} and {@link dropHistory} until {@link endRestore}.
   */
  beginRestore(compacted: Revision): void {
    assert(this.#revision === 0, 'a map is restored before it is used');
    this.#compacted = compacted;
    this.#published = compacted;
    this.#revision = compacted;
    this.#phase = 'restoring';
  }

  endRestore(): void {
    this.#index.fill(this.#keys.values());
    this.#phase = 'in use';
  }

  /** Memory for the value of the next change to {@link restore}, with a copy of bytes `start..end-1` of `source`. */
  copyValue(source: Uint8Array, start: number, end: number): Uint8Array {
    return this.#values.copy(source, start, end);
  }

  /**
   * Takes the next change of a journal, in revision order and without gaps above the compacted revision. Returns revisions that the journal
   * should have removed already but did not before it was stopped.
   */
  restore(kv: Pick<Change, 'key' | 'value' | 'createRevision' | 'modRevision'>): Revision[] {
    const head = this.#keys.get(kv.key)?.head;
    const change = new Change(kv, head);
    if (kv.modRevision > this.#compacted) {
      assert(kv.modRevision === this.#revision + 1, 'a restored journal has no gaps');
      this.#append(change);
      this.#published = kv.modRevision;
      return [];
    }
    const dropped: Revision[] = [];
    this.#setHead(change);
    this.#settle(change, dropped);
    return dropped;
  }

  /** The revision of the oldest change in history, or of the next change. */
  get #historyStart(): Revision {
    return this.#revision - this.#history.length + 1;
  }

  #append(change: Change): Change {
    const pushed = this.#history.pushBack(change);
    assert(pushed, 'history is compacted before its bound');
    this.#historyBytes += historyCost(change);
    this.#revision = change.modRevision;
    this.#setHead(change);
    return change;
  }

  #setHead(change: Change): void {
    this.#values.adopt(change);
    const state = this.#keys.get(change.key);
    if (state !== undefined) {
      const wasLive = isLive(state.head);
      state.head = change;
      // The index entry besides the key: whether it exists, and its signature if one was computed.
      const matters = this.#signed > 0 || wasLive !== isLive(change);
      if (this.#phase === 'in use' && matters) this.#index.changed(state, wasLive);
      return;
    }
    const created = { key: change.key, head: change };
    this.#keys.set(change.key, created);
    if (this.#phase === 'in use') this.#index.add(created);
  }

  /**
   * Called when a change has left history. Removes the change before it, and the change itself if it is a deletion. Returns how many other
   * values were moved.
   */
  #settle(change: Change, dropped: Revision[]): number {
    const { previous } = change;
    let moved = 0;
    // An earlier deletion is removed already, since it left history.
    if (previous?.value !== undefined) {
      dropped.push(previous.modRevision);
      moved = this.#values.release(previous);
    }
    change.forgetPrevious();
    if (change.value !== undefined) return moved;
    dropped.push(change.modRevision);
    const state = this.#keys.get(change.key);
    if (state?.head !== change) return moved;
    this.#keys.delete(change.key);
    if (this.#phase === 'in use') this.#index.delete(change.key);
    return moved;
  }
}

/** The event of a change for watchers. */
export function eventOf(change: Change): StoreEvent {
  const { key, createRevision, modRevision: revision, previous } = change;
  const before = previous !== undefined && isLive(previous) ? { previous } : undefined;
  return isLive(change)
    ? { type: 'PUT', key, revision, createRevision, current: change, ...before }
    : { type: 'DELETE', key, revision, createRevision, ...before };
}

function isLive(change: Change): change is Change & KeyValue {
  return change.value !== undefined;
}

function visible(head: Change | undefined, revision: Revision): KeyValue | undefined {
  let change = head;
  while (change !== undefined && change.modRevision > revision) change = change.previous;
  return change !== undefined && isLive(change) ? change : undefined;
}

/** The signature of all versions that are visible at `revision` or later. */
function signatureSince(
  head: Change,
  revision: Revision,
  signatureOf: (value: Uint8Array) => LabelSignature,
): LabelSignature {
  let all = NO_LABELS;
  for (let change: Change | undefined = head; change !== undefined; change = change.previous) {
    if (change.value !== undefined) all = union(all, signatureOf(change.value));
    if (change.modRevision <= revision) break;
  }
  return all;
}

function refused(head: Change | undefined, otherwise: Revision): WriteDecision {
  const seen = head?.modRevision ?? otherwise;
  return head !== undefined && isLive(head)
    ? { outcome: 'refused', current: head, seen }
    : { outcome: 'refused', seen };
}

function historyCost(change: Change): number {
  return CHANGE_OVERHEAD + (change.previous?.value?.length ?? 0);
}
