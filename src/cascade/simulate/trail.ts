import type { Reason } from '../../collector/types/reasons.ts';
import type { Via } from '../documents/cascade-plan.ts';
import { NumberList } from './number-list.ts';
import { type ObjectNumbers, ROW_SHIFT } from './object-numbers.ts';

/** Why an object was deleted, kept or orphaned in a simulation. */
export type TrailCause =
  /** A person requested it. */
  | 'requested'
  /** The collector decided it; `decided` has the reason. */
  | 'collected'
  | 'namespaceEmptied'
  | 'definitionDeleted'
  | 'volumeReleased'
  | 'nodeRemoved'
  | 'nodeShutDown';

const VIAS: readonly Via[] = ['request', 'ownerReference', 'namespace', 'definition', 'volume', 'node'];
const CAUSES: readonly (TrailCause | undefined)[] = [
  undefined,
  'requested',
  'collected',
  'namespaceEmptied',
  'definitionDeleted',
  'volumeReleased',
  'nodeRemoved',
  'nodeShutDown',
];

/** The parts of a trail's marks: three bits each for via and cause, two flags, and the number of the decision. */
const VIA_MASK = 7;
const CAUSE_SHIFT = 3;
const CAUSE_MASK = 7 << CAUSE_SHIFT;
const WAITED = 1 << 6;
const ORPHANED = 1 << 7;
const DECIDED_SHIFT = 8;
const DECIDED_MASK = ~0 << DECIDED_SHIFT;

const NONE: ReadonlySet<string> = new Set();

/**
 * Sets of uids, each as one number: 0 for the empty set, above 0 for a set of one member, below 0 for a larger one. Most sets of a cascade
 * have at most one member.
 */
class UidSets {
  readonly #numbers: ObjectNumbers;
  readonly #large: Set<string>[] = [];
  /** The set of one member that was made last, because dependents of one owner have it in common. */
  #single: ReadonlySet<string> = NONE;
  #singleOf = 0;

  constructor(numbers: ObjectNumbers) {
    this.#numbers = numbers;
  }

  /** Returns the set with the member. */
  with(set: number, member: string): number {
    if (set < 0) {
      this.#large[-1 - set]!.add(member);
      return set;
    }
    const single = this.#numbers.of(member) + 1;
    if (set === 0 || set === single) return single;
    return -this.#large.push(new Set([this.#numbers.uidOf(set - 1), member]));
  }

  /** Returns the set without the member. */
  without(set: number, member: string): number {
    if (set >= 0) return set === this.#numbers.of(member) + 1 ? 0 : set;
    const large = this.#large[-1 - set]!;
    large.delete(member);
    return large.size === 0 ? 0 : set;
  }

  /** The set for readers, who must not keep it. */
  of(set: number): ReadonlySet<string> {
    if (set === 0) return NONE;
    if (set < 0) return this.#large[-1 - set]!;
    if (set !== this.#singleOf) {
      this.#single = new Set([this.#numbers.uidOf(set - 1)]);
      this.#singleOf = set;
    }
    return this.#single;
  }
}

/** The trails as columns: about 24 bytes for each, where an object for each takes a hundred and more. */
class TrailColumns {
  readonly numbers: ObjectNumbers;
  /** The number of the object. */
  readonly object: NumberList;
  readonly marks: NumberList;
  /** 0 if it was not removed. */
  readonly sequence: NumberList;
  readonly sets: UidSets;
  readonly waitsFor: NumberList;
  readonly loses: NumberList;
  /** Few trails have any of these. */
  readonly assumed = new Map<number, ReadonlySet<string>>();
  readonly usedBy = new Map<number, ReadonlySet<string>>();
  readonly graceSeconds = new Map<number, number>();
  readonly refused = new Map<number, string>();
  /** The collector's reasons that were met, and their numbers from 1. */
  readonly reasons: (Reason | undefined)[] = [undefined];
  readonly #reasonNumbers = new Map<Reason | undefined, number>([[undefined, 0]]);

