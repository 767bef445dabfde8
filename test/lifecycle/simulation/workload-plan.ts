import { FAULTS, type FaultName, type LatencyPlan, type StreamStep } from '../../collector/simulation/plan.ts';

/**
 * One history of the controllers of workloads as data. Everything else follows from `seed`, so that running a plan twice gives the same
 * trace.
 */
export interface WorkloadPlan {
  readonly seed: number;
  /** Latency of each request of the controllers, fake milliseconds. */
  readonly latency: LatencyPlan;
  readonly nodes: number;
  readonly steps: readonly WorkloadStep[];
}

/** A history in which something went wrong once, shrunk: a file of `test/lifecycle/histories`. */
export interface KeptWorkloadHistory {
  /** The violated rules, and how. */
  readonly title: string;
  readonly plan: WorkloadPlan;
}

export const WORKLOADS = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;
export type WorkloadKind = (typeof WORKLOADS)[number];

/** Workloads of name `a` are in the namespace `default`, those of name `b` in `team`. */
export type WorkloadName = 'a' | 'b';

/** The fate of the pods: ready at once, ready after seconds, never ready, fail after seconds, run for ever though a Job made them. */
export const FATES = ['fine', 'slow', 'never', 'fails', 'runs'] as const;
export type Fate = (typeof FATES)[number];

export const POLICIES = ['Background', 'Foreground', 'Orphan', 'none'] as const;
export type WorkloadPolicy = (typeof POLICIES)[number];

/** Fields that a user may set beside the number of pods. */
export interface WorkloadVariant {
  /** For a Deployment. */
  readonly strategy?: 'Recreate' | { readonly maxSurge: number | string; readonly maxUnavailable: number | string };
  /** For a StatefulSet. */
  readonly management?: 'Parallel';
  readonly claims?: 'Retain' | 'Delete';
  /** For a Job. */
  readonly indexed?: true;
  readonly ttl?: number;
  /** Seconds that its pods may take to stop. */
  readonly grace?: number;
}

export interface WorkloadRef {
  readonly kind: WorkloadKind;
  readonly name: WorkloadName;
}

/** A step of a user. `which` counts the objects of a kind by their keys, and starts again at the last one. */
export type UserStep =
  | (WorkloadRef & { readonly do: 'create'; readonly replicas: number; readonly fate: Fate } & WorkloadVariant)
  | (WorkloadRef & { readonly do: 'scale'; readonly replicas: number })
  /** The template changes. */
  | (WorkloadRef & { readonly do: 'roll'; readonly image: string; readonly fate: Fate })
  | (WorkloadRef & { readonly do: 'delete'; readonly policy: WorkloadPolicy })
  /** The rollout of a Deployment, or the run of a Job or CronJob. */
  | (WorkloadRef & { readonly do: 'pause' | 'resume' })
  /** The template of the ReplicaSet before comes back. */
  | { readonly do: 'undo'; readonly name: WorkloadName }
  | { readonly do: 'deletePod' | 'failPod' | 'releasePod' | 'readoptPod' | 'stripPod'; readonly which: number }
  /** A pod without an owner that the workload's selector matches. */
  | (WorkloadRef & { readonly do: 'loosePod' })
  | { readonly do: 'deleteReplicaSet'; readonly which: number; readonly policy: WorkloadPolicy }
  | { readonly do: 'releaseReplicaSet' | 'readoptReplicaSet'; readonly which: number }
  | { readonly do: 'deleteClaim'; readonly which: number }
  | { readonly do: 'deleteNode' | 'addNode' | 'cordon' | 'uncordon'; readonly which: number }
  | { readonly do: 'deleteNamespace' };

/** Faults of the network that a controller of kube-controller-manager meets too. */
export const WORKLOAD_FAULTS = FAULTS.filter((fault) =>
  [
    'requestLost',
    'answerLost',
    'silence',
    'answerSwallowed',
    'requestSlow',
    'answerSlow',
    'conflict',
    'tooManyRequests',
    'internalError',
    'unavailable',
    'forbidden',
  ].includes(fault),
);

export const REQUESTS = ['create', 'update', 'patch', 'delete', 'read', 'list', 'write'] as const;
export type WorkloadRequest = (typeof REQUESTS)[number];

export interface WorkloadFaultStep {
  readonly do: 'fault';
  readonly fault: FaultName;
  readonly on: WorkloadRequest;
  /** Plural name; any unless given. */
  readonly resource?: string;
  readonly times: number;
}

export type WorkloadStep =
  | UserStep
  | WorkloadFaultStep
  /** A fault of the watches of the controllers; `kind` is a plural name here. */
  | StreamStep
  /** The process of the controllers is killed, and another one starts so much later. */
  | { readonly do: 'crash'; readonly downMs: number }
  | { readonly do: 'wait'; readonly ms: number };

/** Nothing happens to a request whose outcome its sender does not learn, and no process dies while it waits for one. */
export function everyAnswerArrives({ steps }: WorkloadPlan): boolean {
  const loses: readonly FaultName[] = ['answerLost', 'answerSwallowed'];
  return steps.every((step) => step.do !== 'crash' && !(step.do === 'fault' && loses.includes(step.fault)));
}
