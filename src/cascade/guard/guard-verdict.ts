import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type BodyNeed, bodyNeedKey, KIND_OF_NEED } from '../simulate/body-need.ts';
import { type ServedKind, snapshotOfObjects } from '../snapshot/snapshot-of-objects.ts';
import type { GuardBudget } from './budget.ts';
import type { GuardRequest } from './guard-request.ts';
import { DEFAULT_EXEMPT_GROUPS, DEFAULT_EXEMPT_USERS, type GuardFacts, type GuardReason, judge } from './judge.ts';

/** The rules of a guard. Protections are annotations of the objects. */
export interface GuardPolicy {
  /** Limits of what users delete; default: none. The first that names the user applies. */
  readonly budgets?: readonly GuardBudget[];
  /** Users whom the guard never refuses; default: the API server and the controllers of Kubernetes. */
  readonly exemptUsers?: readonly string[];
  /** Groups whom the guard never refuses; default: nodes, and the service accounts of `kube-system`. */
  readonly exemptGroups?: readonly string[];
  /** True for a cluster in which a finished pod keeps no claim (`--pvc-protection-ignore-finished-pods`). Default: it does. */
  readonly ignoreFinishedPods?: boolean;
}

/** Numbers of objects. */
export interface DeletedCounts {
  /** All objects. */
  readonly total: number;
  /** Objects by resource: `pods`, `deployments.apps`. */
  readonly byResource: Readonly<Record<string, number>>;
}

/** The cluster and the user, as a guard knows them when a request comes. */
export interface GuardSituation {
  /**
   * Every object that counts. Metadata suffice, but for pods, claims, volumes and namespaces, whose `spec` and `status` decide what goes
   * with them.
   */
  readonly objects: readonly KubeObject[];
  /** Kinds of the objects that are not built in. */
  readonly kinds?: readonly ServedKind[];
  /** Whether the user has the verb `unprotect` on the object of the request; default: no. */
  readonly mayUnprotect?: boolean;
  /** Objects that the user deleted within the last hour; default: none. */
  readonly spent?: DeletedCounts;
  /** Milliseconds since the epoch, for the age of an approved plan. */
  readonly now: number;
}

/** The answer of a guard to a request. */
export interface GuardAnswer {
  /** False: the request must be refused. */
  readonly allowed: boolean;
  /** Why it answers so. */
  readonly reason: GuardReason;
  /** Three parts: the refusal; DETAIL: the objects; HINT: the next step. Empty when it is allowed. */
  readonly message: string;
  /** Objects that are deleted, for the hour of the user; none if no budget applies. */
  readonly deletes: DeletedCounts;
}

/**
 * The answer of a guard with this policy to a write, in a cluster that has exactly these objects (CAS-070 … CAS-072): the decision of
 * `kubegc guard` and `kubegc up --guard`. Pure: the same input gives the same answer, and nothing is read. Throws an Error for an object
 * without a uid, or of a kind that is not known.
 */
export function guardVerdict(request: GuardRequest, policy: GuardPolicy, situation: GuardSituation): GuardAnswer {
  const { objects, kinds = [], mayUnprotect = false, spent = { total: 0, byResource: {} }, now } = situation;
  const { budgets = [], exemptUsers = DEFAULT_EXEMPT_USERS, exemptGroups = DEFAULT_EXEMPT_GROUPS } = policy;
  const ignoreFinishedPods = policy.ignoreFinishedPods === true;
  const snapshot = snapshotOfObjects(objects, { kinds, now });
  const facts: GuardFacts = {
    rules: { budgets, exemptUsers, exemptGroups, ignoreFinishedPods },
    mayUnprotect,
    snapshot,
    spent: { total: spent.total, byResource: new Map(Object.entries(spent.byResource)) },
    now,
  };
  for (;;) {
    const step = judge(request, facts);
    if ('verdict' in step) {
      const { verdict, reason, message, deletes } = step;
      const byResource = Object.fromEntries(deletes.byResource);
      return { allowed: verdict === 'allow', reason, message, deletes: { total: deletes.total, byResource } };
    }
    if (step.need !== 'bodies') throw new Error(`the guard asked for the ${step.need} that it has`);
    // Each list is asked for once, and there are finitely many.
    for (const need of step.bodies) snapshot.addBodies(bodyNeedKey(need), bodiesFor(need, objects));
  }
}

/** The objects that the list of a need would have. */
function bodiesFor({ resource, namespace, node }: BodyNeed, objects: readonly KubeObject[]): KubeObject[] {
  return objects.filter(
    ({ apiVersion, kind, metadata, ...rest }) =>
      apiVersion === 'v1' &&
      kind === KIND_OF_NEED[resource] &&
      (namespace === undefined || metadata?.namespace === namespace) &&
      (node === undefined || (rest['spec'] as { readonly nodeName?: string } | undefined)?.nodeName === node),
  );
}
