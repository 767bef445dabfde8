import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { StatusError } from '../../../src/api/status-error.ts';
import type { RestClient } from '../../../src/client/rest/rest-client.ts';
import type { ResourceRef } from '../../../src/client/rest/resource-path.ts';
import { simulatedNode } from '../../../src/lifecycle/simulator/simulated-node.ts';
import { merge, strategic } from '../workloads.ts';
import { isActive, type Stored, type StoredWorkloads } from './stored-workloads.ts';
import { GVRS, type ServedKind } from './workload-kinds.ts';
import { appOf, namespaceOf, templateOf, workloadOf } from './workload-objects.ts';
import type { UserStep, WorkloadPolicy, WorkloadRef } from './workload-plan.ts';

export interface WorkloadUsersOptions {
  readonly client: RestClient;
  readonly objects: StoredWorkloads;
  readonly now: () => number;
  /** An owner is deleted with this policy by a request that begins now. */
  readonly onDelete: (owner: Stored, policy: WorkloadPolicy) => void;
}

/** Carries out the steps of users, each a request or two that nothing disturbs. */
export class WorkloadUsers {
  readonly #options: WorkloadUsersOptions;
  #loosePods = 0;

  constructor(options: WorkloadUsersOptions) {
    this.#options = options;
  }

  /** `done`, `nothing` when there is nothing to do it with, or the reason of the server's refusal. */
  async do(step: UserStep): Promise<string> {
    try {
      return (await this.#do(step)) ? 'done' : 'nothing';
    } catch (error) {
      if (error instanceof StatusError) return error.reason;
      throw error;
    }
  }

  #do(step: UserStep): Promise<boolean> {
    switch (step.do) {
      case 'create':
        return this.#create(GVRS[step.kind], namespaceOf(step), workloadOf(step));
      case 'scale':
        return this.#scale(step, step.replicas);
      case 'roll':
        return this.#roll(step);
      case 'delete':
        return this.#delete(this.#find(step), step.policy);
      case 'pause':
      case 'resume':
        return this.#pause(step, step.do === 'pause');
      case 'undo':
        return this.#undo(step.name);
      case 'deletePod':
        return this.#delete(this.#nth('Pod', step.which), 'none');
      case 'failPod':
        return this.#failPod(this.#nth('Pod', step.which, isActive));
      case 'releasePod':
      case 'readoptPod':
        return this.#loosen('Pod', step.which, step.do === 'releasePod');
      case 'releaseReplicaSet':
      case 'readoptReplicaSet':
        return this.#loosen('ReplicaSet', step.which, step.do === 'releaseReplicaSet');
      case 'stripPod':
        return this.#patch(this.#nth('Pod', step.which), { metadata: { ownerReferences: null } });
      case 'loosePod':
        return this.#loosePod(step);
      case 'deleteReplicaSet':
        return this.#delete(this.#nth('ReplicaSet', step.which), step.policy);
      case 'deleteClaim':
        return this.#delete(this.#nth('PersistentVolumeClaim', step.which), 'none');
      case 'deleteNode':
        return this.#delete(this.#nth('Node', step.which), 'none');
      case 'addNode':
        return this.#create(GVRS.Node, undefined, simulatedNode(`kubegc-${step.which % 3}`, this.#options.now()));
      case 'cordon':
      case 'uncordon':
        return this.#patch(this.#nth('Node', step.which), { spec: { unschedulable: step.do === 'cordon' } });
      case 'deleteNamespace':
        return this.#delete(
          this.#nth('Namespace', 0, ({ metadata }) => metadata?.name === 'team'),
          'none',
        );
    }
  }

  #find({ kind, name }: WorkloadRef): Stored | undefined {
    const namespace = namespaceOf({ name });
    return this.#options.objects
      .of(kind)
      .find(({ metadata }) => metadata?.name === name && metadata.namespace === namespace);
  }

  #nth(kind: ServedKind, which: number, isMeant: (object: Stored) => boolean = () => true): Stored | undefined {
    const all = this.#options.objects.of(kind).filter(isMeant);
    return all[which % Math.max(1, all.length)];
  }

  async #create(gvr: ResourceRef['gvr'], namespace: string | undefined, object: KubeObject): Promise<boolean> {
    await this.#options.client.create(namespace === undefined ? { gvr } : { gvr, namespace }, object);
    return true;
  }

  async #delete(object: Stored | undefined, policy: WorkloadPolicy): Promise<boolean> {
    if (object === undefined) return false;
    this.#options.onDelete(object, policy);
    await this.#options.client.delete(refOf(object), policy === 'none' ? {} : { propagationPolicy: policy });
    return true;
  }

  async #patch(object: Stored | undefined, body: object): Promise<boolean> {
    if (object === undefined) return false;
    await this.#options.client.patch(refOf(object), { type: merge, body });
    return true;
  }

  /** Reads, changes and writes the version that was read. */
  async #change(object: Stored | undefined, change: (spec: Record<string, unknown>) => void): Promise<boolean> {
    if (object === undefined) return false;
    const { client } = this.#options;
    const live = await client.get<KubeObject & { spec: Record<string, unknown> }>(refOf(object));
    change(live.spec);
    await client.update(refOf(object), live);
    return true;
  }

  #scale(ref: WorkloadRef, replicas: number): Promise<boolean> {
    if (ref.kind === 'DaemonSet' || ref.kind === 'CronJob') return Promise.resolve(false);
    return this.#patch(this.#find(ref), { spec: { [ref.kind === 'Job' ? 'parallelism' : 'replicas']: replicas } });
  }

  #roll(step: UserStep & { readonly do: 'roll' }): Promise<boolean> {
    const template = templateOf(step, step);
    return this.#change(this.#find(step), (spec) => {
      if (step.kind === 'CronJob') (spec['jobTemplate'] as { spec: { template: object } }).spec.template = template;
      else spec['template'] = template;
    });
  }

  #pause(ref: WorkloadRef, on: boolean): Promise<boolean> {
    if (ref.kind === 'Deployment') return this.#patch(this.#find(ref), { spec: { paused: on } });
    if (ref.kind !== 'Job' && ref.kind !== 'CronJob') return Promise.resolve(false);
    return this.#patch(this.#find(ref), { spec: { suspend: on } });
  }

  /** As `kubectl rollout undo` does. */
  async #undo(name: WorkloadRef['name']): Promise<boolean> {
    const deployment = this.#find({ kind: 'Deployment', name });
    if (deployment === undefined) return false;
    const revision = ({ metadata }: Stored): number =>
      Number(metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
    const sets = this.#options.objects
      .controlledBy(deployment, 'ReplicaSet')
      .toSorted((a, b) => revision(b) - revision(a));
    const template = structuredClone(sets[1]?.spec?.template) as
      | { metadata?: { labels?: Record<string, string> } }
      | undefined;
    if (template === undefined) return false;
    delete template.metadata?.labels?.['pod-template-hash'];
    return this.#change(deployment, (spec) => {
      spec['template'] = template;
    });
  }

  async #failPod(pod: Stored | undefined): Promise<boolean> {
    if (pod === undefined) return false;
    const body = { status: { phase: 'Failed', reason: 'Evicted' } };
    await this.#options.client.patch({ ...refOf(pod), subresource: 'status' }, { type: strategic, body });
    return true;
  }

  /** The label `app` gets another value, or the one that it had. */
  #loosen(kind: 'Pod' | 'ReplicaSet', which: number, away: boolean): Promise<boolean> {
    const isLoose = ({ metadata }: Stored): boolean => metadata?.labels?.['app']?.startsWith('loose-') === true;
    const object = this.#nth(
      kind,
      which,
      (each) => isLoose(each) !== away && each.metadata?.labels?.['app'] !== undefined,
    );
    const app = object?.metadata?.labels?.['app'] ?? '';
    return this.#patch(object, { metadata: { labels: { app: away ? `loose-${app}` : app.replace(/^loose-/, '') } } });
  }

  /** Also with the labels that a controller adds, if a pod of the workload has any. */
  #loosePod(ref: WorkloadRef): Promise<boolean> {
    const like = this.#nth('Pod', 0, ({ metadata }) => metadata?.labels?.['app'] === appOf(ref));
    const name = `loose-${this.#loosePods++}`;
    const { metadata, spec } = templateOf(ref, { image: 'loose', fate: 'fine' });
    const hash = like === undefined ? undefined : like.metadata?.labels?.['pod-template-hash'];
    const labels = { ...metadata.labels, ...(hash === undefined ? {} : { 'pod-template-hash': hash }) };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec };
    return this.#create(GVRS.Pod, namespaceOf(ref), pod);
  }
}

export function refOf(object: Stored): ResourceRef & { readonly name: string } {
  const { namespace, name = '' } = object.metadata ?? {};
  const gvr = GVRS[object.kind as ServedKind];
  return namespace === undefined ? { gvr, name } : { gvr, namespace, name };
}
