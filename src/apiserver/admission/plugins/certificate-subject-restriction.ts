import { messageOf } from '../../../base/errors/thrown.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { GROUP_MASTERS } from '../../authentication/user-info.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../chain/admission-chain.ts';
import { admissionForbidden } from '../chain/admission-forbidden.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

/**
 * Refuses certificates for `system:masters` from the signer that this server trusts, because such a user bypasses RBAC
 * (`plugin/pkg/admission/certificates/subjectrestriction`).
 */
export class CertificateSubjectRestriction implements AdmissionPlugin {
  readonly name = 'CertificateSubjectRestriction';
  readonly operations = ['CREATE'] as const;

  validate(attributes: AdmissionAttributes): void | Promise<void> {
    const { info, subresource, object } = attributes;
    if (info.group !== 'certificates.k8s.io' || info.resource !== 'certificatesigningrequests' || subresource !== '') {
      return;
    }
    const { request = '', signerName } = ((object as KubeObject)['spec'] ?? {}) as Record<string, string | undefined>;
    return signerName === CLIENT_SIGNER ? refuseMasters(request, attributes) : undefined;
  }
}

async function refuseMasters(request: string, attributes: AdmissionAttributes): Promise<void> {
  if (!(await organizationsOf(request, attributes)).includes(GROUP_MASTERS)) return;
  throw admissionForbidden(attributes, `use of ${CLIENT_SIGNER} signer with ${GROUP_MASTERS} group is not allowed`);
}

async function organizationsOf(request: string, attributes: AdmissionAttributes): Promise<readonly string[]> {
  const { readCertificateRequest } = await import('../../authentication/certificate-request.ts');
  try {
    return readCertificateRequest(Buffer.from(request, 'base64').toString('latin1')).organizations;
  } catch (error) {
    throw admissionForbidden(attributes, `failed to parse CSR: ${messageOf(error)}`);
  }
}
