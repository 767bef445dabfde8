import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { HttpResponse } from '../../../base/http-message.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import { admitTransient } from '../../registry/admission-attributes.ts';
import { TransientObject } from '../../registry/object/served-object.ts';
import { decodeObject } from '../request/decode-object.ts';
import { writeObject } from '../response/object-writer.ts';
import { type ResourceScope, writeContext } from '../request/resource-scope.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** Answers a review, which a client creates; nothing is stored (API-373, API-374). */
export type Reviewer = (
  info: ResourceInfo,
  body: KubeObject,
  asked: { readonly user: UserInfo; readonly namespace: string },
) => KubeObject | Promise<KubeObject>;

export function reviewEndpoint(reviewer: Reviewer): (scope: ResourceScope) => Promise<HttpResponse> {
  return async (scope) => {
    const { context, info, namespace, resource } = scope;
    const options = parseWriteOptions(context.query, 'CreateOptions');
    const body = await decodeObject(context, resource.schema, options.fieldValidation, resource.environment.clock);
    await admitTransient(resource, {
      operation: 'CREATE',
      subresource: '',
      namespace,
      name: body.metadata?.name ?? '',
      object: body,
      context: writeContext(scope, options.dryRun),
    });
    const reviewed = await reviewer(info, body, { user: context.user, namespace });
    return writeObject(scope, 201, new TransientObject(reviewed));
  };
}
