import type { AdmissionAttributes, AdmissionPlugin } from '../../apiserver/admission/chain/admission-chain.ts';
import { admissionForbidden } from '../../apiserver/admission/chain/admission-forbidden.ts';
import { newInternalError } from '../../api/status-error.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { Guard } from '../../cascade/guard/guard.ts';
import type { GuardRequest } from '../../cascade/guard/guard-request.ts';

/**
 * The guard inside the embedded server (CAS-070). It refuses a request that it cannot judge, because its lists come from its own server.
 */
export class GuardAdmission implements AdmissionPlugin {
  readonly name = 'KubegcGuard';
  readonly operations = ['CREATE', 'UPDATE', 'DELETE'] as const;
  readonly #guard: () => Guard;

  constructor(guard: () => Guard) {
    this.#guard = guard;
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    // Most writes are creates, and only an eviction among them deletes.
    if (attributes.operation === 'CREATE' && attributes.subresource !== 'eviction') return undefined;
    return this.#validate(attributes);
  }

  async #validate(attributes: AdmissionAttributes): Promise<void> {
    const verdict = await this.#guard()
      .answer(requestOf(attributes))
      .catch((error: unknown) => {
        throw newInternalError(`the guard could not read the cluster: ${messageOf(error)}`);
      });
    for (const warning of verdict.warnings) attributes.warn(warning);
    attributes.annotate('guard.kubegc.io/reason', verdict.reason);
    if (verdict.verdict === 'deny') throw admissionForbidden(attributes, verdict.message);
  }
}

function requestOf(attributes: AdmissionAttributes): GuardRequest {
  const { info, operation, subresource, namespace, name, user, dryRun, options, object, oldObject } = attributes;
  const { group, version, resource } = info;
  return {
    operation,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    user: { username: user.username, groups: user.groups },
    dryRun,
    options: operation === 'DELETE' ? (options as GuardRequest['options']) : undefined,
    object,
    oldObject,
  };
}
