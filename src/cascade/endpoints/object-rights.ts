import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

const REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' };

/** A verb on objects of a kind. `*` stands for all groups or resources. */
export interface ObjectRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Absent for cluster-scoped objects, and for all namespaces. */
  readonly namespace?: string | undefined;
}

/** Whether the user of the client has a right, as the API server decides it. A user who may not ask has none. */
export async function hasRight(client: RestClient, right: ObjectRight): Promise<boolean> {
  const { verb, group, resource, namespace } = right;
  const resourceAttributes = { verb, group, resource, ...(namespace === undefined ? {} : { namespace }) };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  try {
    const review = await client.create({ gvr: REVIEWS }, body);
    return (review['status'] as { readonly allowed?: boolean } | undefined)?.allowed === true;
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return false;
    throw error;
  }
}

/**
 * The first right of these that the user does not have; each kind and namespace is asked once.
 * @param known the answers to earlier calls with the same map
 */
export async function missingRight(
  client: RestClient,
  rights: Iterable<ObjectRight>,
  known = new Map<string, boolean>(),
): Promise<ObjectRight | undefined> {
  for (const right of rights) {
    const key = `${right.verb} ${right.group}/${right.resource} ${right.namespace ?? ''}`;
    const isAllowed = known.get(key) ?? (await hasRight(client, right));
    known.set(key, isAllowed);
    if (!isAllowed) return right;
  }
  return undefined;
}
