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
  type RemovalReason,
  type SkipReason,
} from './image-cycle.ts';
import { byUse, type Protection } from './protection.ts';
import { decideByThreshold, type DiskReading, type Percentages } from './thresholds.ts';

export interface KubeletCycleFacts {
  readonly inventory: Inventory;
  readonly protections: ReadonlyMap<string, Protection>;
  readonly operation: ImageOperation;
  /** Start of this cycle, and start of this process's loop, in nanoseconds. */
  readonly freeTime: bigint;
  readonly startTime: bigint;
  readonly minimumAge: bigint;
  /** 0 means no age pass. */
  readonly maximumAge: bigint;
  readonly thresholds: Percentages;
}

const NEVER_REACHED = 2n ** 63n - 1n;

/**
 * The kubelet's image collection, reproduced exactly (NODE-061 to NODE-072): one removal at a time, with the sizes that the runtime
 * reports.
 */
export class KubeletImageCycle implements ImageCycle {
  readonly #facts: KubeletCycleFacts;
  readonly #skipped: { record: ImageRecord; reason: SkipReason }[] = [];
  readonly #removed: Removal[] = [];
  readonly #failed: { record: ImageRecord; message: string }[] = [];
  readonly #events: NodeEvent[] = [];
  #candidates: ImageRecord[];
  #position = 0;
  #phase: 'age' | 'disk' | 'space' | 'end' = 'age';
  #passErrors: string[] = [];
  #freed = 0n;
  #goal: bigint | undefined;
  #reading: DiskReading | undefined;
  #usagePercent: number | undefined;
  #end: Pick<ImageCycleResult, 'outcome' | 'because' | 'error'> | undefined;

  constructor(facts: KubeletCycleFacts) {
    this.#facts = facts;
    const { inventory, protections } = facts;
    this.#candidates = [...inventory.values()].filter(({ key }) => !protections.has(key)).toSorted(byUse);
    for (const [key, { rule }] of protections) {
      const record = inventory.get(key);
      if (record !== undefined) this.#skipped.push({ record, reason: rule });
    }
    const { maximumAge, freeTime, startTime, operation } = facts;
    const agePass = operation === 'garbageCollect' && maximumAge > 0n && freeTime - startTime > maximumAge;
    if (!agePass) this.#beginSpace();
  }

  /** Images in the order of removal, before any of them is removed. */
  get candidates(): readonly ImageRecord[] {
    return this.#candidates;
  }

  next(): ImageStep {
    if (this.#phase === 'age') {
      const step = this.#nextOf('age', (record) => this.#isOld(record));
      if (step !== undefined) return step;
      this.#endAgePass();
    }
    if (this.#phase === 'disk') return { step: 'readDisk', settled: false };
    if (this.#phase === 'space') {
      const step = this.#freed >= this.#goal! ? undefined : this.#nextOf('space', (record) => this.#mayGo(record));
      if (step !== undefined) return step;
      this.#endSpacePass();
    }
    return { step: 'end', result: this.#result() };
  }

  settle(removal: Removal, outcome: RemovalOutcome): void {
    if (outcome.outcome === 'removed') {
      this.#removed.push(removal);
      if (removal.reason === 'space') this.#freed += removal.bytes;
      return;
    }
    if (outcome.outcome === 'spared') {
      this.#skipped.push({ record: removal.record, reason: 'spared' });
      return;
    }
    this.#failed.push({ record: removal.record, message: outcome.message });
    this.#passErrors.push(outcome.message);
  }

  read(reading: DiskReading): void {
    this.#reading = reading;
    const decided = decideByThreshold(reading, this.#facts.thresholds);
    if (decided.decision === 'invalidCapacity') {
      this.#events.push({ reason: 'InvalidDiskCapacity', message: decided.message });
      this.#finish('error', 'invalidCapacity', decided.message);
      return;
    }
    this.#usagePercent = decided.usagePercent;
    // A goal of 0 bytes is already met. The kubelet would still remove one image (NODE-071).
    if (decided.decision === 'below' || decided.goal <= 0n) {
      this.#finish(this.#removed.length > 0 ? 'success' : 'noop', this.#removed.length > 0 ? 'age' : 'threshold');
      return;
    }
    this.#goal = decided.goal;
    this.#phase = 'space';
  }

  #nextOf(reason: RemovalReason, may: (record: ImageRecord) => boolean): ImageStep | undefined {
    while (this.#position < this.#candidates.length) {
      const record = this.#candidates[this.#position++]!;
      if (!may(record)) continue;
      return { step: 'remove', removals: [{ record, reason, bytes: record.image.size, exact: false }] };
    }
    return undefined;
  }

  /** An image that was never used counts as infinitely old, and the minimum age does not matter here (NODE-063). */
  #isOld({ lastUsed }: ImageRecord): boolean {
    const { freeTime, maximumAge } = this.#facts;
    return lastUsed === undefined || freeTime - lastUsed > maximumAge;
  }

  #mayGo(record: ImageRecord): boolean {
    const { freeTime, minimumAge } = this.#facts;
    if ((record.lastUsed ?? -1n) >= freeTime) {
      this.#skipped.push({ record, reason: 'usedMeanwhile' });
      return false;
    }
    if (freeTime - record.firstDetected < minimumAge) {
      this.#skipped.push({ record, reason: 'minimumAge' });
      return false;
    }
    return true;
  }

