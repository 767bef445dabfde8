import type { AdmissionOperation } from '../chain/attributes.ts';
import type { GroupVersionResource } from '../../../api/meta/group-version-kind.ts';

/** One of the stored `rules` of a webhook, or `resourceRules` of a policy. */
export interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  // `pods`, `pods/log`, `*`, `pods/*`. A star is also allowed before the slash.
  readonly resources?: readonly string[];
  /** `Cluster`, `Namespaced` or `*`. */
  readonly scope?: string;
  /** Only for policies. Empty matches any name. */
  readonly resourceNames?: readonly string[];
}

/** The part of a request that rules match. */
export interface RuleSubject {
  readonly operation: AdmissionOperation;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  /** The namespace of the object; for a Namespace, its own name. */
  readonly namespace: string;
  readonly name: string;
}

/** `webhook/predicates/rules`. */
export function ruleMatches(rule: Rule, subject: RuleSubject): boolean {
  const { operation, resource } = subject;
  return (
    scopeMatches(rule.scope, subject) &&
    oneOf(rule.operations, operation) &&
    oneOf(rule.apiGroups, resource.group) &&
    oneOf(rule.apiVersions, resource.version) &&
    resourceMatches(rule.resources, subject) &&
    nameMatches(rule.resourceNames, subject.name)
  );
}

function oneOf(items: readonly string[] = [], requested: string): boolean {
  return items.includes('*') || items.includes(requested);
}

/** Namespaces are cluster-scoped, although their requests have a namespace. */
function scopeMatches(scope: string | undefined, { resource, namespace }: RuleSubject): boolean {
  if (scope === undefined || scope === '*') return true;
  const { group, version, resource: plural } = resource;
  const cluster = namespace === '' || (group === '' && version === 'v1' && plural === 'namespaces');
  return scope === 'Cluster' ? cluster : scope === 'Namespaced' && !cluster;
}

function resourceMatches(resources: readonly string[] = [], { resource, subresource }: RuleSubject): boolean {
  return resources.some((entry) => {
    const slash = entry.indexOf('/');
    const wanted = slash < 0 ? entry : entry.slice(0, slash);
    const wantedSub = slash < 0 ? '' : entry.slice(slash + 1);
    return (wanted === '*' || wanted === resource.resource) && (wantedSub === '*' || wantedSub === subresource);
  });
}

function nameMatches(names: readonly string[] = [], name: string): boolean {
  return names.length === 0 || names.includes(name);
}
