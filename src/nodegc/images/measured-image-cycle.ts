import { formatDuration } from '../config/go-duration.ts';
import { aggregate } from '../config/validate-configuration.ts';
import type { ImageRecord, Inventory } from '../inventory/image-records.ts';
import {
  type ImageCycle,
  type ImageCycleResult,
  type ImageOperation,
  type ImageStep,
  insufficientSpace,
  type NodeEvent,
  type Removal,
  type RemovalOutcome,
  type SkipReason,
} from './image-cycle.ts';
import { LargestFirst } from './largest-first.ts';
import { ageBegins, byUse, type Protection } from './protection.ts';
import type { SharedBytes } from './shared-bytes.ts';
import { decideByThreshold, type DiskReading, type Percentages } from './thresholds.ts';

export interface MeasuredCycleFacts {
  readonly inventory: Inventory;
  readonly protections: ReadonlyMap<string, Protection>;
  readonly operation: ImageOperation;
  readonly freeTime: bigint;
  readonly minimumAge: bigint;
  /** 0 means no age pass. */
  readonly maximumAge: bigint;
  readonly thresholds: Percentages;
  readonly inodeThresholds: Percentages;
  readonly choose: 'fewest' | 'leastRecentlyUsed';
  readonly protectRecent: bigint;
  readonly parallelRemovals: number;
  /** The time from which the minimum age counts (NODE-214). */
  readonly minimumAgeFrom: 'detected' | 'used';
  /** Exact bytes, where the runtime shows the pieces of its images (NODE-202). The cycle changes this object. */
  readonly shared?: SharedBytes | undefined;
  /** Keys of images whose removal failed recently: it is too early to try them again (NODE-216). */
  readonly retryLater?: ReadonlySet<string>;
}

/** Compressed layers grow at most by this factor on the disk. It bounds what the removals of one batch can free. */
const EXPANSION = 4n;

/**
 * Image collection that measures (NODE-200 to NODE-218). It reads the disk after each step and stops when the goal is met. Near the goal,
 * fewer images are removed at the same time. Invariant: before each step the goal is not met.
 */
export class MeasuredImageCycle implements ImageCycle {
  readonly #facts: MeasuredCycleFacts;
  readonly #shared: SharedBytes | undefined;
  readonly #skipped: { record: ImageRecord; reason: SkipReason }[] = [];
  readonly #removed: Removal[] = [];
  readonly #failed: { record: ImageRecord; message: string }[] = [];
  readonly #events: NodeEvent[] = [];
  /** Images that may be removed, tried or not. */
  readonly #candidates: ImageRecord[] = [];
  readonly #tried = new Set<string>();
  /** The candidates, least recently used first; built at first need. */
  #byUse: readonly ImageRecord[] | undefined;
  #position = 0;
  /** Candidates that were not used recently, the one that frees most on top. An entry with outdated bytes is skipped. */
  #largest: LargestFirst | undefined;
  /** The same candidates by key; only where their bytes can change. */
  #notRecent: ReadonlyMap<string, ImageRecord> | undefined;
  readonly #aged: ImageRecord[];
  #phase: 'age' | 'disk' | 'space' | 'measure' | 'end' = 'age';
  #ageErrors: string[] = [];
  #spaceErrors: string[] = [];
  #before: DiskReading | undefined;
  #last: DiskReading | undefined;
  #goal = 0n;
  #inodeGoal = 0n;
  #due = false;
  #usagePercent: number | undefined;
  #end: Pick<ImageCycleResult, 'outcome' | 'because' | 'error'> | undefined;

  constructor(facts: MeasuredCycleFacts) {
    this.#facts = facts;
    this.#shared = facts.shared;
    const { inventory, protections, freeTime, minimumAge, minimumAgeFrom, retryLater, maximumAge, operation } = facts;
    const youngest = freeTime - minimumAge;
    for (const record of inventory.values()) {
      const protection = protections.get(record.key);
      if (protection !== undefined) this.#skip(record, protection.rule);
      else if (record.lastUsed !== undefined && record.lastUsed >= freeTime) this.#skip(record, 'usedMeanwhile');
      else if (ageBegins(record, minimumAgeFrom) > youngest) this.#skip(record, 'minimumAge');
      else if (retryLater?.has(record.key) === true) this.#skip(record, 'retryLater');
      else this.#candidates.push(record);
    }
    // The age of an image that was never used counts from its first detection: an image just pulled is not infinitely old (NODE-211).
    const byAge = operation === 'garbageCollect' && maximumAge > 0n;
    this.#aged = byAge
      ? this.#candidates.filter((record) => freeTime - lastSeen(record) > maximumAge).toSorted(byUse)
      : [];
  }

