import { compactString, matchesPath, type PolicyRule } from './policy-rule.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import { quoted, quotedList } from '../../api/meta/quoted.ts';

/**
 * The parts of `wanted` that are not held, as small as possible, because users cannot grant rights that they lack (API-375, upstream
 * `component-helpers/auth/rbac/validation`). A part counts as held only if one held rule covers all of it.
 */
export function missingRights(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(pieces).filter((piece) => !held.some((rule) => covers(rule, piece)));
}

/** Splits a rule into rules of one verb on one resource (and name), or on one path. */
function pieces(rule: PolicyRule): PolicyRule[] {
  const { apiGroups, resources, verbs, resourceNames, nonResourceURLs } = rule;
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          resourceNames: name,
          nonResourceURLs: [],
        })),
      ),
    ),
  );
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ apiGroups: [], resources: [], verbs: [verb], resourceNames: [], nonResourceURLs: [url] })),
  );
  return [...ofResources, ...ofPaths];
}

function covers(held: PolicyRule, piece: PolicyRule): boolean {
  return (
    coversWords(held.verbs, piece.verbs) &&
    coversWords(held.apiGroups, piece.apiGroups) &&
    piece.resources.every((resource) => coversResource(held.resources, resource)) &&
    piece.nonResourceURLs.every((path) => held.nonResourceURLs.some((url) => matchesPath(url, path))) &&
    (held.resourceNames.length === 0 ||
      (piece.resourceNames.length > 0 && piece.resourceNames.every((name) => held.resourceNames.includes(name))))
  );
}

function coversWords(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes('*') || wanted.every((word) => held.includes(word));
}

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`);
}

/** The text of the refusal, with the missing rights in as few rules as possible, one a line, sorted. */
export function escalationText(user: UserInfo, missing: readonly PolicyRule[], unresolved: readonly string[]): string {
  const lines = [...new Set(joinedVerbs(missing).map(compactString))].toSorted(byCodeUnits);
  const who = `user ${quoted(user.username)} (groups=${quotedList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  return unresolved.length === 0 ? text : `${text}; resolution errors: [${aggregated(unresolved)}]`;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Several errors as one text, in the form of apimachinery's aggregate: without duplicates, in brackets if there are several. */
export function aggregated(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}

/** Joins parts that differ only in the verb. */
function joinedVerbs(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const byTarget = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    if (rule.nonResourceURLs.length > 0) {
      others.push(rule);
      continue;
    }
    const target = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const known = byTarget.get(target);
    byTarget.set(target, known === undefined ? rule : { ...known, verbs: [...known.verbs, ...rule.verbs] });
  }
  return [...others, ...byTarget.values()];
}
