import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { bindingOf } from '../role-bindings.ts';
import { policyRules } from '../policy-rule.ts';
import { missingRights } from '../rule-coverage.ts';
import { AUTOUPDATE } from './policy-text.ts';

/** The action for a role or binding of the bootstrap policy. */
export type PolicyDecision =
  | { readonly verdict: 'create'; readonly reason: 'missing' }
  | { readonly verdict: 'update'; readonly reason: 'incomplete'; readonly object: KubeObject }
  /** A roleRef is immutable, so the binding is deleted and created again. */
  | { readonly verdict: 'replace'; readonly reason: 'otherRole' }
  | { readonly verdict: 'keep'; readonly reason: 'complete' | 'protected' };

/**
 * Existing objects are only extended (upstream `component-helpers/auth/rbac/reconciliation`): rights, subjects, labels and annotations of
 * an administrator stay; removed ones return, unless the administrator disabled that for the object.
 */
export function reconcilePolicy(existing: KubeObject | undefined, wanted: KubeObject): PolicyDecision {
  if (existing === undefined) return { verdict: 'create', reason: 'missing' };
  if (existing.metadata?.annotations?.[AUTOUPDATE] === 'false') return { verdict: 'keep', reason: 'protected' };
  if (wanted['roleRef'] !== undefined) return reconcileBinding(existing, wanted);
  const missing = missingRights(policyRules(existing['rules']), policyRules(wanted['rules'])).map(withoutEmptyParts);
  const selectors = missingSelectors(existing, wanted);
  const metadata = completedMetadata(existing, wanted);
  if (missing.length === 0 && selectors === undefined && metadata === undefined) {
    return { verdict: 'keep', reason: 'complete' };
  }
  const rules = missing.length === 0 ? existing['rules'] : [...listOf(existing['rules']), ...missing];
  return {
    verdict: 'update',
    reason: 'incomplete',
    object: {
      ...existing,
      metadata: metadata ?? existing.metadata ?? {},
      ...(selectors === undefined ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
      rules,
    },
  };
}

function reconcileBinding(existing: KubeObject, wanted: KubeObject): PolicyDecision {
  const [there, needed] = [bindingOf(existing), bindingOf(wanted)];
  if (there.roleRef.kind !== needed.roleRef.kind || there.roleRef.name !== needed.roleRef.name) {
    return { verdict: 'replace', reason: 'otherRole' };
  }
  const known = new Set(there.subjects.map(subjectKey));
  const missing = listOf(wanted['subjects']).filter((_, i) => {
    const subject = needed.subjects[i];
    return subject !== undefined && !known.has(subjectKey(subject));
  });
  const metadata = completedMetadata(existing, wanted);
  if (missing.length === 0 && metadata === undefined) return { verdict: 'keep', reason: 'complete' };
  return {
    verdict: 'update',
    reason: 'incomplete',
    object: {
      ...existing,
      metadata: metadata ?? existing.metadata ?? {},
      ...(missing.length === 0 ? {} : { subjects: [...listOf(existing['subjects']), ...missing] }),
    },
  };
}

function subjectKey(subject: { readonly kind: string; readonly namespace: string; readonly name: string }): string {
  return `${subject.kind} ${subject.namespace}/${subject.name}`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function withoutEmptyParts(rule: object): object {
  return Object.fromEntries(Object.entries(rule).filter(([, values]) => (values as readonly unknown[]).length > 0));
}

/** All required selectors, if one of them is missing. */
function missingSelectors(existing: KubeObject, wanted: KubeObject): readonly unknown[] | undefined {
  const there = selectorsOf(existing);
  const known = new Set(there.map((selector) => JSON.stringify(selector)));
  const missing = selectorsOf(wanted).filter((selector) => !known.has(JSON.stringify(selector)));
  return missing.length === 0 ? undefined : [...there, ...missing];
}

function selectorsOf({ aggregationRule }: KubeObject): readonly unknown[] {
  return listOf((aggregationRule as { clusterRoleSelectors?: unknown } | undefined)?.clusterRoleSelectors);
}

/** The object with its missing labels and annotations; existing values stay. Undefined if none is missing. */
function completedMetadata(existing: KubeObject, wanted: KubeObject): KubeObject['metadata'] | undefined {
  const { labels = {}, annotations = {} } = existing.metadata ?? {};
  const [wantedLabels, wantedAnnotations] = [wanted.metadata?.labels ?? {}, wanted.metadata?.annotations ?? {}];
  const lacks = (there: object, needed: object): boolean => Object.keys(needed).some((key) => !(key in there));
  if (!lacks(labels, wantedLabels) && !lacks(annotations, wantedAnnotations)) return undefined;
  return {
    ...existing.metadata,
    labels: { ...wantedLabels, ...labels },
    annotations: { ...wantedAnnotations, ...annotations },
  };
}
