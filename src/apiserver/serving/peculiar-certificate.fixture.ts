import { createHash, createPrivateKey, sign } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AttributeTypeAndValue,
  AttributeValue,
  Certificate,
  Name,
  RelativeDistinguishedName,
} from '@peculiar/asn1-x509';

export interface PeculiarCertificate {
  readonly cert: string;
  readonly key: string;
  /** SHA-256 of the certificate, lower-case hex. */
  readonly fingerprint: string;
}

interface Signed {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The certificate with another subject, from attributes by OID, signed again, for subjects that our signer never writes. */
export function withSubject(
  { certPem, keyPem }: Signed,
  attributes: readonly (readonly [string, string])[],
  authorityKeyPem: string,
): PeculiarCertificate {
  const der = Buffer.from(certPem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const certificate = AsnConvert.parse(Uint8Array.from(der).buffer, Certificate);
  const { tbsCertificate } = certificate;
  tbsCertificate.subject = new Name(
    attributes.map(
      ([type, utf8String]) =>
        new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value: new AttributeValue({ utf8String }) })]),
    ),
  );
  const body = Buffer.from(AsnConvert.serialize(tbsCertificate));
  // Otherwise the library would write its cached bytes.
  delete (certificate as { tbsCertificateRaw?: ArrayBuffer }).tbsCertificateRaw;
  certificate.signatureValue = Uint8Array.from(sign('sha256', body, createPrivateKey(authorityKeyPem))).buffer;
  const signed = Buffer.from(AsnConvert.serialize(certificate));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${signed.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: keyPem,
    fingerprint: createHash('sha256').update(signed).digest('hex'),
  };
}
