import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newForbidden, newNotFound } from '../../../api/status-error.ts';
import { GROUP_MASTERS } from '../../authentication/user-info.ts';
import type { AuthorizationAttributes } from '../../authorization/authorizer.ts';
import { type PolicyRule, policyRules } from '../../authorization/policy-rule.ts';
import { RBAC_GROUP, type RbacAuthorizer } from '../../authorization/rbac-authorizer.ts';
import { bindingOf, type RoleRef } from '../../authorization/role-bindings.ts';
import { escalationText, missingRights } from '../../authorization/rule-coverage.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';

/** All rights, as `cluster-admin` has them. */
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

type Check = 'role' | 'binding';
const checks: Readonly<Record<string, Check>> = {
  clusterroles: 'role',
  roles: 'role',
  clusterrolebindings: 'binding',
  rolebindings: 'binding',
};

/**
 * Prevents users from granting more rights than they have (API-375, upstream `pkg/registry/rbac/.../policybased`). The writer of a role
 * must hold its rights or have `escalate` on it; the writer of a binding must hold the granted rights or have `bind` on the role. Upstream,
 * the check is part of these resources; here it is the last mutating plug-in, which checks what will be stored.
 */
export class RoleEscalation implements AdmissionPlugin {
  readonly name = 'RoleEscalation';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #authorizer: RbacAuthorizer;

  constructor(authorizer: RbacAuthorizer) {
    this.#authorizer = authorizer;
  }

  admit(attributes: AdmissionAttributes): void {
    const { info, object, oldObject, user, subresource } = attributes;
    if (info.group !== RBAC_GROUP || subresource !== '' || object === undefined) return;
    const check = checks[info.resource];
    if (check === undefined || user.groups.includes(GROUP_MASTERS)) return;
    // The collector must be able to remove references from roles that it could not create.
    if (oldObject !== undefined && changesOnlyOwnership(object, oldObject)) return;
    if (check === 'role') this.#checkRole(attributes, object);
    else this.#checkBinding(attributes, object);
  }

  #checkRole(attributes: AdmissionAttributes, role: KubeObject): void {
    const { info, namespace, oldObject } = attributes;
    // A create has no name in its path, so a right to certain names does not cover it.
    const name = oldObject === undefined ? '' : attributes.name;
    const escalate = { verb: 'escalate', group: info.group, resource: info.resource, namespace, name };
    if (this.#may(attributes, escalate)) return;
    this.#requireHeld(attributes, policyRules(role['rules']));
    if (!aggregates(role) && (oldObject === undefined || !aggregates(oldObject))) return;
    // Rights that an aggregation adds later are not checked.
    if (missingRights(this.#held(attributes), FULL_AUTHORITY).length > 0) {
      throw newForbidden(
        info,
        role.metadata?.name ?? '',
        'must have cluster-admin privileges to use the aggregationRule',
      );
    }
  }

  #checkBinding(attributes: AdmissionAttributes, object: KubeObject): void {
    const { namespace } = attributes;
    const { roleRef } = bindingOf(object);
    const resource = resourceOf(roleRef);
    const bind = { verb: 'bind', group: roleRef.apiGroup, resource: resource ?? '', namespace, name: roleRef.name };
    if (resource !== undefined && this.#may(attributes, bind)) return;
    const granted = this.#authorizer.grantedBy(roleRef, namespace);
    if (typeof granted === 'string') {
      // Validation refuses an unknown kind, with its path.
      if (resource === undefined) return;
      throw newNotFound({ group: RBAC_GROUP, resource }, roleRef.name);
    }
    this.#requireHeld(attributes, granted);
  }

  #requireHeld(attributes: AdmissionAttributes, wanted: readonly PolicyRule[]): void {
    const { info, user, namespace, object } = attributes;
    const { rules, errors } = this.#authorizer.resolve(user, namespace);
    const missing = missingRights(rules, wanted);
    if (missing.length === 0) return;
    throw newForbidden(info, object?.metadata?.name ?? '', escalationText(user, missing, errors));
  }

  #held({ user, namespace }: AdmissionAttributes): readonly PolicyRule[] {
    return this.#authorizer.resolve(user, namespace).rules;
  }

  #may(
    { user }: AdmissionAttributes,
    asked: Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource' | 'namespace' | 'name'>,
  ): boolean {
    const attributes = { ...asked, user, isResource: true, path: '', version: '*', subresource: '' };
    return this.#authorizer.authorize(attributes).allowed;
  }
}

function resourceOf({ kind }: RoleRef): 'roles' | 'clusterroles' | undefined {
  return kind === 'Role' ? 'roles' : kind === 'ClusterRole' ? 'clusterroles' : undefined;
}

function aggregates({ aggregationRule }: KubeObject): boolean {
  const selectors = (aggregationRule as { clusterRoleSelectors?: readonly unknown[] } | undefined)
    ?.clusterRoleSelectors;
  return (selectors?.length ?? 0) > 0;
}

/** True for changes of owner references and finalizers only, which a garbage collector makes. */
function changesOnlyOwnership(next: KubeObject, previous: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = previous.metadata ?? {};
  return deepEqual({ ...next, metadata: { ...next.metadata, ownerReferences, finalizers, managedFields } }, previous);
}
