import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { isHealthPath } from '../authorization/authorizer.ts';
import { forbidden } from '../authorization/forbidden.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';

/** Throws a 403 for a request that its user may not make, and gives the endpoints a check for another verb on the same object. */
export function authorize(context: RequestContext, authorizer: Authorizer): void {
  context.requireVerb = (verb) => requireAllowed({ ...attributesOf(context), verb }, authorizer);
  if (isHealthPath(context.path, context.info.verb)) return;
  requireAllowed(attributesOf(context), authorizer);
}

function requireAllowed(attributes: AuthorizationAttributes, authorizer: Authorizer): void {
  const { allowed, reason } = authorizer.authorize(attributes);
  if (!allowed) throw forbidden(attributes, reason);
}

/** The requested action, with the user of the request. */
export function attributesOf({ info, user }: RequestContext): AuthorizationAttributes {
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
