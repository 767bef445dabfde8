import { GROUP_AUTHENTICATED, GROUP_MASTERS, GROUP_UNAUTHENTICATED } from '../authentication/user-info.ts';
import type { UserInfo } from '../authentication/user-info.ts';

/** The requested action and the user (apiserver `pkg/authorization/authorizer`). */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  /** The API verb for resources (`get`, `deletecollection`, …), the HTTP method in lower case for other paths. */
  readonly verb: string;
  /** If false, only `path` is set, and the resource fields are empty. */
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version?: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty at cluster scope and for requests across all namespaces. */
  readonly namespace: string;
  /** Empty if the request names no object. A list or watch by `metadata.name` has that name (API-002). */
  readonly name: string;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  /** For the answer of access reviews and the text of a 403. May be empty. */
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): AuthorizationDecision;
  /** The rights of a user in a namespace, for SelfSubjectRulesReview. Absent in an authorizer that cannot list rules. */
  rulesFor?(user: UserInfo, namespace: string): SubjectRules;
}

export interface SubjectRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True if the user may have more rights than listed. */
  readonly incomplete: boolean;
  /** The reason why some rights could not be read. */
  readonly evaluationError?: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  /** Exact paths, or a prefix followed by `*`. */
  readonly nonResourceURLs: readonly string[];
}

/** Allows everything to every authenticated user; the default of a test server (API-372). */
export const alwaysAllowAuthorizer: Authorizer = {
  authorize: () => ({ allowed: true, reason: '' }),
  rulesFor: () => EVERYTHING,
};

/**
 * Allows everything to `system:masters` (API-372). Every other authenticated user may read discovery, OpenAPI, version and health and
 * create self reviews, like the bootstrap roles `system:discovery` and `system:basic-user` upstream.
 */
export const systemMastersAuthorizer: Authorizer = {
  authorize(attributes) {
    if (attributes.user.groups.includes(GROUP_MASTERS)) return { allowed: true, reason: '' };
    const rules = systemMastersAuthorizer.rulesFor?.(attributes.user, attributes.namespace) ?? NOTHING;
    return { allowed: isCovered(rules, attributes), reason: '' };
  },
  rulesFor(user) {
    if (user.groups.includes(GROUP_MASTERS)) return EVERYTHING;
    if (user.groups.includes(GROUP_AUTHENTICATED)) return LOOK_AROUND;
    return user.groups.includes(GROUP_UNAUTHENTICATED) ? PUBLIC : NOTHING;
  },
};

/** Paths that need no credentials (API-013, API-014). `path` has no query. */
export function isPublicPath(path: string, verb: string): boolean {
  return isHealthPath(path, verb) || (READING.has(verb) && VERSION_PATHS.has(path));
}

/** Liveness needs no rights with any authorizer (kube-apiserver `--authorization-always-allow-paths`). */
export function isHealthPath(path: string, verb: string): boolean {
  return READING.has(verb) && HEALTH_PATHS.has(path);
}

/** Other methods may have a body, which is not read without rights. */
const READING: ReadonlySet<string> = new Set(['get', 'head']);

const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);
const VERSION_PATHS: ReadonlySet<string> = new Set(['/version', '/version/']);

const EVERYTHING: SubjectRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

const NOTHING: SubjectRules = { resourceRules: [], nonResourceRules: [], incomplete: false };

const PUBLIC: SubjectRules = {
  resourceRules: [],
  nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [...HEALTH_PATHS, ...VERSION_PATHS] }],
  incomplete: false,
};

const LOOK_AROUND: SubjectRules = {
  resourceRules: [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ],
  nonResourceRules: [
    {
      verbs: ['get'],
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/openapi',
        '/openapi/*',
        ...HEALTH_PATHS,
        ...VERSION_PATHS,
      ],
    },
  ],
  incomplete: false,
};

/** One rule must match in all its parts. There are no deny rules. */
export function isCovered(rules: SubjectRules, attributes: AuthorizationAttributes): boolean {
  if (!attributes.isResource) {
    return rules.nonResourceRules.some(
      (rule) => matches(rule.verbs, attributes.verb) && matchesPath(rule.nonResourceURLs, attributes.path),
    );
  }
  const resource =
    attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  return rules.resourceRules.some(
    (rule) =>
      matches(rule.verbs, attributes.verb) &&
      matches(rule.apiGroups, attributes.group) &&
      (matches(rule.resources, resource) ||
        (attributes.subresource !== '' && rule.resources.includes(`*/${attributes.subresource}`))) &&
      (rule.resourceNames === undefined ||
        rule.resourceNames.length === 0 ||
        rule.resourceNames.includes(attributes.name)),
  );
}

function matches(allowed: readonly string[], asked: string): boolean {
  return allowed.includes('*') || allowed.includes(asked);
}

function matchesPath(allowed: readonly string[], path: string): boolean {
  return allowed.some((url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))));
}
