import { append } from '../../base/collections/append.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { GROUP_MASTERS, type UserInfo } from '../authentication/user-info.ts';
import type { Store } from '../storage/interface.ts';
import { LiveTable } from '../storage/cache/live-table.ts';
import { resourcePrefix } from '../storage/storage-keys.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer, SubjectRules } from './authorizer.ts';
import { type PolicyRule, policyRules, ruleAllows } from './policy-rule.ts';
import { type Binding, bindingOf, type Bound, describeBinding, RoleBindings, type RoleRef } from './role-bindings.ts';
import { aggregated } from './rule-coverage.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** The resolved rules, and the errors of those that could not be resolved. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

export interface RbacAuthorizerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Role-based access control (API-375, upstream `plugin/pkg/auth/authorizer/rbac`). A user is allowed if one rule of a bound role covers the
 * whole request. There are no deny rules. Answers without I/O, from tables that follow the store: a role or binding takes effect when its
 * write is answered. Before {@link start} only `system:masters` is allowed.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #bindings = new RoleBindings();
  readonly #roles: LiveTable<readonly PolicyRule[]>;
  readonly #clusterRoles: LiveTable<readonly PolicyRule[]>;
  readonly #roleBindings: LiveTable<Binding>;
  readonly #clusterRoleBindings: LiveTable<Binding>;

  constructor(options: RbacAuthorizerOptions) {
    const roleTable = (resource: string) =>
      new LiveTable({ ...options, prefix: prefixOf(resource), read: ({ rules }: KubeObject) => policyRules(rules) });
    const bindingTable = (resource: string) =>
      new LiveTable({
        ...options,
        prefix: prefixOf(resource),
        read: bindingOf,
        changed: (_, next, previous) => {
          if (previous !== undefined) this.#bindings.remove(previous);
          if (next !== undefined) this.#bindings.add(next);
        },
      });
    this.#roles = roleTable('roles');
    this.#clusterRoles = roleTable('clusterroles');
    this.#roleBindings = bindingTable('rolebindings');
    this.#clusterRoleBindings = bindingTable('clusterrolebindings');
  }

  /** Resolves when all existing roles and bindings are loaded. */
  async start(): Promise<void> {
    await Promise.all(this.#tables().map((table) => table.start()));
  }

  stop(): void {
    for (const table of this.#tables()) table.stop();
  }

  authorize(attributes: AuthorizationAttributes): AuthorizationDecision {
    const { user, namespace } = attributes;
    if (user.groups.includes(GROUP_MASTERS)) return { allowed: true, reason: '' };
    const errors: string[] = [];
    for (const bound of this.#boundTo(user, namespace)) {
      const rules = this.#rulesOf(bound.binding.roleRef, bound.binding.namespace);
      if (typeof rules === 'string') errors.push(rules);
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { allowed: true, reason: `RBAC: allowed by ${describeBinding(bound)}` };
      }
    }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregated(errors)}` };
  }

  rulesFor(user: UserInfo, namespace: string): SubjectRules {
    const { rules, errors } = this.resolve(user, namespace);
    return {
      resourceRules: rules
        .filter(({ resources }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames.length === 0 ? {} : { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(errors.length === 0 ? {} : { evaluationError: aggregated(errors) }),
    };
  }

  /** All rules of a user: the cluster-wide ones and, if a namespace is given, those in it. */
  resolve(user: UserInfo, namespace: string): ResolvedRules {
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    // A binding of both the user and one of the user's groups is found twice.
    const bindings = new Set([...this.#boundTo(user, namespace)].map(({ binding }) => binding));
    for (const binding of bindings) {
      const found = this.#rulesOf(binding.roleRef, binding.namespace);
      if (typeof found === 'string') errors.push(found);
      else append(rules, found);
    }
    return { rules, errors };
  }

  /** The rights that a binding in a namespace (empty if cluster-wide) to this role grants; a text if there is no such role. */
  grantedBy(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    return this.#rulesOf(roleRef, namespace);
  }

  *#boundTo(user: UserInfo, namespace: string): Generator<Bound> {
    yield* this.#bindings.of(user, '');
    if (namespace !== '') yield* this.#bindings.of(user, namespace);
  }

  #rulesOf({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | string {
    if (kind === 'ClusterRole') return this.#clusterRoles.get(name) ?? absent('clusterrole', name);
    if (kind === 'Role') return this.#roles.get(`${namespace}/${name}`) ?? absent('role', name);
    return `unsupported role reference kind: ${quoted(kind)}`;
  }

  #tables(): readonly Pick<LiveTable<unknown>, 'start' | 'stop'>[] {
    return [this.#roles, this.#clusterRoles, this.#roleBindings, this.#clusterRoleBindings];
  }
}

function prefixOf(resource: string): string {
  return resourcePrefix({ group: RBAC_GROUP, resource });
}

/** The error of a lister, which names the kind in the singular. */
function absent(kind: string, name: string): string {
  return `${kind}.${RBAC_GROUP} ${quoted(name)} not found`;
}
