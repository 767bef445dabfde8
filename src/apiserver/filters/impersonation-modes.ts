import type { StatusError } from '../../api/status-error.ts';
import { isDns1123Label, isDns1123Subdomain } from '../../api/validation/names.ts';
import { serviceAccountGroups } from '../authentication/service-account-claims.ts';
import {
  GROUP_MASTERS,
  GROUP_UNAUTHENTICATED,
  type UserInfo,
  withAuthenticatedGroup,
} from '../authentication/user-info.ts';
import type { AuthorizationAttributes, Authorizer } from '../authorization/authorizer.ts';
import { forbidden } from '../authorization/forbidden.ts';

const ANONYMOUS = 'system:anonymous';
const AUTHENTICATION = 'authentication.k8s.io';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const NODE_PREFIX = 'system:node:';
/** A key of extra fields in the constrained modes: `example.com/scope`, in lower case. */
const EXTRA_KEY = /^([^/]+)\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** The right to impersonate, as the attributes of an object. */
type Part = Pick<AuthorizationAttributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/**
 * One mode of impersonation (KEP-5284, apiserver `pkg/endpoints/filters/impersonation/mode.go`). In a constrained mode the requester needs
 * two rights: `impersonate-on:<mode>:<verb>` on the requested object, and `impersonate:<mode>` on each part of the impersonated user.
 */
interface Mode {
  /** Empty for the original mode, which requires only `impersonate`. */
  readonly name: '' | 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';
  applies(wanted: UserInfo, requestor: UserInfo): boolean;
}

const MODES: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (wanted, { username, extra }) => {
      const own = extra?.[NODE_NAME] ?? [];
      const node = onlyNamed(wanted) ? nodeOf(wanted.username) : undefined;
      return node !== undefined && accountOf(username) !== undefined && own.length === 1 && own[0] === node;
    },
  },
  { name: 'arbitrary-node', applies: (wanted) => onlyNamed(wanted) && nodeOf(wanted.username) !== undefined },
  { name: 'serviceaccount', applies: (wanted) => onlyNamed(wanted) && accountOf(wanted.username) !== undefined },
  {
    name: 'user-info',
    applies: ({ username }) => nodeOf(username) === undefined && accountOf(username) === undefined,
  },
  { name: '', applies: () => true },
];

export interface Impersonation {
  readonly authorizer: Authorizer;
  /** The requested action and the requester. */
  readonly request: AuthorizationAttributes;
}

/**
 * The wanted user with the groups that every such user has, impersonated in the first mode that the requester may use. If there is none,
 * throws the 403 of the first mode that applies.
 */
export function impersonated(wanted: UserInfo, impersonation: Impersonation): UserInfo {
  let refusal: StatusError | undefined;
  for (const mode of MODES) {
    if (!mode.applies(wanted, impersonation.request.user)) continue;
    const refused = refusalOf(mode, wanted, impersonation);
    if (refused === undefined) return completed(mode, wanted);
    refusal ??= refused;
  }
  throw refusal ?? new Error('no way to impersonate applies');
}

function refusalOf(mode: Mode, wanted: UserInfo, { authorizer, request }: Impersonation): StatusError | undefined {
  const ask = (attributes: AuthorizationAttributes): StatusError | undefined => {
    const { allowed, reason } = authorizer.authorize(attributes);
    return allowed ? undefined : forbidden(attributes, reason);
  };
  const verb = mode.name === '' ? 'impersonate' : `impersonate:${mode.name}`;
  const attributesOf = (part: Part): AuthorizationAttributes => ({
    user: request.user,
    verb,
    isResource: true,
    path: request.path,
    ...part,
  });
  if (mode.name !== '') {
    const on = ask({ ...request, verb: `impersonate-on:${mode.name}:${request.verb}` });
    if (on !== undefined) return on;
  }
  for (const part of partsOf(mode, wanted)) {
    // Only the original mode allows users that bypass all roles, and requests without a name.
    const never = mode.name === '' ? undefined : neverImpersonated(part);
    const refused = never === undefined ? ask(attributesOf(part)) : forbidden(attributesOf(part), never);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function partsOf({ name: mode }: Mode, { username, uid, groups, extra = {} }: UserInfo): Part[] {
  const group = mode === '' ? '' : AUTHENTICATION;
  const part = (resource: string, name: string, rest: Partial<Part> = {}): Part => ({
    group,
    resource,
    subresource: '',
    namespace: '',
    name,
    ...rest,
  });
  return [
    namedPart(mode, username, part),
    ...(uid === undefined ? [] : [part('uids', uid, { group: AUTHENTICATION })]),
    ...groups.map((name) => part('groups', name)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => part('userextras', value, { group: AUTHENTICATION, subresource: key })),
    ),
  ];
}

function namedPart(
  mode: Mode['name'],
  username: string,
  part: (resource: string, name: string, rest?: Partial<Part>) => Part,
): Part {
  const account = accountOf(username);
  if (account !== undefined) return part('serviceaccounts', account.name, { namespace: account.namespace });
  const node = mode === '' ? undefined : nodeOf(username);
  if (node === undefined) return part('users', username);
  // A process on a node may impersonate that node; the right covers all nodes.
  return part('nodes', mode === 'associated-node' ? '*' : node);
}

function neverImpersonated({ resource, subresource, name }: Part): string | undefined {
  if (resource === 'groups' && name === '') return 'impersonating the empty string group is not allowed';
  if (resource === 'groups' && name === GROUP_MASTERS) return `impersonating the ${GROUP_MASTERS} group is not allowed`;
  if (resource !== 'userextras') return undefined;
  if (name === '') return 'impersonating the empty string value in extra is not allowed';
  const [, host = ''] = EXTRA_KEY.exec(subresource) ?? [];
  const valid = subresource === subresource.toLowerCase() && isDns1123Subdomain(host).length === 0;
  return valid ? undefined : 'impersonating an invalid key in extra is not allowed';
}

function completed({ name: mode }: Mode, wanted: UserInfo): UserInfo {
  const groups = groupsOf(mode, wanted);
  if (groups.includes(GROUP_UNAUTHENTICATED)) return { ...wanted, groups };
  if (wanted.username === ANONYMOUS) return { ...wanted, groups: [...groups, GROUP_UNAUTHENTICATED] };
  return withAuthenticatedGroup({ ...wanted, groups });
}

function groupsOf(mode: Mode['name'], { username, groups }: UserInfo): readonly string[] {
  if (groups.length > 0) return groups;
  const account = accountOf(username);
  if (account !== undefined) return serviceAccountGroups(account.namespace);
  return mode !== '' && nodeOf(username) !== undefined ? ['system:nodes'] : groups;
}

/** Only a valid account name counts as a service account. Any other is a plain user, which requires a right to users. */
function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', name = ''] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (isDns1123Label(namespace).length > 0 || isDns1123Subdomain(name).length > 0) return undefined;
  return { namespace, name };
}

function nodeOf(username: string): string | undefined {
  if (!username.startsWith(NODE_PREFIX)) return undefined;
  const name = username.slice(NODE_PREFIX.length);
  return isDns1123Subdomain(name).length > 0 ? undefined : name;
}

function onlyNamed({ uid, groups, extra }: UserInfo): boolean {
  return uid === undefined && groups.length === 0 && extra === undefined;
}
