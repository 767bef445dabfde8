import type { KubeObject } from '../../api/meta/object-meta.ts';
import { labelSelectorFromObject } from '../../api/selectors/label-selector.ts';
import type { LabelSelectorObject } from '../../api/validation/labels.ts';

interface ClusterRole extends KubeObject {
  aggregationRule?: { clusterRoleSelectors?: readonly LabelSelectorObject[] };
  rules?: readonly unknown[] | null;
}

type AggregationDecision =
  | { readonly verdict: 'apply'; readonly rules: readonly unknown[]; readonly reason: 'different' }
  | { readonly verdict: 'nothing'; readonly reason: 'gone' | 'aggregatesNothing' | 'upToDate' };

export function aggregates(role: ClusterRole): boolean {
  return role.aggregationRule !== undefined && role.aggregationRule !== null;
}

/**
 * The rules of a ClusterRole with an `aggregationRule`: those of the roles that its selectors match, in the order of selectors and names,
 * each rule once (API-375, upstream `pkg/controller/clusterroleaggregation`). Throws a 400 StatusError for a malformed selector.
 */
export function aggregateRules(role: ClusterRole | undefined, all: readonly ClusterRole[]): AggregationDecision {
  if (role === undefined) return { verdict: 'nothing', reason: 'gone' };
  if (!aggregates(role)) return { verdict: 'nothing', reason: 'aggregatesNothing' };
  const sorted = all.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const rules = new Map<string, unknown>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matching = labelSelectorFromObject(selector);
    for (const other of sorted) {
      if (nameOf(other) === nameOf(role) || !matching.matches(other.metadata?.labels ?? {})) continue;
      for (const rule of other.rules ?? []) rules.set(JSON.stringify(rule), rule);
    }
  }
  const there = (role.rules ?? []).map((rule) => JSON.stringify(rule));
  const wanted = [...rules.keys()];
  const same = there.length === wanted.length && there.every((rule, i) => rule === wanted[i]);
  if (same) return { verdict: 'nothing', reason: 'upToDate' };
  return { verdict: 'apply', rules: [...rules.values()], reason: 'different' };
}

function nameOf({ metadata }: KubeObject): string {
  return metadata?.name ?? '';
}
