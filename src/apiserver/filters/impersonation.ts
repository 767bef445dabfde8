import { newBadRequest } from '../../api/status-error.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import { quoted } from '../../api/meta/quoted.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../api/validation/names.ts';
import { serviceAccountGroups } from '../authentication/service-account-claims.ts';
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
    throw newBadRequest(`requested ${goText({ uid, groups, extra })} without impersonating a user name`);
  }
  return { username, groups, ...(uid === '' ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

/** A Go struct as `%#v` prints it, which is what the refusal upstream shows. */
function goText({ uid, groups, extra }: { uid: string; groups: readonly string[]; extra: UserInfo['extra'] }): string {
  const list = (texts: readonly string[]): string => `[]string{${texts.map(quoted).join(', ')}}`;
  const entries = Object.entries(extra ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${quoted(key)}:${list(values)}`);
  const fields = [
    'Name:""',
    `UID:${quoted(uid)}`,
    `Groups:${groups.length === 0 ? '[]string(nil)' : list(groups)}`,
    `Extra:map[string][]string${extra === undefined ? '(nil)' : `{${entries.join(', ')}}`}`,
  ];
  return `&user.DefaultInfo{${fields.join(', ')}}`;
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
  const account = accountOf(username);
  return [
    account === undefined
      ? part('users', username)
      : part('serviceaccounts', account.name, { namespace: account.namespace }),
    ...(uid === undefined ? [] : [part('uids', uid, { group: authentication })]),
    ...groups.map((group) => part('groups', group)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => part('userextras', value, { group: authentication, subresource: key })),
    ),
  ];
}

/** Only a name that an account can have is one of an account; any other is that of a user, who needs a right to users. */
function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (isDns1123Label(namespace).length > 0 || isDns1123Subdomain(name).length > 0) return undefined;
  return { namespace, name };
}

/** With the groups that every such user has. */
function completed(asked: UserInfo): UserInfo {
  const account = accountOf(asked.username);
  const groups =
    account === undefined || asked.groups.length > 0 ? asked.groups : serviceAccountGroups(account.namespace);
  if (groups.includes(GROUP_UNAUTHENTICATED)) return { ...asked, groups };
  if (asked.username === ANONYMOUS) return { ...asked, groups: [...groups, GROUP_UNAUTHENTICATED] };
  return withAuthenticatedGroup({ ...asked, groups });
}
