import type { ImageRecord } from '../inventory/image-records.ts';
import type { ProtectionRule } from './protection.ts';
import { type DiskReading, formatCapacity } from './thresholds.ts';

/** The reason to remove an image: its age, or the space that is needed. */
export type RemovalReason = 'age' | 'space';
/** `deleteUnused`: remove every image that is not in use, without a goal (NODE-072). */
export type ImageOperation = 'garbageCollect' | 'deleteUnused';

export interface Removal {
  readonly record: ImageRecord;
  readonly reason: RemovalReason;
  /** Bytes that the removal frees: exact, or estimated by the size that the runtime reports. */
  readonly bytes: bigint;
  readonly exact: boolean;
}

/** The next step of the cycle. The caller reports the outcome of a step before it requests the next one. */
export type ImageStep =
  /** Read the disk; `settled`: wait until the free space no longer changes. */
  | { readonly step: 'readDisk'; readonly settled: boolean }
  /** Remove these images, all at the same time. */
  | { readonly step: 'remove'; readonly removals: readonly Removal[] }
  | { readonly step: 'end'; readonly result: ImageCycleResult };

export type RemovalOutcome =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'failed'; readonly message: string }
  /** The image became protected after the plan was made. */
  | { readonly outcome: 'spared'; readonly why: string };

export interface NodeEvent {
  readonly reason: 'InvalidDiskCapacity' | 'FreeDiskSpaceFailed' | 'ImageGCFailed' | 'ContainerGCFailed';
  readonly message: string;
}

export type SkipReason = ProtectionRule | 'minimumAge' | 'usedMeanwhile' | 'retryLater' | 'spared';

export interface ImageCycleResult {
  readonly outcome: 'success' | 'partial' | 'noop' | 'error';
  readonly because:
    | 'threshold'
    | 'age'
    | 'allUnused'
    | 'statsError'
    | 'invalidCapacity'
    | 'deleteError'
    | 'insufficientFreed'
    | 'detectError';
  /** The error that the kubelet would return for the cycle. */
  readonly error: string | undefined;
  readonly events: readonly NodeEvent[];
  readonly removed: readonly Removal[];
  readonly failed: readonly { readonly record: ImageRecord; readonly message: string }[];
  readonly skipped: readonly { readonly record: ImageRecord; readonly reason: SkipReason }[];
  /** Bytes to free; undefined when the space pass was not due. */
  readonly goal: bigint | undefined;
  readonly usagePercent: number | undefined;
  readonly usagePercentAfter: number | undefined;
  readonly estimatedFreed: bigint;
  /** Bytes freed as the file system measures them; undefined where it was not read. */
  readonly measuredFreed: bigint | undefined;
}

/** One pass over the images of a node as a state machine without I/O. Bound: each candidate is removed at most once. */
export interface ImageCycle {
  next(): ImageStep;
  /** Reports how one removal of the last step ended. */
  settle(removal: Removal, outcome: RemovalOutcome): void;
  /** Reports the measured disk after a step `readDisk`. */
  read(reading: DiskReading): void;
}

/** The message of the current kubelet (NODE-068). */
export function insufficientSpace(usagePercent: number, capacity: bigint, freed: bigint): string {
  return (
    `Insufficient free disk space on the node's image filesystem (${usagePercent}% of ${formatCapacity(capacity)} used). ` +
    `Failed to free sufficient space by deleting unused images (freed ${freed} bytes). ` +
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.'
  );
}
