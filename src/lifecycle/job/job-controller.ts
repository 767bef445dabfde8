import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import type { Compatibility } from '../kit/compatibility.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_CONTROLLER, BY_NAMESPACE, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { slowStart } from '../kit/slow-start.ts';
import { ControllerRefManager } from '../ownership/controller-ref-manager.ts';
import { controllerOf, isTerminating } from '../ownership/controller-reference.ts';
import { Dependents } from '../ownership/dependents.ts';
import { Expectations } from '../ownership/expectations.ts';
import { ownerSelector, selects } from '../ownership/owner-selector.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { eventReference, PodControl } from '../pods/pod-control.ts';
import { type Pod, PODS } from '../pods/pod-object.ts';
import {
  isJobFinished,
  isManagedByOthers,
  isTracked,
  type Job,
  JOB_KIND,
  JOBS,
  type JobStatus,
  TRACKING_FINALIZER,
} from './job.ts';
import { podOfJob } from './job-pods.ts';
import { decideJob, type JobPlan } from './job-reconcile.ts';
import { type BackOffRecord, NO_FAILURES } from './pod-back-off.ts';
import { isBeyondCounting, isStuckByTracking, removeTracking, STUCK_AFTER_MS } from './tracking-finalizer.ts';

export interface JobControllerOptions extends SharedContext {
  /** `--concurrent-job-syncs`; default 5. */
  readonly workers?: number;
  readonly compat?: Compatibility;
}

const WORKERS = 5;
/** Maximum back-off of a Job. */
const BACK_OFF_CAP_MS = 60_000;
/** Number of finalizers that are removed concurrently. */
const PARALLEL = 16;
const SETTLED: SyncOutcome = { next: 'settled' };
/** Delay before a Job is synced again whose caches are behind its writes; an event usually comes sooner. */
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

/** Runs Jobs: pods, counts, conditions (`job-controller`). It skips a Job while a cache is behind the writes for it. */
export class JobController implements Service {
  readonly #options: JobControllerOptions;
  readonly #jobs: SharedCache<Job>;
  readonly #pods: SharedCache<Pod>;
  readonly #expectations: Expectations;
  readonly #dependents: Dependents;
  readonly #events: EventRecorder;
  readonly #podControl: PodControl;
  readonly #loop: ReconcileLoop;
  /** Pods that no Job will count, and that only need their finalizer removed. */
  readonly #orphans: ReconcileLoop;
  readonly #backOff = new Map<string, BackOffRecord>();
  readonly #finished: Counter;
  readonly #repaired: Counter;

