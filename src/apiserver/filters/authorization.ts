import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { isPublicPath } from '../authorization/authorizer.ts';
import { forbidden } from '../authorization/forbidden.ts';
import type { RequestContext } from '../endpoints/request-context.ts';

/** Throws the 403 of a request its user may not make. */
export function authorize(context: RequestContext, authorizer: Authorizer): void {
  if (isPublicPath(context.path)) return;
  const attributes = attributesOf(context);
  const { allowed, reason } = authorizer.authorize(attributes);
  if (!allowed) throw forbidden(attributes, reason);
}

function attributesOf({ info, user }: RequestContext): AuthorizationAttributes {
  if (info.type === 'nonResource') {
    return {
      user,
      verb: info.verb,
      isResource: false,
      path: info.path,
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    };
  }
  return {
    user,
    verb: info.verb,
    isResource: true,
    path: info.path,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.authorizationName,
  };
}
