import { textOf } from '../../api/codec/json/json-value.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { UserInfo } from '../authentication/user-info.ts';

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A RoleBinding, or (without namespace) a ClusterRoleBinding. */
export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

export function bindingOf(object: KubeObject): Binding {
  const roleRef = fieldsOf(object['roleRef']);
  const subjects = Array.isArray(object['subjects']) ? object['subjects'].map(fieldsOf) : [];
  return {
    namespace: object.metadata?.namespace ?? '',
    name: object.metadata?.name ?? '',
    roleRef: { apiGroup: textOf(roleRef['apiGroup']), kind: textOf(roleRef['kind']), name: textOf(roleRef['name']) },
    subjects: subjects.map((subject) => ({
      kind: textOf(subject['kind']),
      namespace: textOf(subject['namespace']),
      name: textOf(subject['name']),
    })),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A binding with the subject that matches the user. */
export interface Bound {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** Bindings by subject, so that a request reads only those of its user and groups. Cluster-wide ones have namespace ''. */
export class RoleBindings {
  readonly #byNamespace = new Map<string, Map<string, Map<string, Bound>>>();

  add(binding: Binding): void {
    for (const subject of binding.subjects) {
      const id = subjectId(subject, binding.namespace);
      if (id === undefined) continue;
      const subjects = inner(this.#byNamespace, binding.namespace);
      const bound = inner(subjects, id);
      // The first matching subject is reported.
      if (!bound.has(binding.name)) bound.set(binding.name, { binding, subject });
    }
  }

  remove(binding: Binding): void {
    const subjects = this.#byNamespace.get(binding.namespace);
    if (subjects === undefined) return;
    for (const subject of binding.subjects) {
      const id = subjectId(subject, binding.namespace);
      if (id === undefined) continue;
      const bound = subjects.get(id);
      bound?.delete(binding.name);
      if (bound?.size === 0) subjects.delete(id);
    }
    if (subjects.size === 0) this.#byNamespace.delete(binding.namespace);
  }

  /** All bindings of a user: the cluster-wide ones for namespace '', otherwise only those of the namespace. */
  *of({ username, groups }: UserInfo, namespace: string): Generator<Bound> {
    const subjects = this.#byNamespace.get(namespace);
    if (subjects === undefined) return;
    yield* subjects.get(`User ${username}`)?.values() ?? [];
    for (const group of groups) yield* subjects.get(`Group ${group}`)?.values() ?? [];
  }
}

function inner<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let found = map.get(key);
  if (found === undefined) map.set(key, (found = new Map()));
  return found;
}

/** Service accounts are users with a certain name. One without a namespace belongs to that of the binding. */
function subjectId({ kind, namespace, name }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return `${kind} ${name}`;
  const accountNamespace = namespace === '' ? bindingNamespace : namespace;
  if (kind !== 'ServiceAccount' || accountNamespace === '') return undefined;
  return `User system:serviceaccount:${accountNamespace}:${name}`;
}

/** `ClusterRoleBinding "b" of ClusterRole "r" to Group "g"`, with upstream's order of name and namespace. */
export function describeBinding({ binding, subject }: Bound): string {
  const { namespace, name, roleRef } = binding;
  const account = subject.kind === 'ServiceAccount';
  const who = account ? `${subject.name}/${subject.namespace === '' ? namespace : subject.namespace}` : subject.name;
  const what =
    namespace === '' ? `ClusterRoleBinding ${quoted(name)}` : `RoleBinding ${quoted(`${name}/${namespace}`)}`;
  return `${what} of ${roleRef.kind} ${quoted(roleRef.name)} to ${subject.kind} ${quoted(who)}`;
}