  constructor(numbers: ObjectNumbers) {
    this.numbers = numbers;
    this.sets = new UidSets(numbers);
    this.object = new NumberList(numbers.expected);
    this.marks = new NumberList(numbers.expected);
    this.sequence = new NumberList(numbers.expected);
    this.waitsFor = new NumberList(numbers.expected);
    this.loses = new NumberList(numbers.expected);
  }

  numberOf(reason: Reason | undefined): number {
    let number = this.#reasonNumbers.get(reason);
    if (number === undefined) this.#reasonNumbers.set(reason, (number = this.reasons.push(reason) - 1));
    return number;
  }

  /** Replaces a part of the marks. */
  mark(row: number, mask: number, bits: number): void {
    this.marks.set(row, (this.marks.get(row) & ~mask) | bits);
  }
}

/** The history of one object in a simulation. The simulation writes it, the plan reads it. A view: there may be several of one trail. */
export class Trail {
  readonly #columns: TrailColumns;
  /** Its place among all trails, in the order of their creation. */
  readonly row: number;

  constructor(columns: TrailColumns, row: number) {
    this.#columns = columns;
    this.row = row;
  }

  get uid(): string {
    return this.#columns.numbers.uidOf(this.number);
  }

  /** The number of its object. */
  get number(): number {
    return this.#columns.object.get(this.row);
  }

  /** The node of its object in the graph of the snapshot; -1 if there is none. */
  get node(): number {
    const { number } = this;
    return number < this.#columns.numbers.nodes ? number : -1;
  }

