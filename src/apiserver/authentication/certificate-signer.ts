import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
} from '@peculiar/asn1-x509';

/** Builds and signs one X.509 certificate (RFC 5280). Only this module loads the ASN.1 library; `certificates.ts` imports it on demand. */
export interface CertificateRequest {
  readonly subject: CertificateSubject;
  readonly usage: CertificateUsage;
  /** At most 20 bytes. It is made positive and of fixed length here. */
  readonly serial: Uint8Array;
  /** Fractions of a second are ignored. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The signer. If absent, the certificate is self-signed. */
  readonly authority?: KeyCertificate;
}

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export type CertificateUsage =
  | { readonly for: 'authority' }
  | { readonly for: 'server'; readonly hosts: readonly string[] }
  | { readonly for: 'client' };

/** A certificate and its key as PEM text (key: PKCS #8). */
export interface KeyCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

const OID_ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const OID_COMMON_NAME = '2.5.4.3';
const OID_ORGANIZATION = '2.5.4.10';

export function signCertificate(request: CertificateRequest): KeyCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = request.authority === undefined ? undefined : new X509Certificate(request.authority.certPem);
  const subject = nameOf(request.subject);
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: OID_ECDSA_WITH_SHA256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBufferOf(positive(request.serial)),
    signature: signatureAlgorithm,
    issuer: issuer === undefined ? subject : subjectOf(issuer),
    validity: new Validity({ notBefore: wholeSeconds(request.notBefore), notAfter: wholeSeconds(request.notAfter) }),
    subject,
    subjectPublicKeyInfo: publicKeyInfo(publicKey),
    extensions: new Extensions([
      ...usageExtensions(request.usage),
      extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyIdentifier(publicKey))),
      extension(
        id_ce_authorityKeyIdentifier,
        new AuthorityKeyIdentifier({
          keyIdentifier: new KeyIdentifier(keyIdentifier(issuer === undefined ? publicKey : issuer.publicKey)),
        }),
      ),
    ]),
  });
  const signingKey = request.authority === undefined ? privateKey : createPrivateKey(request.authority.keyPem);
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signingKey);
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm,
    signatureValue: arrayBufferOf(signature),
  });
  return {
    certPem: pemOf('CERTIFICATE', AsnConvert.serialize(certificate)),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function usageExtensions(usage: CertificateUsage): Extension[] {
  switch (usage.for) {
    case 'authority':
      return [
        extension(id_ce_basicConstraints, new BasicConstraints({ cA: true }), 'critical'),
        extension(
          id_ce_keyUsage,
          new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign),
          'critical',
        ),
      ];
    case 'server':
      return [
        ...leafExtensions(id_kp_serverAuth),
        extension(id_ce_subjectAltName, new SubjectAlternativeName(usage.hosts.map(alternativeName))),
      ];
    case 'client':
      return leafExtensions(id_kp_clientAuth);
  }
}

function leafExtensions(purpose: string): Extension[] {
  return [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), 'critical'),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), 'critical'),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([purpose])),
  ];
}

function alternativeName(host: string): GeneralName {
  return isIP(host) === 0 ? new GeneralName({ dNSName: host }) : new GeneralName({ iPAddress: host });
}

function extension(id: string, value: object, weight: 'critical' | 'optional' = 'optional'): Extension {
  return new Extension({
    extnID: id,
    critical: weight === 'critical',
    extnValue: new OctetString(AsnConvert.serialize(value)),
  });
}

/** Organizations first, then the common name, which is Go's order in a subject. */
function nameOf(subject: CertificateSubject): Name {
  const parts = [
    ...subject.organizations.map((organization) => [OID_ORGANIZATION, organization] as const),
    [OID_COMMON_NAME, subject.commonName] as const,
  ];
  return new Name(
    parts.map(
      ([type, text]) =>
        new RelativeDistinguishedName([
          new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String: text }) }),
        ]),
    ),
  );
}

function subjectOf(certificate: X509Certificate): Name {
  return AsnConvert.parse(arrayBufferOf(certificate.raw), Certificate).tbsCertificate.subject;
}

function publicKeyInfo(key: KeyObject): SubjectPublicKeyInfo {
  const der = createPublicKey(key.export({ type: 'spki', format: 'pem' })).export({ type: 'spki', format: 'der' });
  return AsnConvert.parse(arrayBufferOf(der), SubjectPublicKeyInfo);
}

/** The leftmost 160 bits of the SHA-256 of the key bits (RFC 7093, method 1). */
function keyIdentifier(key: KeyObject): ArrayBuffer {
  const bits = new Uint8Array(publicKeyInfo(key).subjectPublicKey);
  return arrayBufferOf(createHash('sha256').update(bits).digest().subarray(0, 20));
}

function positive(serial: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(serial);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function wholeSeconds(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function pemOf(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