  #endAgePass(): void {
    if (this.#passErrors.length > 0) {
      const { maximumAge } = this.#facts;
      const errors = aggregate(this.#passErrors);
      this.#finish(
        this.#removed.length > 0 ? 'partial' : 'error',
        'deleteError',
        `wanted to free images older than ${formatDuration(maximumAge)}, encountered errors in image deletion: ${errors}`,
      );
      return;
    }
    const gone = new Set(this.#removed.map(({ record }) => record.key));
    this.#candidates = this.#candidates.filter(({ key }) => !gone.has(key));
    this.#beginSpace();
  }

  #beginSpace(): void {
    this.#position = 0;
    if (this.#facts.operation === 'deleteUnused') {
      this.#goal = NEVER_REACHED;
      this.#phase = 'space';
    } else this.#phase = 'disk';
  }

  #endSpacePass(): void {
    const goal = this.#goal!;
    const some = this.#removed.length > 0;
    if (this.#passErrors.length > 0) {
      const errors = aggregate(this.#passErrors);
      this.#finish(
        some ? 'partial' : 'error',
        'deleteError',
        `wanted to free ${goal} bytes, but freed ${this.#freed} bytes space with errors in image deletion: ${errors}`,
      );
    } else if (this.#facts.operation === 'deleteUnused') {
      this.#finish(some ? 'success' : 'noop', 'allUnused');
    } else if (this.#freed < goal) {
      const message = insufficientSpace(this.#usagePercent!, this.#reading!.capacity!, this.#freed);
      this.#events.push({ reason: 'FreeDiskSpaceFailed', message });
      this.#finish(some ? 'partial' : 'error', 'insufficientFreed', message);
    } else {
      this.#finish('success', 'threshold');
    }
  }

  #finish(outcome: ImageCycleResult['outcome'], because: ImageCycleResult['because'], error?: string): void {
    this.#end = { outcome, because, error };
    this.#phase = 'end';
  }

  #result(): ImageCycleResult {
    return {
      ...this.#end!,
      events: this.#events,
      removed: this.#removed,
      failed: this.#failed,
      skipped: this.#skipped,
      goal: this.#facts.operation === 'deleteUnused' ? undefined : this.#goal,
      usagePercent: this.#usagePercent,
      usagePercentAfter: undefined,
      estimatedFreed: this.#removed.reduce((sum, { bytes }) => sum + bytes, 0n),
      measuredFreed: undefined,
    };
  }
}
