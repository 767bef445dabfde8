import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { BootstrapObject } from '../../bootstrap/bootstrap-objects.ts';
import { RBAC_GROUP } from '../rbac-authorizer.ts';

/** Bootstrap objects are completed at each start, unless this annotation is "false". */
export const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

const API_VERSION = `${RBAC_GROUP}/v1`;
const resources = {
  ClusterRole: { group: RBAC_GROUP, resource: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { group: RBAC_GROUP, resource: 'clusterrolebindings', namespaced: false },
  Role: { group: RBAC_GROUP, resource: 'roles', namespaced: true },
  RoleBinding: { group: RBAC_GROUP, resource: 'rolebindings', namespaced: true },
} as const;

/** Abbreviations for frequent sets of verbs. */
const verbWords: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
};

/**
 * Parses roles from a table. A line at the margin begins a role:
 *
 *     [namespace/]name [aggregate-to-x …] [aggregates aggregate-to-x …]
 *
 * (the labels by which other roles aggregate it; the labels of the roles that it aggregates). The indented lines after it are its rules:
 *
 *     verbs groups resources [names]
 *     verbs url paths
 *
 * each a list separated by commas; the empty group is written `core`, `read` and `write` are {@link verbWords}.
 */
export function rolesOf(text: string): readonly BootstrapObject[] {
  const roles: { readonly head: string; readonly rules: string[] }[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (line.startsWith(' ')) roles.at(-1)?.rules.push(line.trim());
    else roles.push({ head: line, rules: [] });
  }
  return roles.map(({ head, rules }) => role(head, rules.map(rule)));
}

function role(head: string, rules: readonly object[]): BootstrapObject {
  const [id = '', ...words] = head.split(' ');
  const at = words.indexOf('aggregates');
  const labels = at < 0 ? words : words.slice(0, at);
  const aggregated = at < 0 ? [] : words.slice(at + 1);
  const { namespace, name } = identified(id);
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const clusterRoleSelectors = aggregated.map((word) => ({ matchLabels: labelled(word) }));
  return {
    resource: resources[kind],
    object: {
      kind,
      apiVersion: API_VERSION,
      metadata: metadataOf({ namespace, name }, Object.assign({}, ...labels.map(labelled)) as Record<string, string>),
      ...(aggregated.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors } }),
      rules: rules.length === 0 ? null : rules,
    },
  };
}

function identified(id: string): { namespace: string | undefined; name: string } {
  const slash = id.indexOf('/');
  return slash < 0 ? { namespace: undefined, name: id } : { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
}

function labelled(word: string): Record<string, string> {
  return { [`rbac.authorization.k8s.io/${word}`]: 'true' };
}

function metadataOf(
  { namespace, name }: { namespace: string | undefined; name: string },
  labels: Record<string, string> = {},
): NonNullable<KubeObject['metadata']> {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { [AUTOUPDATE]: 'true' },
  };
}

function rule(line: string): object {
  const [verbs, groups, targets, names] = line.split(' ').map((list) => list.split(','));
  const allVerbs = (verbs ?? []).flatMap((word) => verbWords[word] ?? [word]).toSorted();
  if (groups?.[0] === 'url') return { verbs: allVerbs, nonResourceURLs: targets ?? [] };
  return {
    verbs: allVerbs,
    apiGroups: (groups ?? []).map((group) => (group === 'core' ? '' : group)),
    resources: targets ?? [],
    ...(names === undefined ? {} : { resourceNames: names }),
  };
}

/** `User name`, `Group name` or `ServiceAccount namespace/name`. */
export type SubjectText = `User ${string}` | `Group ${string}` | `ServiceAccount ${string}/${string}`;

/** Binds the role of the same name, or `role`, to these subjects. */
export function binding(id: string, subjects: readonly SubjectText[], role?: string): BootstrapObject {
  const { namespace, name } = identified(id);
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  return {
    resource: resources[kind],
    object: {
      kind,
      apiVersion: API_VERSION,
      metadata: metadataOf({ namespace, name }),
      ...(subjects.length === 0 ? {} : { subjects: subjects.map(subject) }),
      roleRef: { apiGroup: RBAC_GROUP, kind: kind.replace('Binding', ''), name: role ?? name },
    },
  };
}

function subject(text: SubjectText): object {
  const [kind = '', who = ''] = text.split(' ');
  if (kind !== 'ServiceAccount') return { kind, apiGroup: RBAC_GROUP, name: who };
  const { namespace, name } = identified(who);
  return { kind, name, namespace };
}
