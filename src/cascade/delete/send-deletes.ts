import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { isConflict, isNotFound } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { PlanRoot } from '../documents/cascade-plan.ts';

export interface SendOptions {
  readonly gracePeriodSeconds?: number;
  /** The server checks and changes nothing. */
  readonly dryRun?: boolean;
  /** `uid`: an object that changed since the plan is deleted too. */
  readonly preconditions?: 'uid';
}

/** The outcome of the DELETE of one root. `changed` means that it differs from the object of the plan and was not deleted. */
export interface SentDelete {
  readonly root: PlanRoot;
  readonly answer: 'accepted' | 'gone' | 'changed';
  readonly message?: string;
}

/**
 * Deletes the roots one after the other (CAS-050). Preconditions are their uids, and also their resourceVersions unless only uids count.
 * Stops at the first root that changed since the plan. Rejects with any other error of the server.
 */
export async function sendDeletes(
  client: RestClient,
  roots: readonly PlanRoot[],
  options: SendOptions,
): Promise<SentDelete[]> {
  const { gracePeriodSeconds, dryRun, preconditions } = options;
  const sent: SentDelete[] = [];
  for (const root of roots) {
    const { ref, policy, policyFrom } = root;
    const { group, version } = parseGroupVersion(ref.apiVersion) ?? { group: '', version: '' };
    const { namespace, name, uid, resourceVersion } = ref;
    try {
      await client.delete(
        { gvr: { group, version, resource: ref.resource }, ...(namespace === undefined ? {} : { namespace }), name },
        {
          preconditions: {
            uid,
            ...(resourceVersion === undefined || preconditions === 'uid' ? {} : { resourceVersion }),
          },
          ...(policyFrom === 'request' ? { propagationPolicy: policy } : {}),
          ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
          ...(dryRun === true ? { dryRun: ['All'] } : {}),
        },
      );
      sent.push({ root, answer: 'accepted' });
    } catch (error) {
      if (isNotFound(error)) {
        sent.push({ root, answer: 'gone' });
        continue;
      }
      if (!isConflict(error)) throw error;
      sent.push({ root, answer: 'changed', message: error.message });
      return sent;
    }
  }
  return sent;
}
