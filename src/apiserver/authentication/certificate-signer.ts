import { createHash, createPrivateKey, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import {
  bitString,
  contentOf,
  contextConstructed,
  contextPrimitive,
  elementsOf,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  TRUE,
  utf8String,
} from './der.ts';
import { addressBytes } from './ip-address.ts';

/** Builds and signs one X.509 certificate (RFC 5280). Loaded when the first one is made, by `certificates.ts`. */
export interface CertificateRequest {
  readonly subject: CertificateSubject;
  readonly usage: CertificateUsage;
  /** At most 20 bytes; made positive and of fixed length here. */
  readonly serial: Uint8Array;
  /** Whole seconds count. */
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** Who signs; absent: the certificate signs itself. */
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

/** RFC 5280 and RFC 5758. */
const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const VERSION_3 = Buffer.of(2);

export function signCertificate(request: CertificateRequest): KeyCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { authority } = request;
  const issuer = authority === undefined ? undefined : new X509Certificate(authority.certPem);
  const subject = nameOf(request.subject);
  const signatureAlgorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const issuerKey = issuer === undefined ? publicKey : issuer.publicKey;
  const extensions = [
    ...usageExtensions(request.usage),
    extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
    extension(OID.authorityKeyIdentifier, sequence(contextPrimitive(0, keyIdentifier(issuerKey)))),
  ];
  const toBeSigned = sequence(
    contextConstructed(0, integer(VERSION_3)),
    integer(positive(request.serial)),
    signatureAlgorithm,
    issuer === undefined ? subject : subjectOf(issuer),
    sequence(time(request.notBefore), time(request.notAfter)),
    subject,
    publicKeyInfo(publicKey),
    contextConstructed(3, sequence(...extensions)),
  );
  const signature = sign(
    'sha256',
    toBeSigned,
    authority === undefined ? privateKey : createPrivateKey(authority.keyPem),
  );
  return {
    certPem: pemOf('CERTIFICATE', sequence(toBeSigned, signatureAlgorithm, bitString(signature))),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** Bits are counted from the highest of the first byte: digitalSignature 0, keyCertSign 5, cRLSign 6. */
const DIGITAL_SIGNATURE = bitString(Buffer.of(0b1000_0000), 7);
const SIGNATURES_OF_AUTHORITIES = bitString(Buffer.of(0b1000_0110), 1);

function usageExtensions(usage: CertificateUsage): Buffer[] {
  switch (usage.for) {
    case 'authority':
      return [
        extension(OID.basicConstraints, sequence(TRUE), 'critical'),
        extension(OID.keyUsage, SIGNATURES_OF_AUTHORITIES, 'critical'),
      ];
    case 'server':
      return [
        ...leafExtensions(OID.serverAuth),
        extension(OID.subjectAltName, sequence(...usage.hosts.map(alternativeName))),
      ];
    case 'client':
      return leafExtensions(OID.clientAuth);
  }
}

function leafExtensions(purpose: string): Buffer[] {
  return [
    // No authority, which is the default and therefore not written.
    extension(OID.basicConstraints, sequence(), 'critical'),
    extension(OID.keyUsage, DIGITAL_SIGNATURE, 'critical'),
    extension(OID.extKeyUsage, sequence(objectIdentifier(purpose))),
  ];
}

/** GeneralName: dNSName is number 2, iPAddress number 7. */
function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? contextPrimitive(2, Buffer.from(host, 'latin1')) : contextPrimitive(7, addressBytes(host));
}

function extension(id: string, value: Uint8Array, weight: 'critical' | 'optional' = 'optional'): Buffer {
  const critical = weight === 'critical' ? [TRUE] : [];
  return sequence(objectIdentifier(id), ...critical, octetString(value));
}

/** Organizations first, then the common name: the order in which Go writes a subject. */
function nameOf({ organizations, commonName }: CertificateSubject): Buffer {
  const attribute = (type: string, text: string): Buffer => setOf(sequence(objectIdentifier(type), utf8String(text)));
  return sequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

/** Its bytes as they stand there: chains are compared by them. */
function subjectOf({ raw }: X509Certificate): Uint8Array {
  const [toBeSigned] = elementsOf(raw);
  const fields = elementsOf(toBeSigned ?? raw);
  // Version, which only version 1 leaves out; then serial number, algorithm, issuer, validity, subject.
  const subject = fields[fields[0]?.[0] === EXPLICIT_0 ? 5 : 4];
  if (subject === undefined) throw new RangeError('the certificate of the authority has no subject');
  return subject;
}

const EXPLICIT_0 = 0xa0;

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** The leftmost 160 bits of the SHA-256 of the key bits (RFC 7093, method 1). */
function keyIdentifier(key: KeyObject): Buffer {
  const [, bits] = elementsOf(publicKeyInfo(key));
  // The first byte of a bit string says how many bits of the last are unused.
  const keyBits = contentOf(bits ?? Buffer.alloc(0)).subarray(1);
  return createHash('sha256').update(keyBits).digest().subarray(0, 20);
}

function positive(serial: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(serial);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function pemOf(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
