import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isObjectNotFound, StatusError } from '../../api/status-error.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import type { Counter, Histogram } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import type { EventType } from '../../client/events/event-correlator.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { type Job, JOBS } from '../job/job.ts';
import { isNamespaceTerminating } from '../kit/active-namespace.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { BY_CONTROLLER, type SharedCache, type SharedContext } from '../kit/shared-informers.ts';
import { controllerOf, isControlledBy } from '../ownership/controller-reference.ts';
import { Expectations } from '../ownership/expectations.ts';
import { writeOwnerStatus } from '../ownership/write-owner-status.ts';
import { eventReference } from '../pods/pod-control.ts';
import { CRON_JOB_KIND, CRON_JOBS, type CronJob, type CronJobStatus } from './cronjob.ts';
import { type CronJobPlan, decideCronJob, withStarted } from './cronjob-reconcile.ts';

export interface CronJobControllerOptions extends SharedContext {
  /** `--concurrent-cron-job-syncs`; default 5. */
  readonly workers?: number;
}

const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };
const BEHIND: SyncOutcome = { next: 'later', afterMs: 1000 };

/**
 * Starts Jobs by schedule and limits their history (`cronjob-controller`). It uses one timer for each CronJob, and no requests in between.
 */
export class CronJobController implements Service {
  readonly #options: CronJobControllerOptions;
  readonly #cronJobs: SharedCache<CronJob>;
  readonly #jobs: SharedCache<Job>;
  readonly #expectations: Expectations;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;
  readonly #skew: Histogram;
  readonly #deletions: Counter;

