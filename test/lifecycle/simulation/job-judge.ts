import {
  controllerOf,
  hasCondition,
  isFinished,
  isTerminating,
  show,
  type Stored,
  type StoredWorkloads,
  uidOf,
} from './stored-workloads.ts';

export const TRACKING = 'batch.kubernetes.io/job-tracking';

export const isTracked = ({ metadata }: Stored): boolean => metadata?.finalizers?.includes(TRACKING) ?? false;
export const isJobFinished = (job: Stored): boolean => hasCondition(job, 'Complete') || hasCondition(job, 'Failed');

/** Watches that the pods of a Job are counted once, and before they lose their finalizer. */
export class JobJudge {
  readonly #objects: StoredWorkloads;
  readonly #wrong: string[];
  /** By uid of a Job: uids of its pods that succeeded. */
  readonly #succeeded = new Map<string, Set<string>>();
  /** By uid of a Job: uids that were ever waiting to be counted. */
  readonly #counted = new Map<string, Set<string>>();

  constructor(objects: StoredWorkloads, wrong: string[]) {
    this.#objects = objects;
    this.#wrong = wrong;
  }

  changed(before: Stored | undefined, after: Stored | undefined): void {
    if (after?.kind === 'Job') this.#job(after);
    if ((after ?? before)?.kind === 'Pod') this.#pod(before, after);
  }

  #job(job: Stored): void {
    const { uncountedTerminatedPods: { succeeded = [], failed = [] } = {} } = (job.status ?? {}) as {
      uncountedTerminatedPods?: { succeeded?: readonly string[]; failed?: readonly string[] };
    };
    const counted = entry(this.#counted, uidOf(job));
    for (const uid of [...succeeded, ...failed]) counted.add(uid);
    const seen = this.#succeeded.get(uidOf(job))?.size ?? 0;
    const count = job.status?.succeeded ?? 0;
    if (count > seen) this.#wrong.push(`LIFE-352 ${show(job)} counts ${count} succeeded pods and had ${seen}`);
  }

  #pod(before: Stored | undefined, after: Stored | undefined): void {
    const pod = after ?? before;
    const owner = pod === undefined ? undefined : controllerOf(pod);
    if (pod === undefined || owner?.kind !== 'Job') return;
    if (pod.status?.phase === 'Succeeded') entry(this.#succeeded, owner.uid).add(uidOf(pod));
    if (before === undefined || after === undefined || !isTracked(before) || isTracked(after)) return;
    const job = this.#objects.withUid(owner.uid);
    if (job === undefined || isTerminating(job) || isJobFinished(job) || !isFinished(after)) return;
    if (this.#counted.get(owner.uid)?.has(uidOf(after)) === true || hasIndex(job, after)) return;
    this.#wrong.push(`LIFE-352 ${show(after)} lost its finalizer before ${show(job)} counted it`);
  }
}

/** Pods of an indexed Job that succeed are counted by their index: `0-2,4`. */
function hasIndex({ status }: Stored, { metadata }: Stored): boolean {
  const index = Number(metadata?.annotations?.['batch.kubernetes.io/job-completion-index'] ?? Number.NaN);
  const { completedIndexes = '' } = (status ?? {}) as { completedIndexes?: string };
  return completedIndexes.split(',').some((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return range !== '' && first <= index && index <= last;
  });
}

function entry(map: Map<string, Set<string>>, key: string): Set<string> {
  let set = map.get(key);
  if (set === undefined) map.set(key, (set = new Set()));
  return set;
}
