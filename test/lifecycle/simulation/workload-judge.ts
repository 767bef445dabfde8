import type { StoreEvent } from '../../../src/apiserver/storage/interface.ts';
import type { HttpRequest } from '../../../src/base/http-message.ts';
import { preconditionsOf } from '../../collector/simulation/request-judge.ts';
import { JobJudge } from './job-judge.ts';
import { RolloutJudge, type RolloutJudgeOptions } from './rollout-judge.ts';
import { isTerminating, show, type Stored, storedObject, StoredWorkloads, uidOf } from './stored-workloads.ts';
import type { WorkloadPolicy } from './workload-plan.ts';

/** Written by the clock, not by what happens to workloads. */
const IGNORED: ReadonlySet<string> = new Set(['Event', 'Lease']);

export type WorkloadJudgeOptions = Omit<RolloutJudgeOptions, 'objects' | 'wrong'>;

/** Sees every change of the store and every deletion that the collector asks for, and says what is wrong with them. */
export class WorkloadJudge {
  readonly objects = new StoredWorkloads();
  readonly wrong: string[] = [];
  readonly rollouts: RolloutJudge;
  /** Changes of objects other than events and leases. */
  changes = 0;
  /** One line for each change since it was last emptied, while somebody reads it. */
  onChange: ((line: string) => void) | undefined;
  readonly #jobs: JobJudge;
  /** Uids of owners whose last deletion leaves their dependents. */
  readonly #orphaned = new Set<string>();

  constructor(options: WorkloadJudgeOptions) {
    const { objects, wrong } = this;
    this.rollouts = new RolloutJudge({ ...options, objects, wrong });
    this.#jobs = new JobJudge(objects, wrong);
  }

  readonly observe = (events: readonly StoreEvent[]): void => {
    for (const event of events) this.#see(event);
  };

  /** A later deletion that names a policy replaces the earlier one, as long as the owner is there. */
  deleted(owner: Stored, policy: WorkloadPolicy): void {
    if (policy === 'none' && isTerminating(owner)) return;
    // The default of a Job (LIFE-270).
    const orphans = policy === 'Orphan' || (policy === 'none' && owner.kind === 'Job');
    if (orphans) this.#orphaned.add(uidOf(owner));
    else this.#orphaned.delete(uidOf(owner));
  }

  /** A request of the collector reaches the server. */
  readonly collectorAsks = (request: HttpRequest): void => {
    const { method, target } = request;
    if (method !== 'DELETE') return;
    const { uid } = preconditionsOf(request);
    const object = uid === undefined ? undefined : this.objects.withUid(uid);
    if (object === undefined) return;
    for (const owner of object.metadata?.ownerReferences ?? []) {
      if (this.#orphaned.has(owner.uid)) {
        this.wrong.push(`LIFE-564 the collector deletes ${show(object)}, whose owner was orphaned: ${target}`);
      }
      const living = this.objects.withUid(owner.uid);
      if (living !== undefined && !isTerminating(living)) {
        this.wrong.push(`COL-002 the collector deletes ${show(object)}, whose owner lives: ${target}`);
      }
    }
  };

  #see({ type, key, current }: StoreEvent): void {
    const before = this.objects.get(key);
    const after = type === 'PUT' && current !== undefined ? storedObject(current.value) : undefined;
    if (after === undefined) this.objects.delete(key);
    else this.objects.set(key, after);
    const kind = (after ?? before)?.kind ?? '';
    if (IGNORED.has(kind)) return;
    this.changes++;
    this.onChange?.(lineOf(before, after));
    // Another object of the same name is a new one.
    const same = before !== undefined && after !== undefined && uidOf(before) === uidOf(after);
    const was = after === undefined || same ? before : undefined;
    this.#jobs.changed(was, after);
    this.rollouts.changed(was, after);
  }
}

function lineOf(before: Stored | undefined, after: Stored | undefined): string {
  if (after === undefined) return `${before === undefined ? 'something' : show(before)} is gone`;
  const { spec, status, metadata } = after;
  const facts = {
    replicas: spec?.replicas,
    status: status?.replicas,
    phase: status?.phase,
    node: spec?.nodeName,
    owner: metadata?.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`).join(' '),
    finalizers: metadata?.finalizers?.join(' '),
    terminating: metadata?.deletionTimestamp,
    app: metadata?.labels?.['app'],
  };
  return `${show(after)} ${before === undefined ? 'is new' : 'changes'} ${JSON.stringify(facts)}`;
}
