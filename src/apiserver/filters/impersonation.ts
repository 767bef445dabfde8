import { newBadRequest } from '../../api/status-error.ts';
import type { HttpHeaders } from '../../base/http-message.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import { attributesOf } from './authorization.ts';
import { impersonated } from './impersonation-modes.ts';

const EXTRA = 'impersonate-extra-';

/**
 * The user of the request: the user in its headers, if the sender may impersonate that user (API-376, apiserver
 * `pkg/endpoints/filters/impersonation`). Throws a 403 if not, and a 400 for groups or extra without a user. A request never runs as
 * another user than requested.
 */
export function impersonate(context: RequestContext, authorizer: Authorizer): UserInfo {
  const { headers } = context.request;
  const asked = askedUser(headers);
  if (asked === undefined) return context.user;
  return impersonated(asked, { authorizer, request: attributesOf(context) });
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

/** A Go struct in the form of `%#v`, which upstream's refusal contains. */
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

/** Keys are percent-encoded if a header name cannot contain them. Invalid encoding is kept as it is. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
