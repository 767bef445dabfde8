import type { Clock } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import { previewCascade } from '../preview/preview.ts';
import { readSnapshot } from '../snapshot/read-snapshot.ts';

/**
 * The plan that the cluster gives now for the existing roots of an earlier one (CAS-051). Undefined when none of them exists.
 * The options are those of the earlier plan.
 */
export async function planAgain(
  { roots, assumeFinalizers }: CascadePlan,
  { client, clock, gracePeriodSeconds, ignoreFinishedPods }: PlanAgainOptions,
): Promise<CascadePlan | undefined> {
  const namespaces = [...new Set(roots.flatMap(({ ref }) => ref.namespace ?? []))];
  const snapshot = await readSnapshot({ client, clock, namespaces });
  const present = roots.filter(({ ref }) => snapshot.graph.find(ref.uid) >= 0);
  if (present.length === 0) return undefined;
  return previewCascade(client, snapshot, {
    roots: present.map(({ ref, policy, policyFrom }) => ({
      uid: ref.uid,
      ...(policyFrom === 'request' ? { policy } : {}),
    })),
    assumeFinalizers,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(ignoreFinishedPods === undefined ? {} : { ignoreFinishedPods }),
  });
}

export interface PlanAgainOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly gracePeriodSeconds?: number | undefined;
  readonly ignoreFinishedPods?: boolean | undefined;
}
