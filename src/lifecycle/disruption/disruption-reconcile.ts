import { type Condition, withCondition } from '../../api/meta/conditions.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodReady, type Pod } from '../pods/pod-object.ts';

/** Maximum time until the deletion of an evicted pod is seen. Afterwards the pod counts again. In ms. */
const DELETION_TIMEOUT_MS = 2 * 60_000;

interface BudgetCondition extends Condition {
  readonly observedGeneration?: number;
}

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly BudgetCondition[];
}

/** The fields of a PodDisruptionBudget that the controller reads. */
export interface DisruptionBudget extends KubeObject {
  spec?: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelectorObject;
  };
  status?: BudgetStatus;
}

/** The number of pods that the controllers of these pods request, or the reason why it is unknown. */
export type Scale = { readonly expected: number } | { readonly failure: string };

interface BudgetFacts {
  readonly budget: DisruptionBudget;
  /** Selected pods. */
  readonly pods: readonly Pod[];
  readonly scale: () => Scale;
  /** Epoch ms. */
  readonly now: number;
}

interface BudgetDecision {
  /** Undefined if the current status is right. */
  readonly status: BudgetStatus | undefined;
  /** Evicted pods that still exist. */
  readonly notDeleted: readonly Pod[];
  readonly failure: string | undefined;
  /** Ms until an evicted pod counts again. */
  readonly recheckMs: number | undefined;
}

/** The status of a budget: how many of its pods may be disrupted now (`pkg/controller/disruption`). A failure allows none. Pure. */
export function decideBudget({ budget, pods, scale, now }: BudgetFacts): BudgetDecision {
  const before = budget.status ?? {};
  const wanted = desiredHealthy(budget, pods, scale);
  const { disruptedPods, notDeleted, recheckMs } = disrupted(before, pods, now);
  if ('failure' in wanted) {
    const conditions = withAllowed(before, { status: 'False', reason: 'SyncFailed', message: wanted.failure }, now);
    const status = { ...before, disruptionsAllowed: 0, conditions };
    return { status: same(before, status) ? undefined : status, notDeleted, failure: wanted.failure, recheckMs };
  }
  const currentHealthy = pods.filter(
    (pod) => isPodReady(pod) && !isTerminating(pod) && disruptedPods[pod.metadata?.name ?? ''] === undefined,
  ).length;
  const disruptionsAllowed = wanted.expected <= 0 ? 0 : Math.max(0, currentHealthy - wanted.desired);
  const observedGeneration = budget.metadata?.generation ?? 0;
  const words =
    disruptionsAllowed > 0
      ? ({ status: 'True', reason: 'SufficientPods', message: '' } as const)
      : ({ status: 'False', reason: 'InsufficientPods', message: '' } as const);
  const status: BudgetStatus = {
    observedGeneration,
    ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy: wanted.desired,
    expectedPods: wanted.expected,
    conditions: withAllowed({ ...before, observedGeneration }, words, now),
  };
  return { status: same(before, status) ? undefined : status, notDeleted, failure: undefined, recheckMs };
}

function desiredHealthy(
  { spec = {} }: DisruptionBudget,
  pods: readonly Pod[],
  scale: () => Scale,
): { readonly expected: number; readonly desired: number } | { readonly failure: string } {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desired: minAvailable };
  }
  if (maxUnavailable === undefined && minAvailable === undefined) return { expected: 0, desired: 0 };
  const asked = scale();
  if ('failure' in asked) return asked;
  const { expected } = asked;
  const desired =
    maxUnavailable === undefined
      ? scaled(minAvailable!, expected)
      : Math.max(0, expected - scaled(maxUnavailable, expected));
  return { expected, desired };
}

function scaled(value: number | string, of: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number(value.replace(/%$/, '')) * of) / 100);
}

/** Pods with a granted eviction whose deletion was not seen yet. */
function disrupted(
  { disruptedPods: known = {} }: BudgetStatus,
  pods: readonly Pod[],
  now: number,
): { disruptedPods: Record<string, string>; notDeleted: Pod[]; recheckMs: number | undefined } {
  const disruptedPods: Record<string, string> = {};
  const notDeleted: Pod[] = [];
  let recheckMs: number | undefined;
  for (const pod of pods) {
    const name = pod.metadata?.name ?? '';
    const at = known[name];
    if (at === undefined || isTerminating(pod)) continue;
    const rest = (parseTime(at) ?? now) + DELETION_TIMEOUT_MS - now;
    if (rest < 0) notDeleted.push(pod);
    else {
      disruptedPods[name] = at;
      recheckMs = Math.min(recheckMs ?? rest + 1, rest + 1);
    }
  }
  return { disruptedPods, notDeleted, recheckMs };
}

function withAllowed(
  { conditions = [], observedGeneration }: BudgetStatus,
  words: Pick<Condition, 'status' | 'reason' | 'message'>,
  now: number,
): readonly BudgetCondition[] {
  const condition: BudgetCondition = {
    type: 'DisruptionAllowed',
    ...words,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return withCondition(conditions, condition, now);
}

function same(a: BudgetStatus, b: BudgetStatus): boolean {
  const known = (status: BudgetStatus): unknown[] => [
    status.observedGeneration ?? 0,
    status.disruptedPods ?? {},
    status.disruptionsAllowed ?? 0,
    status.currentHealthy ?? 0,
    status.desiredHealthy ?? 0,
    status.expectedPods ?? 0,
    status.conditions ?? [],
  ];
  return deepEqual(known(a), known(b));
}