  constructor(options: JobControllerOptions) {
    const { client, clock, random, logger, metrics, informers, workers = WORKERS } = options;
    this.#options = options;
    this.#jobs = informers.of<Job>(JOBS);
    this.#pods = informers.of<Pod>(PODS);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'job-controller' });
    this.#podControl = new PodControl({
      client,
      events: this.#events,
      metrics,
      controller: 'job-controller',
      ownerKind: JOB_KIND,
    });
    this.#finished = metrics.counter({
      name: 'job_controller_jobs_finished_total',
      help: 'The number of finished jobs',
      labelNames: ['completion_mode', 'result', 'reason'],
    });
    this.#repaired = metrics.counter({
      name: 'kubegc_job_tracking_repaired_total',
      help: 'Terminating pods that only the tracking finalizer of Jobs held for five minutes, and that were freed.',
      labelNames: [],
    });
    const common = { clock, logger, metrics, caches: [this.#jobs, this.#pods], backOffCapMs: BACK_OFF_CAP_MS };
    this.#loop = new ReconcileLoop({ ...common, name: 'job', workers, sync: (key, signal) => this.#sync(key, signal) });
    this.#orphans = new ReconcileLoop({
      ...common,
      name: 'job_orphan_pod',
      workers: PARALLEL,
      sync: (key, signal) => this.#syncOrphan(key, signal),
    });
    this.#dependents = new Dependents({
      ownerKind: JOB_KIND,
      owners: this.#jobs,
      dependents: this.#pods,
      selects: (job, pod) => !isManagedByOthers(job) && !isJobFinished(job) && selects(ownerSelector(job), pod),
      expectations: this.#expectations,
      trigger: (key) => this.#loop.trigger(key),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (job: Job): void => this.#loop.trigger(keyOf(job));
    const orphan = (pod: Pod): void => {
      if (isTracked(pod)) this.#orphans.trigger(keyOf(pod));
    };
    const podSeen = (pod: Pod): void => {
      if (controllerOf(pod) === undefined || pod.metadata?.deletionTimestamp) orphan(pod);
    };
    const stops = [
      this.#jobs.addHandler({
        added: (job) => {
          look(job);
          if (isJobFinished(job)) this.#podsOf(job).forEach(orphan);
        },
        updated: (_, job) => {
          look(job);
          if (isJobFinished(job)) this.#podsOf(job).forEach(orphan);
        },
        deleted: (job) => {
          look(job);
          this.#podsOf(job).forEach(orphan);
        },
      }),
      this.#pods.addHandler({
        added: (pod) => {
          // Finalizers that an earlier process left behind, on pods whose Job is gone or finished (LIFE-354).
          if (isBeyondCounting(pod, () => undefined)) orphan(pod);
        },
        updated: (_, pod) => podSeen(pod),
      }),
      this.#dependents.watch(),
    ];
    await Promise.all([this.#loop.run(signal), this.#orphans.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  #podsOf(job: Job): Pod[] {
    const { namespace = '', uid = '' } = job.metadata ?? {};
    const owned = this.#pods.byIndex(BY_CONTROLLER, uid);
    const others = this.#pods.byIndex(BY_NAMESPACE, namespace).filter((pod) => isTracked(pod) && !owned.includes(pod));
    return [...owned, ...others.filter((pod) => selects(ownerSelector(job), pod))];
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#options;
    const job = this.#jobs.get(key);
    if (job === undefined) {
      this.#expectations.forget(key);
      this.#backOff.delete(key);
      return SETTLED;
    }
    if (isManagedByOthers(job) || isJobFinished(job)) {
      this.#backOff.delete(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const selector = ownerSelector(job);
    if (selector === 'invalid') {
      logger.error('the selector is invalid; change it', { kind: 'Job', key });
      return SETTLED;
    }
    const manager = new ControllerRefManager({
      client,
      clock,
      ownerKind: JOB_KIND,
      ownerGvr: JOBS,
      owner: job,
      dependentKind: 'Pod',
      dependents: PODS,
      matches: (pod) => selects(selector, pod),
      finalizer: TRACKING_FINALIZER,
      signal,
    });
    const pods = await manager.claim(this.#dependents.candidates<Pod>(job));
    const plan = decideJob(job, { pods, now: clock.now(), backOff: this.#backOff.get(key) ?? NO_FAILURES });
    const done = await this.#manage(key, job, plan, signal);
    if (done.changed) return { next: 'back-off' };
    const status = plan.statusAfter(done);
    if (!(await this.#writeStatus(key, job, status, signal))) return { next: 'back-off' };
    this.#backOff.set(key, plan.backOff);
    for (const event of plan.events) this.#events.event(eventReference(JOB_KIND, job), event);
    this.#countFinished(job, status);
    await this.#release(key, plan.release, signal);
    if (done.failure !== undefined && !isNamespaceTerminating(done.failure)) throw done.failure;
    return plan.againInMs === undefined ? SETTLED : { next: 'later', afterMs: plan.againInMs };
  }

  async #manage(key: string, job: Job, plan: JobPlan, signal: AbortSignal) {
    const { client } = this.#options;
    let changed = false;
    const remove = async (pod: Pod, reason: string): Promise<boolean> => {
      const deleted = await this.#podControl.delete(job, pod, reason, signal);
      if (deleted) this.#expectations.deleted(key, this.#pods, pod);
      else changed = true;
      return deleted;
    };
    const discard = async (pod: Pod): Promise<boolean> => {
      const free = isTracked(pod) ? await removeTracking(client, pod, signal) : pod;
      if (free === undefined) return false;
      this.#expectations.wrote(key, this.#pods, free);
      return remove(free, 'surplus');
    };
    const ends = await Promise.allSettled([
      ...plan.discard.map(discard),
      ...plan.terminate.map((pod) => remove(pod, 'finished')),
    ]);
    const succeeded = (from: number, to: number): number =>
      ends.slice(from, to).filter((end) => end.status === 'fulfilled' && end.value).length;
    const discarded = succeeded(0, plan.discard.length);
    const terminated = succeeded(plan.discard.length, ends.length);
    const { successes: created, failure } = await slowStart(plan.create.length, async (at) => {
      const { index, failures } = plan.create[at]!;
      const pod = podOfJob(job, index === undefined ? undefined : { value: index, failures });
      this.#expectations.wrote(key, this.#pods, await this.#podControl.create(job, pod, signal));
    });
    const rejected = ends.find((end) => end.status === 'rejected')?.reason as unknown;
    return { created, discarded, terminated, changed, failure: failure ?? rejected };
  }

  /** False if another client has written the Job meanwhile, so that the decision may not apply. */
  async #writeStatus(key: string, job: Job, status: JobStatus, signal: AbortSignal): Promise<boolean> {
    if (deepEqual(comparable(job.status ?? {}), comparable(status))) return true;
    const result = await writeOwnerStatus<Job>(this.#options.client, {
      gvr: JOBS,
      key,
      owner: { ...job, status },
      cache: this.#jobs,
      expectations: this.#expectations,
      onConflict: 'decide-again',
      signal,
    });
    return result !== 'changed';
  }

  async #release(key: string, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < pods.length; from += PARALLEL) {
      await Promise.all(
        pods.slice(from, from + PARALLEL).map(async (pod) => {
          const released = await removeTracking(this.#options.client, pod, signal);
          if (released !== undefined) this.#expectations.wrote(key, this.#pods, released);
        }),
      );
    }
  }

  async #syncOrphan(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger, compat } = this.#options;
    const pod = this.#pods.get(key);
    if (pod === undefined || !isTracked(pod)) return SETTLED;
    const namespace = pod.metadata?.namespace ?? '';
    if (isBeyondCounting(pod, (name) => this.#jobs.get(`${namespace}/${name}`))) {
      const freed = await removeTracking(client, pod, signal);
      if (freed !== undefined && isStuckByTracking(pod, clock.now())) {
        this.#repaired.inc();
        logger.warn('freed a pod that only the tracking finalizer held', { key });
      }
    }
    // Reads the pod again even if no event comes, because nothing else would free it (LIFE-362).
    return isTerminating(pod) && compat !== 'strict' ? { next: 'later', afterMs: STUCK_AFTER_MS } : SETTLED;
  }

  #countFinished(job: Job, status: JobStatus): void {
    const last = status.conditions?.find(
      ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
    );
    if (last === undefined) return;
    this.#finished.inc({
      completion_mode: job.spec?.completionMode ?? 'NonIndexed',
      result: last.type === 'Complete' ? 'succeeded' : 'failed',
      reason: last.type === 'Complete' ? '' : (last.reason ?? ''),
    });
  }
}

/** To a server, an absent field equals one that is 0 or empty. */
function comparable(status: JobStatus): object {
  return Object.fromEntries(
    Object.entries(status).filter(([, value]: [string, unknown]) => {
      if (value === 0 || value === '' || value === undefined || value === null) return false;
      return typeof value !== 'object' || Object.values(value).some((part) => !Array.isArray(part) || part.length > 0);
    }),
  );
}
