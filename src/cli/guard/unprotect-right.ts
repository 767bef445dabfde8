import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import type { GuardRequest } from '../../cascade/guard/guard-request.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

const gvr = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' };

interface AccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/** Checks with the API server whether the user of a request has the verb `unprotect` on its object. */
export async function mayUnprotect(client: RestClient, request: GuardRequest, signal?: AbortSignal): Promise<boolean> {
  const { user, group, version, resource, name, oldObject } = request;
  const review = await client.create<AccessReview>(
    { gvr },
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: user.username,
        groups: user.groups,
        resourceAttributes: {
          verb: 'unprotect',
          group,
          version,
          resource,
          name: name || oldObject?.metadata?.name || '',
          ...(isNamespaces(request) ? {} : { namespace: request.namespace }),
        },
      },
    },
    signal === undefined ? {} : { signal },
  );
  return review.status?.allowed === true;
}
