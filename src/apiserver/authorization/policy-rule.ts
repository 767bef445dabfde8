import { textsOf } from '../../api/codec/json/json-value.ts';
import { quotedList } from '../../api/meta/quoted.ts';
import type { AuthorizationAttributes } from './authorizer.ts';

/** One rule of a Role or ClusterRole (`rbac.authorization.k8s.io/v1` PolicyRule): for resources or for paths, never for both. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  // `r`, `r/sub`, `*` for all, `*/sub` for that subresource of all.
  readonly resources: readonly string[];
  /** Empty matches all names, and requests without a name. */
  readonly resourceNames: readonly string[];
  /** Exact paths, or a prefix followed by `*`. */
  readonly nonResourceURLs: readonly string[];
}

/** The rules of a stored Role or ClusterRole. Malformed rules, written past the API, grant nothing. */
export function policyRules(value: unknown): readonly PolicyRule[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((rule): rule is Record<string, unknown> => typeof rule === 'object' && rule !== null)
    .map((rule) => ({
      verbs: textsOf(rule['verbs']),
      apiGroups: textsOf(rule['apiGroups']),
      resources: textsOf(rule['resources']),
      resourceNames: textsOf(rule['resourceNames']),
      nonResourceURLs: textsOf(rule['nonResourceURLs']),
    }));
}

/** True if this rule alone allows the request: it must match in all its parts, and there are no deny rules (API-375). */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!matches(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return rule.nonResourceURLs.some((url) => matchesPath(url, attributes.path));
  return (
    matches(rule.apiGroups, attributes.group) &&
    matchesResource(rule.resources, attributes) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name))
  );
}

function matches(allowed: readonly string[], asked: string): boolean {
  return allowed.includes('*') || allowed.includes(asked);
}

function matchesResource(
  allowed: readonly string[],
  { resource, subresource }: Pick<AuthorizationAttributes, 'resource' | 'subresource'>,
): boolean {
  if (subresource === '') return matches(allowed, resource);
  return matches(allowed, `${resource}/${subresource}`) || allowed.includes(`*/${subresource}`);
}

/** True if `url` matches `path`. `path` may also be a pattern that ends in `*`. */
export function matchesPath(url: string, path: string): boolean {
  return url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')));
}

/** The rule in the form of upstream's escalation errors: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, without empty parts. */
export function compactString(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = parts
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name}:${quotedList(values)}`);
  return `{${shown.join(', ')}}`;
}
