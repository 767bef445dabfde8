import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from '../../authorization/authorizer.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';

export interface OwnerReferencesPermissionEnforcementOptions {
  readonly authorizer: Authorizer;
  /** The resources that are served at the moment of the call. */
  readonly resources: () => readonly ResourceInfo[];
}

type Asked = Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/**
 * An owner reference lets the collector delete the dependent, and may block the deletion of the owner. So the user needs the right to
 * delete the dependent, and to block the owner (API-342..344, upstream `plugin/pkg/admission/gc`).
 */
export class OwnerReferencesPermissionEnforcement implements AdmissionPlugin {
  readonly name = 'OwnerReferencesPermissionEnforcement';
  readonly operations = ['CREATE', 'UPDATE'] as const;
  readonly #options: OwnerReferencesPermissionEnforcementOptions;

  constructor(options: OwnerReferencesPermissionEnforcementOptions) {
    this.#options = options;
  }

  validate(attributes: AdmissionAttributes): void {
    const { operation, info, subresource, object, oldObject } = attributes;
    if (object === undefined) return;
    // The strategy of pod status ignores owner references, and old kubelets send wrong ones.
    if (info.group === '' && info.resource === 'pods' && subresource === 'status') return;
    const [next, previous] = [referencesOf(object), referencesOf(oldObject)];
    if (deepEqual(next, previous)) return;
    if (operation === 'UPDATE') this.#requireDelete(attributes);
    const blocking = newlyBlocking(next, previous);
    if (blocking.length === 0) return;
    // A user with the right to block every deletion is not checked for each owner.
    if (this.#ask(attributes, EVERYTHING).allowed) return;
    for (const reference of blocking) this.#requireFinalizers(attributes, reference);
  }

  #requireDelete(attributes: AdmissionAttributes): void {
    const { info, subresource, namespace, name } = attributes;
    const { group, resource } = info;
    const { allowed, reason } = this.#ask(attributes, {
      verb: 'delete',
      group,
      resource,
      subresource,
      namespace,
      name,
    });
    if (allowed) return;
    const why = `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`;
    throw admissionForbidden(attributes, why);
  }

  #requireFinalizers(attributes: AdmissionAttributes, { apiVersion, kind, name }: OwnerReference): void {
    const gv = parseGroupVersion(apiVersion);
    const owners = this.#options
      .resources()
      .filter((info) => info.kind === kind && info.group === gv?.group && info.version === gv.version);
    if (owners.length === 0) {
      const error = `no matches for kind ${quoted(kind)} in version ${quoted(apiVersion)}`;
      const why = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${error}`;
      throw admissionForbidden(attributes, why);
    }
    for (const { group, resource, namespaced } of owners) {
      const namespace = namespaced ? attributes.namespace : '';
      const asked = { verb: 'update', group, resource, subresource: 'finalizers', namespace, name };
      const { allowed, reason } = this.#ask(attributes, asked);
      if (allowed) continue;
      const why = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`;
      throw admissionForbidden(attributes, why);
    }
  }

  #ask({ user }: AdmissionAttributes, asked: Asked): AuthorizationDecision {
    return this.#options.authorizer.authorize({ ...asked, user, isResource: true, path: '' });
  }
}

const EVERYTHING: Asked = {
  verb: 'update',
  group: '*',
  resource: '*',
  subresource: 'finalizers',
  namespace: '',
  name: '*',
};

function referencesOf(object: KubeObject | undefined): readonly OwnerReference[] {
  return object?.metadata?.ownerReferences ?? [];
}

/** References that newly block the deletion of their owner. */
function newlyBlocking(
  next: readonly OwnerReference[],
  previous: readonly OwnerReference[],
): readonly OwnerReference[] {
  return next.filter(
    ({ uid, blockOwnerDeletion }) =>
      blockOwnerDeletion === true && previous.findLast((old) => old.uid === uid)?.blockOwnerDeletion !== true,
  );
}
