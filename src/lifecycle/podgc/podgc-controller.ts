import { formatTime } from '../../api/meta/time.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { isJobFinished, type Job, JOB_KIND, JOBS } from '../job/job.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { controllerOf } from '../ownership/controller-reference.ts';
import { type Node, NODES, type Pod, PODS } from '../pods/pod-object.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_NODE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import {
  decidePass,
  isOfTerminated,
  isOutOfService,
  isTerminated,
  type PodDeletion,
  statusPatchOf,
} from './podgc-reconcile.ts';

export interface PodGcSettings {
  /** Minimum interval between passes; 20 s. */
  readonly checkPeriodMs?: number;
  /** Time that a node must be missing before it is read live; 40 s. */
  readonly quarantineMs?: number;
  /** Maximum number of terminated pods in one namespace; 0 means no limit, which is the default (LIFE-066). */
  readonly maxTerminatedPerNamespace?: number;
  /** Time that a terminated pod stays after it finished, ms; 0 means for ever, which is the default (LIFE-066). */
  readonly terminatedTtlMs?: number;
}

export interface PodGcOptions extends SharedContext, PodGcSettings {
  /** `--terminated-pod-gc-threshold`; default 12500. With 0 or less, no terminated pod is deleted. */
  readonly terminatedPodThreshold?: number;
}

const DEFAULT_THRESHOLD = 12_500;
const CHECK_PERIOD_MS = 20_000;
const QUARANTINE_MS = 40_000;
/** Number of terminated pods that are deleted concurrently. */
const PARALLEL = 16;
const PASS = 'pass';

/**
 * Deletes pods that no kubelet will end (`pod-garbage-collector-controller`). A pass runs at most once in the check period, and only if an event or the
 * last pass left work.
 */
export class PodGcController implements Service {
  readonly #options: PodGcOptions;
  readonly #threshold: number;
  readonly #pods: SharedCache<Pod>;
  readonly #nodes: SharedCache<Node>;
  /** Only with a TTL, from which the pods of unfinished Jobs are exempt. */
  readonly #jobs: SharedCache<Job> | undefined;
  readonly #loop: ReconcileLoop;
  readonly #terminated = new Set<string>();
  /** Monotonic ms at which the quarantine of a missing node ends. The nodes that pods name bound its size. */
  readonly #quarantine = new Map<string, number>();
  readonly #attempts: Counter;
  readonly #errors: Counter;
  readonly #deletions: Counter;
  /** Passes begin at multiples of the period after it; undefined before the first. */
  #firstPassAt: number | undefined;