  /** The first cause that reached it. */
  get via(): Via {
    return VIAS[this.#columns.marks.get(this.row) & VIA_MASK]!;
  }

  set via(via: Via) {
    this.#columns.mark(this.row, VIA_MASK, VIAS.indexOf(via));
  }

  get cause(): TrailCause | undefined {
    return CAUSES[(this.#columns.marks.get(this.row) & CAUSE_MASK) >>> CAUSE_SHIFT];
  }

  set cause(cause: TrailCause | undefined) {
    this.#columns.mark(this.row, CAUSE_MASK, CAUSES.indexOf(cause) << CAUSE_SHIFT);
  }

  /** The collector's last decision about it. */
  get decided(): Reason | undefined {
    return this.#columns.reasons[this.#columns.marks.get(this.row) >>> DECIDED_SHIFT];
  }

  set decided(reason: Reason | undefined) {
    this.#columns.mark(this.row, DECIDED_MASK, this.#columns.numberOf(reason) << DECIDED_SHIFT);
  }

  /** Order of its removal, from 1. */
  get sequence(): number | undefined {
    const sequence = this.#columns.sequence.get(this.row);
    return sequence === 0 ? undefined : sequence;
  }

  set sequence(sequence: number) {
    this.#columns.sequence.set(this.row, sequence);
  }

  /**
   * The objects that must be gone before it. An owner that waits in the foreground waits for blocking references to it, not for the objects
   * that have them. A dependent whose reference the collector may remove instead, because another owner is solid, is therefore no member.
   */
  get waitsFor(): ReadonlySet<string> {
    return this.#columns.sets.of(this.#columns.waitsFor.get(this.row));
  }

  /** The number of the only object that it waits for; undefined if there are none or several. */
  get waitsForOnly(): number | undefined {
    const set = this.#columns.waitsFor.get(this.row);
    return set > 0 ? set - 1 : undefined;
  }

  /** It waited for its dependents (foreground), so these may be deleted before or after it. */
  get waited(): boolean {
    return (this.#columns.marks.get(this.row) & WAITED) !== 0;
  }

  noteWaited(): void {
    this.#columns.mark(this.row, WAITED, WAITED);
  }

  /** Owners whose references it loses. */
  get loses(): ReadonlySet<string> {
    return this.#columns.sets.of(this.#columns.loses.get(this.row));
  }

  /** It lost them because their owner is deleted with policy Orphan. */
  get orphaned(): boolean {
    return (this.#columns.marks.get(this.row) & ORPHANED) !== 0;
  }

  noteOrphaned(): void {
    this.#columns.mark(this.row, ORPHANED, ORPHANED);
  }

  /** Finalizers that another program removes, by assumption. */
  get assumed(): ReadonlySet<string> {
    return this.#columns.assumed.get(this.row) ?? NONE;
  }

  /** Pods that use the claim. */
  get usedBy(): ReadonlySet<string> {
    return this.#columns.usedBy.get(this.row) ?? NONE;
  }

  /** True if it has nothing that few trails have: it loses no reference, and has no assumed finalizer, no user and no grace period. */
  get isCommon(): boolean {
    const { loses, assumed, usedBy, graceSeconds } = this.#columns;
    const { row } = this;
    if (loses.get(row) !== 0) return false;
    return !assumed.has(row) && !usedBy.has(row) && !graceSeconds.has(row);
  }

  /** The grace period that its node has, in seconds. */
  get graceSeconds(): number | undefined {
    return this.#columns.graceSeconds.get(this.row);
  }

  set graceSeconds(seconds: number) {
    this.#columns.graceSeconds.set(this.row, seconds);
  }

  /** The server refused to delete it. */
  get refused(): string | undefined {
    return this.#columns.refused.get(this.row);
  }

  set refused(message: string) {
    this.#columns.refused.set(this.row, message);
  }
}

/** All trails of a simulation, created on first use. */
export class Trails {
  readonly #columns: TrailColumns;
  /** The set of one finalizer or pod that was made last; most objects have it in common, so it is never changed. */
  #lastSet: ReadonlySet<string> = NONE;

  constructor(numbers: ObjectNumbers) {
    this.#columns = new TrailColumns(numbers);
  }

  /** @param via the cause that reaches the object, unless there already is one */
  of(uid: string, via: Via = 'ownerReference'): Trail {
    const columns = this.#columns;
    const number = columns.numbers.of(uid);
    const row = this.rowOf(number);
    if (row >= 0) return new Trail(columns, row);
    const { object, marks, sequence, waitsFor, loses } = columns;
    object.push(number);
    marks.push(VIAS.indexOf(via));
    sequence.push(0);
    waitsFor.push(0);
    loses.push(0);
    columns.numbers.marks.set(number, object.length << ROW_SHIFT);
    return new Trail(columns, object.length - 1);
  }

  add(trail: Trail, set: 'waitsFor' | 'loses' | 'assumed' | 'usedBy', member: string): void {
    const { row } = trail;
    if (set === 'waitsFor' || set === 'loses') {
      const { sets, [set]: column } = this.#columns;
      column.set(row, sets.with(column.get(row), member));
      return;
    }
    const members = trail[set];
    if (members.has(member)) return;
    if (members.size === 0) this.#columns[set].set(row, this.#setOf(member));
    else if (members.size === 1) this.#columns[set].set(row, new Set([...members, member]));
    else (members as Set<string>).add(member);
  }

  /** Takes an object out of those that another waits for. */
  waitsNoMore({ row }: Trail, other: string): void {
    const { sets, waitsFor } = this.#columns;
    waitsFor.set(row, sets.without(waitsFor.get(row), other));
  }

  find(uid: string): Trail | undefined {
    const row = this.rowOf(this.#columns.numbers.of(uid));
    return row < 0 ? undefined : new Trail(this.#columns, row);
  }

  /** The number of an object, by which a trail is found faster. */
  numberOf(uid: string): number {
    return this.#columns.numbers.of(uid);
  }

  /** The place of an object's trail in the order of creation; -1 if it has none. */
  rowOf(number: number): number {
    return (this.#columns.numbers.marks.get(number) >>> ROW_SHIFT) - 1;
  }

  /** Order of the removal of an object, from 1; 0 if it was not removed. */
  sequenceOf(number: number): number {
    const row = this.rowOf(number);
    return row < 0 ? 0 : this.#columns.sequence.get(row);
  }

  uidOf(number: number): string {
    return this.#columns.numbers.uidOf(number);
  }

  get size(): number {
    return this.#columns.object.length;
  }

  /** The trail at a place in the order of creation. */
  at(row: number): Trail {
    return new Trail(this.#columns, row);
  }

  *values(): Iterable<Trail> {
    for (let row = 0; row < this.size; row++) yield this.at(row);
  }

  #setOf(member: string): ReadonlySet<string> {
    if (!this.#lastSet.has(member)) this.#lastSet = new Set([member]);
    return this.#lastSet;
  }
}
