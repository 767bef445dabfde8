import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadePlan } from '../documents/cascade-plan.ts';
import type { RecordContext } from '../documents/cascade-record.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { captureBodies } from './capture-bodies.ts';
import { clusterUid } from './cluster-uid.ts';
import type { RecordWriter } from './record-store.ts';

/** The objects whose bodies a record of the plan keeps: all that it may remove. */
export function recordedBy(plan: CascadePlan): ObjectReference[] {
  return plan.objects.filter(({ outcome }) => outcome !== 'kept' && outcome !== 'orphaned').map(({ ref }) => ref);
}

/**
 * Reads the bodies of everything that the plan removes, and records them. Resolves with the id when the record is durable (CAS-061); nothing may be
 * deleted before.
 */
export async function recordCascade(
  plan: CascadePlan,
  { client, records, context }: RecordCascadeOptions,
): Promise<string> {
  const uid = await clusterUid(client);
  const header = {
    requester: await requesterOf(client),
    context: uid === undefined ? context : { ...context, clusterUid: uid },
    roots: plan.roots.map(({ ref }) => ref),
    policy: plan.policy ?? 'mixed',
    plan,
  };
  return records.write(header, captureBodies(client, recordedBy(plan)));
}

export interface RecordCascadeOptions {
  readonly client: RestClient;
  readonly records: RecordWriter;
  /** The cluster as people name it. */
  readonly context: Omit<RecordContext, 'clusterUid'>;
}

/** The user as the server knows it; unknown if the server does not report it. */
async function requesterOf(client: RestClient): Promise<string> {
  const gvr = { group: 'authentication.k8s.io', version: 'v1', resource: 'selfsubjectreviews' };
  try {
    const review = await client.create({ gvr }, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const { userInfo } = (review['status'] ?? {}) as { readonly userInfo?: { readonly username?: string } };
    return userInfo?.username ?? 'unknown';
  } catch (error) {
    if (error instanceof StatusError) return 'unknown';
    throw error;
  }
}