  next(): ImageStep {
    if (this.#phase === 'age') {
      const batch = this.#aged.splice(0, this.#facts.parallelRemovals);
      if (batch.length > 0) {
        return { step: 'remove', removals: batch.map((record) => this.#take(record, 'age')) };
      }
      this.#phase = 'disk';
    }
    if (this.#phase === 'disk') return { step: 'readDisk', settled: this.#removed.length > 0 };
    if (this.#phase === 'measure') return { step: 'readDisk', settled: true };
    if (this.#phase === 'space') {
      const removals = this.#nextBatch();
      if (removals.length > 0) {
        this.#phase = 'measure';
        return { step: 'remove', removals };
      }
      this.#endSpacePass();
    }
    return { step: 'end', result: this.#result() };
  }

  settle(removal: Removal, outcome: RemovalOutcome): void {
    const { record, reason } = removal;
    if (outcome.outcome === 'removed') {
      this.#removed.push(removal);
      return;
    }
    this.#changed(this.#shared?.restore(record.key) ?? []);
    if (outcome.outcome === 'spared') this.#skip(record, 'spared');
    else {
      this.#failed.push({ record, message: outcome.message });
      (reason === 'age' ? this.#ageErrors : this.#spaceErrors).push(outcome.message);
    }
  }

  read(reading: DiskReading): void {
    this.#last = reading;
    if (this.#phase === 'measure') {
      this.#phase = 'space';
      if (this.#facts.operation === 'garbageCollect' && this.#missing() <= 0n && this.#missingInodes() <= 0n) {
        this.#endSpacePass();
      }
      return;
    }
    this.#before = reading;
    if (this.#facts.operation === 'deleteUnused') {
      this.#due = true;
      this.#phase = 'space';
      return;
    }
    const decided = decideByThreshold(reading, this.#facts.thresholds);
    if (decided.decision === 'invalidCapacity') {
      this.#events.push({ reason: 'InvalidDiskCapacity', message: decided.message });
      this.#finish('error', 'invalidCapacity', decided.message);
      return;
    }
    this.#usagePercent = decided.usagePercent;
    this.#goal = decided.decision === 'due' ? decided.goal : 0n;
    const inodes = decideByThreshold(
      { capacity: reading.inodes, available: reading.inodesFree },
      this.#facts.inodeThresholds,
    );
    this.#inodeGoal = inodes.decision === 'due' ? inodes.goal : 0n;
    if (this.#goal > 0n || this.#inodeGoal > 0n) {
      this.#due = true;
      this.#phase = 'space';
    } else this.#endWithoutSpacePass();
  }

  #skip(record: ImageRecord, reason: SkipReason): void {
    this.#skipped.push({ record, reason });
  }

  #bytesOf(record: ImageRecord): Estimate {
    return { record, bytes: this.#freedBy(record), exact: this.#shared?.knows(record.key) === true };
  }

  #freedBy({ key, image }: ImageRecord): bigint {
    return this.#shared?.knows(key) === true ? this.#shared.own(key) : image.size;
  }

  /** Marks an image as tried. Its pieces count as removed until its removal fails. */
  #take(record: ImageRecord, reason: Removal['reason']): Removal {
    const { bytes, exact } = this.#bytesOf(record);
    const removal = { record, bytes, exact, reason };
    this.#tried.add(record.key);
    this.#changed(this.#shared?.remove(record.key) ?? []);
    return removal;
  }

  /** Adds these images to the heap again, because their freed bytes have changed. */
  #changed(keys: readonly string[]): void {
    if (this.#largest === undefined || keys.length === 0) return;
    for (const key of new Set(keys)) {
      const record = this.#notRecent?.get(key);
      if (record !== undefined && this.#isOpen(record)) this.#largest.push(record, this.#freedBy(record));
    }
  }

  #isOpen(record: ImageRecord): boolean {
    return !this.#tried.has(record.key);
  }

  #missing(): bigint {
    return this.#goal - ((this.#last?.available ?? 0n) - (this.#before?.available ?? 0n));
  }

  #missingInodes(): bigint {
    return this.#inodeGoal - ((this.#last?.inodesFree ?? 0n) - (this.#before?.inodesFree ?? 0n));
  }

  /** The images to remove at the same time. Without the last of them, the batch cannot meet the goal. */
  #nextBatch(): Removal[] {
    const all = this.#facts.operation === 'deleteUnused';
    const inodesOnly = this.#missing() <= 0n;
    const batch: Removal[] = [];
    let missing = this.#missing();
    while (this.#tried.size < this.#candidates.length && batch.length < this.#facts.parallelRemovals) {
      if (!all && batch.length > 0 && (missing <= 0n || inodesOnly)) break;
      const removal = this.#take(all || inodesOnly ? this.#oldest() : this.#choose(missing), 'space');
      batch.push(removal);
      missing -= removal.exact ? removal.bytes : removal.bytes * EXPANSION;
    }
    return batch;
  }

  /** The least recently used image that was not tried. */
  #oldest(): ImageRecord {
    this.#byUse ??= this.#candidates.toSorted(byUse);
    while (!this.#isOpen(this.#byUse[this.#position]!)) this.#position++;
    return this.#byUse[this.#position]!;
  }

  /**
   * Chooses the next image (NODE-203). Among images that were not used recently, it is the one that frees most. If one image alone can meet
   * the goal, the smallest such image is chosen. After those, the least recently used of the rest is chosen.
   */
  #choose(missing: bigint): ImageRecord {
    if (this.#facts.choose === 'leastRecentlyUsed') return this.#oldest();
    const largest = this.#pickLargest();
    if (largest === undefined) return this.#oldest();
    if (!largest.exact || largest.bytes < missing) return largest.record;
    let enough = largest;
    for (const record of this.#notRecent?.values() ?? []) {
      if (!this.#isOpen(record)) continue;
      const each = this.#bytesOf(record);
      if (each.exact && each.bytes >= missing && leastFirst(each, enough) < 0) enough = each;
    }
    return enough.record;
  }

  #pickLargest(): Estimate | undefined {
    const largest = (this.#largest ??= this.#notUsedLately());
    for (let top = largest.peek(); top !== undefined; top = largest.peek()) {
      const estimate = this.#bytesOf(top.record);
      if (this.#isOpen(top.record) && estimate.bytes === top.bytes) return estimate;
      largest.pop();
    }
    return undefined;
  }

  #notUsedLately(): LargestFirst {
    const { freeTime, protectRecent } = this.#facts;
    const recent = freeTime - protectRecent;
    const records: ImageRecord[] = [];
    const bytes: bigint[] = [];
    for (const record of this.#candidates) {
      if (lastSeen(record) >= recent || !this.#isOpen(record)) continue;
      records.push(record);
      bytes.push(this.#freedBy(record));
    }
    if (this.#shared !== undefined) this.#notRecent = new Map(records.map((record) => [record.key, record]));
    return new LargestFirst(records, bytes);
  }

  #endWithoutSpacePass(): void {
    if (this.#ageErrors.length > 0) {
      this.#finish(this.#removed.length > 0 ? 'partial' : 'error', 'deleteError', this.#ageError());
    } else if (this.#removed.length > 0) this.#finish('success', 'age');
    else this.#finish('noop', 'threshold');
  }

  #ageError(): string {
    const age = formatDuration(this.#facts.maximumAge);
    return `wanted to free images older than ${age}, encountered errors in image deletion: ${aggregate(this.#ageErrors)}`;
  }

  #endSpacePass(): void {
    const some = this.#removed.length > 0;
    if (this.#facts.operation === 'deleteUnused') {
      const errors = this.#spaceErrors;
      if (errors.length === 0) this.#finish(some ? 'success' : 'noop', 'allUnused');
      else this.#finish(some ? 'partial' : 'error', 'deleteError', `errors in image deletion: ${aggregate(errors)}`);
      return;
    }
    if (this.#missing() <= 0n && this.#missingInodes() <= 0n) {
      // A goal that is met is a success, even if some removals failed (NODE-216).
      this.#finish('success', 'threshold');
      return;
    }
    const freed = this.#measured() ?? 0n;
    if (this.#spaceErrors.length > 0) {
      const errors = aggregate(this.#spaceErrors);
      this.#finish(
        some ? 'partial' : 'error',
        'deleteError',
        `wanted to free ${this.#goal} bytes, but freed ${freed} bytes space with errors in image deletion: ${errors}`,
      );
      return;
    }
    const message =
      this.#missing() > 0n
        ? insufficientSpace(this.#usagePercent!, this.#before!.capacity!, freed)
        : `Insufficient free inodes on the node's image filesystem. Failed to free ${this.#inodeGoal} inodes by deleting unused images.`;
    this.#events.push({ reason: 'FreeDiskSpaceFailed', message });
    this.#finish(some ? 'partial' : 'error', 'insufficientFreed', message);
  }

  #finish(outcome: ImageCycleResult['outcome'], because: ImageCycleResult['because'], error?: string): void {
    this.#end = { outcome, because, error };
    this.#phase = 'end';
  }

  #measured(): bigint | undefined {
    if (this.#before?.available === undefined || this.#last?.available === undefined) return undefined;
    return this.#last.available - this.#before.available;
  }

  #result(): ImageCycleResult {
    const after = this.#last && decideByThreshold(this.#last, this.#facts.thresholds);
    return {
      ...this.#end!,
      events: this.#events,
      removed: this.#removed,
      failed: this.#failed,
      skipped: this.#skipped,
      goal: this.#due && this.#facts.operation === 'garbageCollect' ? this.#goal : undefined,
      usagePercent: this.#usagePercent,
      usagePercentAfter: after !== undefined && after.decision !== 'invalidCapacity' ? after.usagePercent : undefined,
      estimatedFreed: this.#removed.reduce((sum, { bytes }) => sum + bytes, 0n),
      measuredFreed: this.#measured(),
    };
  }
}

interface Estimate {
  readonly record: ImageRecord;
  readonly bytes: bigint;
  readonly exact: boolean;
}

const sign = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Orders by freed bytes, fewest first. Among equal bytes, the least recently used comes first. */
function leastFirst(a: Estimate, b: Estimate): number {
  return sign(a.bytes, b.bytes) || byUse(a.record, b.record);
}

/** The last known use of the image; its first detection where no later use is known. */
const lastSeen = (record: ImageRecord): bigint => ageBegins(record, 'used');
