import { newBadRequest } from '../../api/status-error.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import { GROUP_UNAUTHENTICATED, withAuthenticatedGroup } from '../authentication/user-info.ts';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { forbidden } from '../authorization/forbidden.ts';
import type { RequestContext } from '../endpoints/request-context.ts';

const EXTRA = 'impersonate-extra-';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const ANONYMOUS = 'system:anonymous';

/** What one must be allowed to impersonate, as if it were an object. */
type Impersonated = Pick<AuthorizationAttributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/**
 * Who the request is to be made as: whoever its headers name, if the user may `impersonate` each part of him (API-376, apiserver
 * `pkg/endpoints/filters/impersonation`). 403 when he may not, 400 for parts without a user: never as somebody else than asked.
 */
export function impersonate(context: RequestContext, authorizer: Authorizer): UserInfo {
  const { headers } = context.request;
  const asked = askedUser(headers);
  if (asked === undefined) return context.user;
  for (const part of partsOf(asked)) {
    const attributes: AuthorizationAttributes = {
      user: context.user,
      verb: 'impersonate',
      isResource: true,
      path: context.path,
      ...part,
    };
    const { allowed, reason } = authorizer.authorize(attributes);
    if (!allowed) throw forbidden(attributes, reason);
  }
  return completed(asked);
}

function askedUser(headers: HttpHeaders): UserInfo | undefined {
  const [username = ''] = valuesOf(headers, 'impersonate-user');
  const [uid = ''] = valuesOf(headers, 'impersonate-uid');
  const groups = valuesOf(headers, 'impersonate-group');
  const extra = extraOf(headers);
  if (username === '') {
    if (uid === '' && groups.length === 0 && extra === undefined) return undefined;
    throw newBadRequest('requested to impersonate groups, a uid or extra fields without impersonating a user');
  }
  return { username, groups, ...(uid === '' ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function valuesOf(headers: HttpHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function extraOf(headers: HttpHeaders): Record<string, readonly string[]> | undefined {
  const entries = Object.keys(headers)
    .filter((name) => name.startsWith(EXTRA))
    .map((name) => [decodeKey(name.slice(EXTRA.length)), valuesOf(headers, name)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Keys are percent-encoded where a header name cannot hold them; what is no encoding stands for itself. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function partsOf({ username, uid, groups, extra = {} }: UserInfo): Impersonated[] {
  const authentication = 'authentication.k8s.io';
  const part = (resource: string, name: string, rest: Partial<Impersonated> = {}): Impersonated => ({
    group: '',
    resource,
    subresource: '',
    namespace: '',
    name,
    ...rest,
  });
  const account = SERVICE_ACCOUNT.exec(username);
  return [
    account === null
      ? part('users', username)
      : part('serviceaccounts', account[2] ?? '', { namespace: account[1] ?? '' }),
    ...groups.map((group) => part('groups', group)),
    ...(uid === undefined ? [] : [part('uids', uid, { group: authentication })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => part('userextras', value, { group: authentication, subresource: key })),
    ),
  ];
}

/** With the groups that every such user has. */
function completed(asked: UserInfo): UserInfo {
  const account = SERVICE_ACCOUNT.exec(asked.username);
  const groups =
    account === null || asked.groups.length > 0
      ? asked.groups
      : ['system:serviceaccounts', `system:serviceaccounts:${account[1] ?? ''}`];
  if (groups.includes(GROUP_UNAUTHENTICATED)) return { ...asked, groups };
  if (asked.username === ANONYMOUS) return { ...asked, groups: [...groups, GROUP_UNAUTHENTICATED] };
  return withAuthenticatedGroup({ ...asked, groups });
}
