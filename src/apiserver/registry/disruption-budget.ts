import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { labelSelectorFromObject } from '../../api/selectors/label-selector.ts';
import { newStatusError, newUntypedInternal } from '../../api/status-error.ts';
import { listObjects } from './list-objects.ts';
import type { ResourceStore } from './resource-store.ts';
import { Selection } from './selection.ts';
import type { WriteContext } from './strategy.ts';
import { updateObject } from './update-object.ts';

interface Budget extends KubeObject {
  spec?: { selector?: Parameters<typeof labelSelectorFromObject>[0]; unhealthyPodEvictionPolicy?: string };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    disruptedPods?: Record<string, string>;
  };
}

interface Conditions {
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] };
}

/** If more pods are being evicted, the budget's controller is probably not running. */
const MAX_DISRUPTED_PODS = 2000;

/**
 * Takes one disruption from the budget that covers the pod, if there is one (API-318). Throws a 429 if none is left, and a 500 if several
 * budgets cover the pod. `pods` is the resource of the pod.
 */
export async function spendDisruption(pods: ResourceStore, pod: KubeObject, context: WriteContext): Promise<void> {
  const budgets = pods.siblings.find('policy', 'v1', 'poddisruptionbudgets');
  if (budgets === undefined) return;
  const covering = await budgetsOf(budgets, pod);
  const [budget, second] = covering;
  if (second !== undefined) {
    throw newUntypedInternal(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  if (budget === undefined || unhealthyMayGo(budget, pod)) return;
  const now = formatTime(pods.environment.clock.now());
  await updateObject(budgets, {
    namespace: pod.metadata?.namespace ?? '',
    name: budget.metadata?.name ?? '',
    subresource: 'status',
    part: 'status',
    method: 'patch',
    next: (current) => spent(current ?? {}, pod.metadata?.name ?? '', now),
    context,
  });
}

async function budgetsOf(budgets: ResourceStore, pod: KubeObject): Promise<Budget[]> {
  const namespace = pod.metadata?.namespace ?? '';
  const selection = new Selection(budgets, namespace, { labelSelector: '', fieldSelector: '' });
  const page = await listObjects(budgets, { selection, limit: 0, continueToken: '', revision: 0, match: '' });
  const covering: Budget[] = [];
  for (const item of page.items) {
    const budget: Budget = item.object();
    const { selector } = budget.spec ?? {};
    if (selector !== undefined && labelSelectorFromObject(selector).matches(pod.metadata?.labels))
      covering.push(budget);
  }
  return covering;
}

/** A pod that is not ready protects nothing, so it may be evicted if its budget allows that, or if enough others are healthy. */
function unhealthyMayGo(budget: Budget, pod: KubeObject): boolean {
  const ready = (pod as Conditions).status?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );
  if (ready === true) return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function spent(budget: Budget, podName: string, now: string): KubeObject {
  const status = budget.status ?? {};
  const name = budget.metadata?.name ?? '';
  if ((status.observedGeneration ?? 0) < (budget.metadata?.generation ?? 0)) {
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed <= 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    throw refuse(
      `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
      0,
    );
  }
  const disrupted = status.disruptedPods ?? {};
  if (Object.keys(disrupted).length > MAX_DISRUPTED_PODS) {
    throw refuse('DisruptedPods map too big - too many evictions not confirmed by PDB controller', 0);
  }
  return {
    ...budget,
    metadata: { ...budget.metadata },
    status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [podName]: now } },
  };
}

function refuse(message: string, retryAfterSeconds: number): Error {
  return newStatusError(429, "Cannot evict pod as it would violate the pod's disruption budget.", {
    reason: 'TooManyRequests',
    details: { causes: [{ reason: 'DisruptionBudget', message }], retryAfterSeconds },
  });
}
