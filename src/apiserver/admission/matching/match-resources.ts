import type { GroupVersionKind, GroupVersionResource } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { LabelSelector, labelSelectorFromObject } from '../../../api/selectors/label-selector.ts';
import type { LabelSelectorObject } from '../../../api/validation/labels.ts';
import { newInternalError } from '../../../api/status-error.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { NamespaceReader } from './namespace-reader.ts';
import { type Rule, ruleMatches } from './rule.ts';

/** The requests that a webhook, a policy or a binding matches, with parsed selectors. */
export interface MatchResources {
  /** Undefined matches every request. */
  readonly rules: readonly Rule[] | undefined;
  readonly excludeRules: readonly Rule[];
  /** `Equivalent` also matches a request by its form in another version of its kind. */
  readonly matchPolicy: 'Exact' | 'Equivalent';
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

export interface MatchResourcesSource {
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
}

/** The form in which a request is sent: the resource and kind that the matching rule names. */
export interface Invocation {
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly kind: GroupVersionKind;
}

export function readSelectors({ matchPolicy, namespaceSelector, objectSelector }: MatchResourcesSource) {
  return {
    matchPolicy: matchPolicy === 'Exact' ? ('Exact' as const) : ('Equivalent' as const),
    namespaceSelector: selectorOf(namespaceSelector),
    objectSelector: selectorOf(objectSelector),
  };
}

function selectorOf(selector: LabelSelectorObject | undefined): LabelSelector {
  return selector === undefined ? LabelSelector.everything : labelSelectorFromObject(selector);
}

/**
 * The form in which a request matches; undefined if it does not match. Selectors are evaluated after the rules,
 * so that labels are read only if they matter. The result is the same as upstream, which evaluates selectors first. Throws a 404 if the
 * namespace is gone.
 */
export async function matchRequest(
  match: MatchResources,
  attributes: AdmissionAttributes,
  namespaces: NamespaceReader,
): Promise<Invocation | undefined> {
  const { info, kind, subresource } = attributes;
  if (match.excludeRules.length > 0 && invocationOf(match.excludeRules, match.matchPolicy, attributes))
    return undefined;
  const invocation =
    match.rules === undefined
      ? { resource: resourceOf(info), subresource, kind }
      : invocationOf(match.rules, match.matchPolicy, attributes);
  if (invocation === undefined || !matchesObject(match.objectSelector, attributes)) return undefined;
  const matchesNamespace = match.namespaceSelector.empty || (await namespaceMatches(match, attributes, namespaces));
  return matchesNamespace ? invocation : undefined;
}

function invocationOf(
  rules: readonly Rule[],
  policy: MatchResources['matchPolicy'],
  attributes: AdmissionAttributes,
): Invocation | undefined {
  const { info, kind, subresource, operation, namespace, name, interfaces } = attributes;
  const subject = { operation, subresource, namespace, name };
  const resource = resourceOf(info);
  if (rules.some((rule) => ruleMatches(rule, { ...subject, resource }))) return { resource, subresource, kind };
  if (policy === 'Exact') return undefined;
  const others = interfaces
    .equivalents()
    .filter((other) => other.group !== info.group || other.version !== info.version);
  for (const rule of rules) {
    for (const other of others) {
      const equivalent = resourceOf(other);
      if (!ruleMatches(rule, { ...subject, resource: equivalent })) continue;
      const otherKind = interfaces.kindOf(other, subresource);
      if (otherKind === undefined) {
        const { group, version, resource: plural } = equivalent;
        throw newInternalError(`unable to convert to ${group}/${version}, Resource=${plural}: unknown kind`);
      }
      return { resource: equivalent, subresource, kind: kindOf(otherKind) };
    }
  }
  return undefined;
}

function resourceOf({ group, version, resource }: GroupVersionResource): GroupVersionResource {
  return { group, version, resource };
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

/** Either the old or the new object must match (API-356). An object without metadata, such as connection options, never matches. */
function matchesObject(selector: LabelSelector, { object, oldObject }: AdmissionAttributes): boolean {
  if (selector.empty) return true;
  const selects = (candidate: KubeObject | undefined): boolean =>
    candidate?.metadata !== undefined && selector.matches(candidate.metadata.labels);
  return selects(object) || selects(oldObject);
}

/** Cluster-scoped objects always match, and a Namespace that is written matches by its new labels (API-356). */
async function namespaceMatches(
  { namespaceSelector }: MatchResources,
  { info, subresource, operation, namespace, object }: AdmissionAttributes,
  namespaces: NamespaceReader,
): Promise<boolean> {
  const isNamespace = info.resource === 'namespaces';
  if (namespace === '' && !isNamespace) return true;
  const written = isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  const labels = written ? object?.metadata?.labels : (await namespaces.get(namespace)).metadata?.labels;
  return namespaceSelector.matches(labels);
}