  constructor(options: PodGcOptions) {
    const { clock, logger, metrics, informers } = options;
    this.#options = options;
    this.#threshold = options.terminatedPodThreshold ?? DEFAULT_THRESHOLD;
    this.#pods = informers.of<Pod>(PODS);
    this.#nodes = informers.of<Node>(NODES);
    this.#jobs = (options.terminatedTtlMs ?? 0) > 0 ? informers.of<Job>(JOBS) : undefined;
    const labelNames = ['namespace', 'reason'];
    this.#attempts = metrics.counter({
      name: 'pod_gc_collector_force_delete_pods_total',
      help: 'Number of pods that are being forcefully deleted since the Pod GC Controller started.',
      labelNames,
    });
    this.#errors = metrics.counter({
      name: 'pod_gc_collector_force_delete_pod_errors_total',
      help: 'Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.',
      labelNames,
    });
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'pod_gc',
      clock,
      logger,
      metrics,
      caches: [this.#pods, this.#nodes, ...(this.#jobs === undefined ? [] : [this.#jobs])],
      workers: 1,
      sync: (_, signal) => this.#pass(signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const seen = (pod: Pod): void => {
      if (isTerminated(pod)) this.#terminated.add(keyOf(pod));
      else this.#terminated.delete(keyOf(pod));
      if (this.#needsPass(pod)) this.#wake();
    };
    this.#pods.addHandler({
      added: seen,
      updated: (_, pod) => seen(pod),
      deleted: (pod) => void this.#terminated.delete(keyOf(pod)),
    });
    const nodeChanged = ({ metadata }: Node): void => {
      if (this.#pods.byIndex(BY_NODE, metadata?.name ?? '').length > 0) this.#wake();
    };
    this.#nodes.addHandler({
      updated: (_, node) => {
        if (isOutOfService(node)) nodeChanged(node);
      },
      deleted: nodeChanged,
    });
    this.#jobs?.addHandler({
      // A cache that was behind shows the Job first when it has finished.
      added: (job) => {
        if (isJobFinished(job)) this.#wake();
      },
      updated: (before, job) => {
        if (!isJobFinished(before) && isJobFinished(job)) this.#wake();
      },
    });
    await this.#loop.run(signal);
  }

  #needsPass(pod: Pod): boolean {
    if (this.#threshold > 0 && this.#terminated.size > this.#threshold) return true;
    const { maxTerminatedPerNamespace = 0, terminatedTtlMs = 0 } = this.#options;
    if (isTerminated(pod) && (maxTerminatedPerNamespace > 0 || terminatedTtlMs > 0)) return true;
    const nodeName = pod.spec?.nodeName ?? '';
    if (nodeName === '') return Boolean(pod.metadata?.deletionTimestamp);
    const node = this.#nodes.get(nodeName);
    return node === undefined || (Boolean(pod.metadata?.deletionTimestamp) && isOutOfService(node));
  }

  #wake(): void {
    this.#loop.trigger(PASS, this.#untilNextPass());
  }

  #untilNextPass(): number {
    if (this.#firstPassAt === undefined) return 0;
    const since = this.#options.clock.monotonic() - this.#firstPassAt;
    const { checkPeriodMs = CHECK_PERIOD_MS } = this.#options;
    return checkPeriodMs - (since % checkPeriodMs);
  }

  async #pass(signal: AbortSignal): Promise<SyncOutcome> {
    this.#firstPassAt ??= this.#options.clock.monotonic();
    const gone = await this.#goneNodes(signal);
    const pods = this.#pods.list();
    const { maxTerminatedPerNamespace: perNamespace = 0, terminatedTtlMs: ttlMs = 0 } = this.#options;
    const { deletions, missingNodes, nextEndMs } = decidePass({
      pods,
      nodes: (name) => this.#nodes.get(name),
      threshold: this.#threshold,
      gone,
      limits: {
        perNamespace,
        ttlMs,
        now: this.#options.clock.now(),
        isOfUnfinishedJob: (pod) => this.#isOfUnfinishedJob(pod),
      },
    });
    const terminated = deletions.filter(isOfTerminated);
    for (let from = 0; from < terminated.length && !signal.aborted; from += PARALLEL) {
      await Promise.all(terminated.slice(from, from + PARALLEL).map((each) => this.#delete(each, signal)));
    }
    for (const each of deletions) {
      if (!isOfTerminated(each) && !signal.aborted) await this.#delete(each, signal);
    }
    this.#quarantineNodes(missingNodes, gone);
    // A pod with finalizers still exists in the next pass, and is deleted again (LIFE-062).
    if (deletions.length > 0 || this.#quarantine.size > 0) return { next: 'later', afterMs: this.#untilNextPass() };
    return nextEndMs === undefined ? { next: 'settled' } : { next: 'later', afterMs: this.#untilPassAt(nextEndMs) };
  }

  /** Time until the first pass at `atMs` (epoch ms) or later. */
  #untilPassAt(atMs: number): number {
    const { clock, checkPeriodMs = CHECK_PERIOD_MS } = this.#options;
    const first = this.#untilNextPass();
    const periods = Math.ceil((atMs - clock.now() - first) / checkPeriodMs);
    return first + Math.max(0, periods) * checkPeriodMs;
  }

  /** True also for a Job that the cache lacks, because it may be new. */
  #isOfUnfinishedJob(pod: Pod): boolean {
    const owner = controllerOf(pod);
    if (owner?.kind !== JOB_KIND.kind || owner.apiVersion !== JOB_KIND.apiVersion) return false;
    const job = this.#jobs?.get(`${pod.metadata?.namespace ?? ''}/${owner.name}`);
    return job?.metadata?.uid !== owner.uid || !isJobFinished(job);
  }

  /** Nodes whose quarantine is over, that are not in the cache and that a live read does not find (LIFE-057). */
  async #goneNodes(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { client, clock, logger } = this.#options;
    const gone = new Set<string>();
    for (const [name, until] of this.#quarantine) {
      if (until > clock.monotonic()) continue;
      this.#quarantine.delete(name);
      if (this.#nodes.get(name) !== undefined) continue;
      try {
        await client.get({ gvr: NODES, name }, { signal });
      } catch (error) {
        if (isObjectNotFound(error, name)) gone.add(name);
        else logger.warn('failed to read a node, its pods stay', { node: name, error: asError(error).message });
      }
    }
    return gone;
  }

  #quarantineNodes(missing: readonly string[], gone: ReadonlySet<string>): void {
    const until = this.#options.clock.monotonic() + (this.#options.quarantineMs ?? QUARANTINE_MS);
    const named = new Set(missing);
    for (const name of this.#quarantine.keys()) if (!named.has(name)) this.#quarantine.delete(name);
    for (const name of missing) if (!gone.has(name) && !this.#quarantine.has(name)) this.#quarantine.set(name, until);
  }

  /** A failure delays only this pod, until the next pass. */
  async #delete(deletion: PodDeletion, signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#options;
    const { pod, reason } = deletion;
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const labels = { namespace, reason };
    this.#attempts.inc(labels);
    const deleted = { controller: 'pod-garbage-collector-controller', resource: 'pods', reason };
    try {
      const body = statusPatchOf(deletion, formatTime(clock.now()));
      if (body !== undefined) {
        const patch = { type: 'application/strategic-merge-patch+json', body } as const;
        await client.patch({ gvr: PODS, namespace, name, subresource: 'status' }, patch, { signal });
      }
      const result = await deleteExactly(client, {
        gvr: PODS,
        object: pod,
        // The version counts only for a pod that terminated by itself: the patch above gives the others a new version.
        content: body === undefined && isOfTerminated(deletion) ? 'matters' : 'irrelevant',
        gracePeriodSeconds: 0,
        reason,
        signal,
      });
      this.#deletions.inc({ ...deleted, result });
      logger.debug('deleted a pod', { namespace, name, reason, result });
    } catch (error) {
      if (signal.aborted || isObjectNotFound(error, name) || isConflict(error)) return;
      this.#errors.inc(labels);
      this.#deletions.inc({ ...deleted, result: 'failed' });
      logger.warn('failed to delete a pod, will retry', {
        namespace,
        name,
        reason,
        error: asError(error).message,
      });
    }
  }
}
