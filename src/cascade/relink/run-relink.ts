import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { StatusError } from '../../api/status-error.ts';
import type { AbortNotice } from '../../base/time/abort-notice.ts';
import { Semaphore } from '../../base/time/semaphore.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import type { RelinkPlan } from '../documents/relink-plan.ts';

/** The result of one repair. */
export interface RelinkOutcome {
  /** The object of the plan. */
  readonly ref: ObjectReference;
  /** Absent if the object was patched. */
  readonly error?: string;
}

const PARALLEL = 16;

/**
 * Patches the objects of the plan, each at the resourceVersion of the plan (CAS-067). An object that changed since is not patched; its
 * outcome says so, and a new plan is needed.
 */
export async function runRelink(client: RestClient, plan: RelinkPlan, signal?: AbortNotice): Promise<RelinkOutcome[]> {
  const parallel = new Semaphore({ permits: PARALLEL });
  return Promise.all(
    plan.objects.map(({ ref, after }) =>
      parallel.use(async () => {
        const { apiVersion, resource, namespace, name, uid, resourceVersion } = ref;
        const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
        const body = { metadata: { uid, resourceVersion, ownerReferences: after } };
        const at = { gvr: { group, version, resource }, name, ...(namespace === undefined ? {} : { namespace }) };
        try {
          await client.patch(at, { type: 'application/merge-patch+json', body }, { signal });
          return { ref };
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          return { ref, error: error.message };
        }
      }),
    ),
  );
}