  constructor(options: CronJobControllerOptions) {
    const { client, clock, random, logger, metrics, informers, workers = WORKERS } = options;
    this.#options = options;
    this.#cronJobs = informers.of<CronJob>(CRON_JOBS);
    this.#jobs = informers.of<Job>(JOBS);
    this.#expectations = new Expectations(clock);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'cronjob-controller' });
    this.#deletions = deletionCounter(metrics);
    this.#skew = metrics.histogram({
      name: 'cronjob_controller_job_creation_skew_duration_seconds',
      help: 'Time between when a cronjob is scheduled to be run, and when the corresponding job is created',
      buckets: Array.from({ length: 10 }, (_, index) => 2 ** index),
    });
    this.#loop = new ReconcileLoop({
      name: 'cronjob',
      clock,
      logger,
      metrics,
      caches: [this.#cronJobs, this.#jobs],
      workers,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (cronJob: CronJob): void => this.#loop.trigger(keyOf(cronJob));
    const jobSeen = (job: Job): void => {
      const controller = controllerOf(job);
      if (controller?.kind !== 'CronJob') return;
      const key = `${job.metadata?.namespace ?? ''}/${controller.name}`;
      if (this.#cronJobs.get(key)?.metadata?.uid === controller.uid) this.#loop.trigger(key);
    };
    const stops = [
      this.#cronJobs.addHandler({ added: look, updated: (_, cronJob) => look(cronJob), deleted: look }),
      this.#jobs.addHandler({
        added: jobSeen,
        updated: (previous, job) => {
          jobSeen(previous);
          jobSeen(job);
        },
        deleted: jobSeen,
      }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { clock } = this.#options;
    const cronJob = this.#cronJobs.get(key);
    if (cronJob === undefined) {
      this.#expectations.forget(key);
      return SETTLED;
    }
    if (!this.#expectations.satisfied(key)) return BEHIND;
    const jobs = this.#jobs.byIndex(BY_CONTROLLER, cronJob.metadata?.uid ?? '').filter((job) => isChild(job, cronJob));
    const missing = await this.#missing(cronJob, jobs, signal);
    const plan = decideCronJob(cronJob, { jobs, missing, now: clock.now() });
    for (const job of plan.forget) await this.#delete(key, cronJob, job, 'history', signal);
    const status = await this.#start(key, cronJob, plan, signal);
    if (!(await this.#writeStatus(key, cronJob, status.status, signal))) return { next: 'back-off' };
    for (const event of plan.events) this.#event(cronJob, event.type, event.reason, event.message);
    if (status.failure !== undefined) throw status.failure;
    return plan.againInMs === undefined ? SETTLED : { next: 'later', afterMs: plan.againInMs };
  }

  /** Active Jobs that are not in the cache and that a live read does not find, or finds under another uid (LIFE-409). */
  async #missing(cronJob: CronJob, jobs: readonly Job[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const known = new Set(jobs.map(({ metadata }) => metadata?.uid));
    const missing = new Set<string>();
    for (const { uid = '', name = '' } of cronJob.status?.active ?? []) {
      if (known.has(uid)) continue;
      const live = await this.#get(cronJob, name, signal);
      if (live?.metadata?.uid !== uid) missing.add(uid);
    }
    return missing;
  }

  async #get({ metadata }: CronJob, name: string, signal: AbortSignal): Promise<Job | undefined> {
    try {
      return await this.#options.client.get<Job>({ gvr: JOBS, namespace: metadata?.namespace, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    }
  }

  /** Replaces and starts Jobs. Resolves with the status, or the reason why no Job was started. */
  async #start(
    key: string,
    cronJob: CronJob,
    { replace, create, status }: CronJobPlan,
    signal: AbortSignal,
  ): Promise<{ readonly status: CronJobStatus; readonly failure?: unknown }> {
    if (create === undefined) return { status };
    const { client, clock } = this.#options;
    let { active = [] } = status;
    for (const reference of replace) {
      const job = await this.#get(cronJob, reference.name ?? '', signal);
      if (job?.metadata?.uid === reference.uid && job !== undefined)
        await this.#delete(key, cronJob, job, 'replaced', signal);
      active = active.filter(({ uid }) => uid !== reference.uid);
    }
    const rest = { ...status, active };
    const { job, scheduledAt } = create;
    const name = job.metadata?.name ?? '';
    try {
      const created = await client.create<Job>({ gvr: JOBS, namespace: job.metadata?.namespace }, job, { signal });
      this.#expectations.wrote(key, this.#jobs, created);
      this.#skew.observe(Math.max(0, clock.now() - scheduledAt) / 1000);
      this.#event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${name}`);
      return { status: withStarted(rest, created, scheduledAt) };
    } catch (error) {
      if (isNamespaceTerminating(error)) return { status: rest };
      if (!isAlreadyExists(error)) {
        if (!signal.aborted) {
          this.#event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${StatusError.from(error).message}`);
        }
        return { status: rest, failure: error };
      }
    }
    // A sync whose status was never written, or another client, created it (LIFE-406).
    const there = await this.#get(cronJob, name, signal);
    if (there === undefined || !isControlledBy(there, cronJob)) return { status: rest };
    return { status: withStarted(rest, there, scheduledAt) };
  }

  /** Deletes a Job with its pods, in the background. If it changed, its own event triggers a new decision. */
  async #delete(key: string, cronJob: CronJob, job: Job, reason: string, signal: AbortSignal): Promise<void> {
    const labels = { controller: 'cronjob-controller', resource: 'jobs', reason };
    const name = job.metadata?.name ?? '';
    try {
      const result = await deleteExactly(this.#options.client, {
        gvr: JOBS,
        object: job,
        content: reason === 'history' ? 'matters' : 'irrelevant',
        propagationPolicy: 'Background',
        reason,
        signal,
      });
      this.#deletions.inc({ ...labels, result });
      if (result !== 'deleted') return;
      this.#expectations.deleted(key, this.#jobs, job);
      this.#event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
    } catch (error) {
      this.#deletions.inc({ ...labels, result: 'failed' });
      if (!signal.aborted) {
        this.#event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${StatusError.from(error).message}`);
      }
      throw error;
    }
  }

  async #writeStatus(key: string, cronJob: CronJob, status: CronJobStatus, signal: AbortSignal): Promise<boolean> {
    if (deepEqual(comparable(cronJob.status ?? {}), comparable(status))) return true;
    const result = await writeOwnerStatus<CronJob>(this.#options.client, {
      gvr: CRON_JOBS,
      key,
      owner: { ...cronJob, status },
      cache: this.#cronJobs,
      expectations: this.#expectations,
      onConflict: 'decide-again',
      signal,
    });
    return result !== 'changed';
  }

  #event(cronJob: KubeObject, type: EventType, reason: string, message: string): void {
    this.#events.event(eventReference(CRON_JOB_KIND, cronJob), { type, reason, message });
  }
}

/** Compares uid and kind, because a Job of an earlier CronJob of this name does not count (LIFE-403). */
function isChild(job: Job, cronJob: CronJob): boolean {
  const controller = controllerOf(job);
  return (
    controller?.kind === 'CronJob' &&
    controller.apiVersion.startsWith('batch/') &&
    controller.uid === cronJob.metadata?.uid
  );
}

function comparable({ active = [], lastScheduleTime, lastSuccessfulTime }: CronJobStatus): object {
  return { active: active.map(({ uid }) => uid), lastScheduleTime, lastSuccessfulTime };
}
