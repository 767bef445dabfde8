import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import { deepEqual } from '../../../base/collections/deep-equal.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';

const GROUP = 'certificates.k8s.io';

interface SigningRequest extends KubeObject {
  spec?: { signerName?: string };
  status?: { certificate?: string; conditions?: unknown };
}

/** Requires the verb `approve` for the signer of a CertificateSigningRequest, in addition to the right to write the approval. */
export class CertificateApproval implements AdmissionPlugin {
  readonly name = 'CertificateApproval';
  readonly operations = ['UPDATE'] as const;
  readonly #authorizer: Authorizer;

  constructor({ authorizer }: { readonly authorizer: Authorizer }) {
    this.#authorizer = authorizer;
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isUpdateOf(attributes, 'approval')) return;
    requireSigner(this.#authorizer, attributes, 'approve');
  }
}

/**
 * Requires the verb `sign` for the signer, in addition to the right to write the status, of a user who issues a certificate or reports a
 * failure.
 */
export class CertificateSigning implements AdmissionPlugin {
  readonly name = 'CertificateSigning';
  readonly operations = ['UPDATE'] as const;
  readonly #authorizer: Authorizer;

  constructor({ authorizer }: { readonly authorizer: Authorizer }) {
    this.#authorizer = authorizer;
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isUpdateOf(attributes, 'status')) return;
    const [next, previous] = [attributes.object, attributes.oldObject] as (SigningRequest | undefined)[];
    const issued = ({ status }: SigningRequest = {}) => [status?.certificate, status?.conditions];
    if (deepEqual(issued(next), issued(previous))) return;
    requireSigner(this.#authorizer, attributes, 'sign');
  }
}

function isUpdateOf({ info, subresource }: AdmissionAttributes, part: string): boolean {
  const isRequest = info.group === GROUP && info.resource === 'certificatesigningrequests';
  return isRequest && subresource === part;
}

/** The signer of the stored request decides. A right to `domain/*` covers every signer of the domain. */
function requireSigner(authorizer: Authorizer, attributes: AdmissionAttributes, verb: 'approve' | 'sign'): void {
  const signer = (attributes.oldObject as SigningRequest | undefined)?.spec?.signerName ?? '';
  const slash = signer.indexOf('/');
  const names = [signer, ...(slash < 0 ? [] : [`${signer.slice(0, slash)}/*`])];
  const asked = { user: attributes.user, verb, isResource: true, path: '', group: GROUP, resource: 'signers' };
  const allowed = names.some(
    (name) => authorizer.authorize({ ...asked, version: '*', subresource: '', namespace: '', name }).allowed,
  );
  if (allowed) return;
  throw admissionForbidden(attributes, `user not permitted to ${verb} requests with signerName ${quoted(signer)}`);
}
