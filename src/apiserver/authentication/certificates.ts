import type { Clock } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import type { CertificateRequest, CertificateSubject, KeyCertificate } from './certificate-signer.ts';

/**
 * The server's own certificate authority and the certificates it signs (API-370). All keys are ECDSA P-256, which takes under a millisecond
 * to generate, while an RSA key takes longer than the rest of start-up. This module accesses no files; the caller stores the PEM texts. The
 * ASN.1 library is loaded with the first new certificate, so a server that finds its certificates on disk never loads it.
 */
export interface CertificateSource {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'bytes'>;
}

export interface ServingCertificates {
  readonly caPem: string;
  readonly caKeyPem: string;
  readonly certPem: string;
  readonly keyPem: string;
  readonly clientCertPem: string;
  readonly clientKeyPem: string;
}

export interface ServingCertificatesOptions extends CertificateSource {
  /** More names and addresses of the server, in addition to {@link DEFAULT_SERVING_HOSTS}. */
  readonly hosts?: readonly string[];
}

/** Loopback addresses, and the names of the API server for pods. */
export const DEFAULT_SERVING_HOSTS: readonly string[] = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/** Subject of the client certificate in the written kubeconfig. */
export const ADMIN_COMMON_NAME = 'kubegc-admin';
export const ADMIN_ORGANIZATION = 'system:masters';

const DAY_MS = 24 * 60 * 60_000;
/** Tolerance for clients whose clock is behind. */
const BACKDATE_MS = 5 * 60_000;
const AUTHORITY_VALID_MS = 3650 * DAY_MS;
const LEAF_VALID_MS = 365 * DAY_MS;

/** A new authority, a serving certificate for the default and given hosts, and the administrator's client certificate. */
export async function createServingCertificates(options: ServingCertificatesOptions): Promise<ServingCertificates> {
  const authority = await createCertificateAuthority(options);
  const serving = await issueServingCertificate(authority, options);
  const client = await issueClientCertificate(authority, {
    ...options,
    commonName: ADMIN_COMMON_NAME,
    organizations: [ADMIN_ORGANIZATION],
  });
  return {
    caPem: authority.certPem,
    caKeyPem: authority.keyPem,
    certPem: serving.certPem,
    keyPem: serving.keyPem,
    clientCertPem: client.certPem,
    clientKeyPem: client.keyPem,
  };
}

/** Creates a self-signed authority, valid for ten years. Its name contains a random part, so that the subject distinguishes authorities. */
export async function createCertificateAuthority(source: CertificateSource): Promise<KeyCertificate> {
  const { signCertificate } = await import('./certificate-signer.ts');
  const suffix = Buffer.from(source.random.bytes(4)).toString('hex');
  return signCertificate({
    ...validity(source, AUTHORITY_VALID_MS),
    subject: { commonName: `kubegc-ca-${suffix}`, organizations: [] },
    usage: { for: 'authority' },
  });
}

/** Issues a certificate for a TLS server, valid for one year, with every host in its subject alternative names. */
export async function issueServingCertificate(
  authority: KeyCertificate,
  options: ServingCertificatesOptions,
): Promise<KeyCertificate> {
  const { signCertificate } = await import('./certificate-signer.ts');
  return signCertificate({
    ...validity(options, LEAF_VALID_MS),
    authority,
    subject: { commonName: 'kubegc-apiserver', organizations: [] },
    usage: { for: 'server', hosts: [...new Set([...DEFAULT_SERVING_HOSTS, ...(options.hosts ?? [])])] },
  });
}

/** Issues a certificate for a TLS client, valid for one year. The x509 authenticator reads user and groups from its subject. */
export async function issueClientCertificate(
  authority: KeyCertificate,
  options: CertificateSource & CertificateSubject,
): Promise<KeyCertificate> {
  const { signCertificate } = await import('./certificate-signer.ts');
  return signCertificate({
    ...validity(options, LEAF_VALID_MS),
    authority,
    subject: { commonName: options.commonName, organizations: options.organizations },
    usage: { for: 'client' },
  });
}

function validity(
  source: CertificateSource,
  validMs: number,
): Pick<CertificateRequest, 'serial' | 'notBefore' | 'notAfter'> {
  const now = source.clock.now();
  return {
    serial: source.random.bytes(16),
    notBefore: new Date(now - BACKDATE_MS),
    notAfter: new Date(now + validMs),
  };
}
