import { type Metrics, noMetrics } from '../../base/metrics/metrics.ts';
import type { ContainerCycleResult, Removed } from '../containers/container-manager.ts';
import type { ImageCycleResult, ImageOperation, SkipReason } from '../images/image-cycle.ts';

/** The cause of a pass. */
export type Trigger = 'periodic' | 'eviction' | 'unknown';

const operations: Readonly<Record<ImageOperation, string>> = {
  garbageCollect: 'garbage_collect',
  deleteUnused: 'delete_unused_images',
};
const because: Readonly<Record<ImageCycleResult['because'], string>> = {
  threshold: 'threshold',
  age: 'age',
  allUnused: 'all_unused',
  statsError: 'stats_error',
  invalidCapacity: 'invalid_capacity',
  deleteError: 'delete_error',
  insufficientFreed: 'insufficient_freed',
  detectError: 'detect_error',
};
const skips: Partial<Record<SkipReason, string>> = {
  inUse: 'in_use',
  usedMeanwhile: 'in_use',
  podSpec: 'in_use',
  unknownUse: 'in_use',
  minimumAge: 'min_age',
  pinned: 'pinned',
  sandboxImage: 'pinned',
};
const kinds: Readonly<Record<Removed['kind'], string>> = {
  container: 'container',
  sandbox: 'sandbox',
  logDirectory: 'log_dir',
  deadLink: 'symlink',
};
const reasons: Readonly<Record<Removed['reason'], string>> = {
  podDeleted: 'pod_deleted',
  pressure: 'pressure',
  perUnit: 'per_unit',
  total: 'total',
  maximumAge: 'max_age',
  older: 'per_unit',
  dead: 'dead',
};

/** Buckets in bytes, from a mebibyte to a tebibyte. */
const BYTES = [20, 23, 26, 28, 30, 31, 32, 33, 34, 35, 36, 38, 40].map((power) => 2 ** power);

/** Metrics of node collection (NODE-131, NODE-132). No label names an image, a pod, a path or an error. */
export class NodeMetrics {
  readonly #of;

  /** @param kubeletNames also counts under the name that the kubelet uses (NODE-131) */
  constructor(metrics: Metrics = noMetrics, kubeletNames = false) {
    this.#of = {
      attempts: metrics.counter({
        name: 'kubegc_node_image_gc_attempts_total',
        help: 'Passes over the images of the node',
        labelNames: ['operation', 'trigger', 'result', 'reason'],
      }),
      duration: metrics.histogram({
        name: 'kubegc_node_image_gc_duration_seconds',
        help: 'Time of passes over the images of the node',
        labelNames: ['operation', 'trigger'],
      }),
      freed: metrics.histogram({
        name: 'kubegc_node_image_gc_freed_bytes',
        help: 'Bytes that removed images were expected to free, for each pass',
        labelNames: ['operation', 'trigger'],
        buckets: BYTES,
      }),
      measured: metrics.histogram({
        name: 'kubegc_node_image_gc_measured_freed_bytes',
        help: 'Bytes by which the image file system had more available after a pass',
        labelNames: ['operation', 'trigger'],
        buckets: BYTES,
      }),
      target: metrics.histogram({
        name: 'kubegc_node_image_gc_target_bytes',
        help: 'Bytes that a pass wanted to free',
        labelNames: ['operation', 'trigger'],
        buckets: BYTES,
      }),
      deletions: metrics.counter({
        name: 'kubegc_node_image_gc_image_deletions_total',
        help: 'Removals of images that were tried',
        labelNames: ['operation', 'trigger', 'result'],
      }),
      skipped: metrics.counter({
        name: 'kubegc_node_image_gc_skipped_images_total',
        help: 'Images that a pass left',
        labelNames: ['operation', 'trigger', 'reason'],
      }),
      usage: metrics.gauge({
        name: 'kubegc_node_image_gc_image_fs_usage_percent',
        help: 'Use of the image file system before and after the last pass',
        labelNames: ['phase'],
      }),
      containerAttempts: metrics.counter({
        name: 'kubegc_node_container_gc_attempts_total',
        help: 'Passes over dead containers, sandboxes and logs',
        labelNames: ['result'],
      }),
      containerRemoved: metrics.counter({
        name: 'kubegc_node_container_gc_removed_total',
        help: 'Containers, sandboxes, log directories and links that were removed',
        labelNames: ['kind', 'reason'],
      }),
      kubelet: kubeletNames
        ? metrics.counter({
            name: 'kubelet_image_garbage_collected_total',
            help: 'Total number of images garbage collected by the kubelet, whether through disk usage or image age.',
            labelNames: ['reason'],
          })
        : undefined,
    };
  }

  imageCycle(operation: ImageOperation, trigger: Trigger, result: ImageCycleResult, seconds: number): void {
    const labels = { operation: operations[operation], trigger };
    const of = this.#of;
    of.attempts.inc({ ...labels, result: result.outcome, reason: because[result.because] });
    of.duration.observe(seconds, labels);
    of.freed.observe(Number(result.estimatedFreed), labels);
    if (result.measuredFreed !== undefined) of.measured.observe(Number(result.measuredFreed), labels);
    if (result.goal !== undefined) of.target.observe(Number(result.goal), labels);
    if (result.removed.length > 0) of.deletions.inc({ ...labels, result: 'success' }, result.removed.length);
    if (result.failed.length > 0) of.deletions.inc({ ...labels, result: 'error' }, result.failed.length);
    for (const { reason } of result.skipped) of.skipped.inc({ ...labels, reason: skips[reason] ?? 'other' });
    for (const { reason } of result.removed) of.kubelet?.inc({ reason });
    if (result.usagePercent !== undefined) of.usage.set(result.usagePercent, { phase: 'before' });
    if (result.usagePercentAfter !== undefined) of.usage.set(result.usagePercentAfter, { phase: 'after' });
  }

  /** Counts a pass that did not start because its lists failed. */
  imageCycleFailed(operation: ImageOperation, trigger: Trigger, seconds: number): void {
    const labels = { operation: operations[operation], trigger };
    this.#of.attempts.inc({ ...labels, result: 'error', reason: 'detect_error' });
    this.#of.duration.observe(seconds, labels);
  }

  containerCycle(result: ContainerCycleResult): void {
    const { removed, left, error } = result;
    const outcome =
      error !== undefined
        ? removed.length > 0
          ? 'partial'
          : 'error'
        : left.length > 0
          ? 'partial'
          : removed.length > 0
            ? 'success'
            : 'noop';
    this.#of.containerAttempts.inc({ result: outcome });
    for (const { kind, reason } of removed)
      this.#of.containerRemoved.inc({ kind: kinds[kind], reason: reasons[reason] });
  }
}
