import { generateKeyPairSync, sign } from 'node:crypto';
import { CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';

export interface RequestOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  /** PEM block type. */
  readonly type?: string;
  /** Signs with another key than the requested one. */
  readonly forged?: true;
}

const SIGNED_BY = { ed25519: '1.3.101.112', ec: '1.2.840.10045.4.3.2', rsa: '1.2.840.113549.1.1.11' } as const;
const NAME_TYPES = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** A certificate request with a new key, as PEM in base64, the form of `spec.request` of a CertificateSigningRequest. */
export function certificateRequest(
  { commonName = 'somebody', organizations = [], type = 'CERTIFICATE REQUEST', forged }: RequestOptions = {},
  algorithm: keyof typeof SIGNED_BY = 'ed25519',
): string {
  const [{ publicKey, privateKey }, other] = [keysOf(algorithm), keysOf(algorithm)];
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const certificationRequestInfo = new CertificationRequestInfo({
    subject: new Name([
      ...organizations.map((organization) => nameOf('organization', organization)),
      nameOf('commonName', commonName),
    ]),
    subjectPKInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
  });
  const info = Buffer.from(AsnConvert.serialize(certificationRequestInfo));
  const proof = sign(algorithm === 'ed25519' ? null : 'sha256', info, forged ? other.privateKey : privateKey);
  const request = new CertificationRequest({
    certificationRequestInfo,
    signatureAlgorithm: new AlgorithmIdentifier({ algorithm: SIGNED_BY[algorithm] }),
    signature: Uint8Array.from(proof).buffer,
  });
  const lines =
    Buffer.from(AsnConvert.serialize(request))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  const pem = `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
  return Buffer.from(pem).toString('base64');
}

function keysOf(algorithm: keyof typeof SIGNED_BY): ReturnType<typeof generateKeyPairSync> {
  if (algorithm === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return algorithm === 'ec' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
}

function nameOf(type: keyof typeof NAME_TYPES, text: string): RelativeDistinguishedName {
  const value = new AttributeValue({ utf8String: text });
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type: NAME_TYPES[type], value })]);
}
