import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from '@peculiar/asn1-x509';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CertificateUsage, type KeyCertificate, signCertificate } from './certificate-signer.ts';

/** An ASN.1 library that knows nothing of ours reads every certificate, and writes it back byte by byte. */
function read({ certPem }: KeyCertificate): Certificate {
  const { raw } = new X509Certificate(certPem);
  const certificate = AsnConvert.parse(raw, Certificate);
  expect(Buffer.from(AsnConvert.serialize(certificate)).equals(raw)).toBe(true);
  return certificate;
}

const validity = { notBefore: new Date('2026-01-02T03:04:05.678Z'), notAfter: new Date('2036-01-02T03:04:05.678Z') };
const sign = (usage: CertificateUsage, authority?: KeyCertificate, commonName = 'someone'): KeyCertificate =>
  signCertificate({
    subject: { commonName, organizations: ['one', 'two'] },
    usage,
    serial: Uint8Array.of(0, 1, 2, 3),
    ...validity,
    ...(authority === undefined ? {} : { authority }),
  });

function extension<T>({ tbsCertificate }: Certificate, id: string, type: new () => T): [T, boolean] {
  const found = tbsCertificate.extensions?.find(({ extnID }) => extnID === id);
  if (found === undefined) throw new Error(`no extension ${id}`);
  return [AsnConvert.parse(found.extnValue.buffer, type), found.critical];
}

describe('signCertificate (API-370)', () => {
  const authority = sign({ for: 'authority' });

  it('makes an authority', () => {
    const certificate = read(authority);
    const [constraints, isCritical] = extension(certificate, id_ce_basicConstraints, BasicConstraints);
    const [keyUsage] = extension(certificate, id_ce_keyUsage, KeyUsage);
    expect([constraints.cA, isCritical]).toEqual([true, true]);
    expect(keyUsage.toNumber()).toBe(
      KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign,
    );
    expect(certificate.tbsCertificate.version).toBe(2);
    expect(certificate.tbsCertificate.extensions?.map(({ extnID }) => extnID)).not.toContain(id_ce_extKeyUsage);
  });

  it.each([
    [{ for: 'client' } as const, '1.3.6.1.5.5.7.3.2'],
    [{ for: 'server', hosts: ['a.test'] } as const, '1.3.6.1.5.5.7.3.1'],
  ])('makes a leaf for %j that signs nothing and points to who signed it', (usage, purpose) => {
    const certificate = read(sign(usage, authority));
    const [constraints, isCritical] = extension(certificate, id_ce_basicConstraints, BasicConstraints);
    const [keyUsage] = extension(certificate, id_ce_keyUsage, KeyUsage);
    const [purposes] = extension(certificate, id_ce_extKeyUsage, ExtendedKeyUsage);
    const [signedBy] = extension(certificate, id_ce_authorityKeyIdentifier, AuthorityKeyIdentifier);
    const [signer] = extension(read(authority), id_ce_subjectKeyIdentifier, SubjectKeyIdentifier);
    expect([constraints.cA, isCritical]).toEqual([false, true]);
    expect(keyUsage.toNumber()).toBe(KeyUsageFlags.digitalSignature);
    expect([...purposes]).toEqual([purpose]);
    expect(Buffer.from(signedBy.keyIdentifier?.buffer ?? new ArrayBuffer())).toEqual(Buffer.from(signer.buffer));
    expect(certificate.tbsCertificate.issuer).toEqual(read(authority).tbsCertificate.subject);
    expect(new X509Certificate(authority.certPem).checkIssued(new X509Certificate(authority.certPem))).toBe(true);
  });

  it('names hosts and addresses of every form', () => {
    const hosts = ['a.test', '10.1.2.3', '::', '::1', 'fd00::7', '1:2:3:4:5:6:7:8', '::ffff:10.0.0.1', 'fe80::1'];
    const [names] = extension(
      read(sign({ for: 'server', hosts }, authority)),
      id_ce_subjectAltName,
      SubjectAlternativeName,
    );
    expect(names.map(({ dNSName, iPAddress }) => dNSName ?? iPAddress)).toEqual([
      'a.test',
      '10.1.2.3',
      '::',
      '::1',
      'fd00::7',
      '1:2:3:4:5:6:7:8',
      '::ffff:a00:1',
      'fe80::1',
    ]);
    const certificate = new X509Certificate(sign({ for: 'server', hosts }, authority).certPem);
    for (const host of hosts.slice(1)) expect(certificate.checkIP(host), host).toBeDefined();
  });

  it.each([
    ['2026-01-02T03:04:05.678Z', '2049-12-31T23:59:59.999Z'],
    ['2049-12-31T23:59:59.000Z', '2050-01-01T00:00:00.000Z'],
    ['2050-01-01T00:00:00.000Z', '9999-12-31T23:59:59.000Z'],
  ])('is valid from %s to %s: the form of the time changes with 2050 (RFC 5280 4.1.2.5)', (from, to) => {
    const made = signCertificate({
      subject: { commonName: 'x', organizations: [] },
      usage: { for: 'client' },
      serial: Uint8Array.of(1),
      notBefore: new Date(from),
      notAfter: new Date(to),
    });
    const { notBefore, notAfter } = read(made).tbsCertificate.validity;
    const wholeSeconds = (text: string): string => text.replace(/\.\d+/, '.000');
    expect(notBefore.getTime().toISOString()).toBe(wholeSeconds(from));
    expect(notAfter.getTime().toISOString()).toBe(wholeSeconds(to));
    const form = (text: string): string => (text < '2050' ? 'utcTime' : 'generalTime');
    const formOf = ({ utcTime }: typeof notBefore): string => (utcTime === undefined ? 'generalTime' : 'utcTime');
    expect([formOf(notBefore), formOf(notAfter)]).toEqual([form(from), form(to)]);
  });

  it('takes any subject and serial number', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(text, fc.uint8Array({ minLength: 1, maxLength: 20 }), (commonName, serial) => {
        const made = signCertificate({
          subject: { commonName, organizations: [commonName] },
          usage: { for: 'client' },
          serial,
          ...validity,
          authority,
        });
        const { subject, serialNumber } = read(made).tbsCertificate;
        const parts = [...subject].flatMap((names) => [...names]);
        expect(parts.map(({ value }) => value.utf8String)).toEqual([commonName, commonName]);
        expect(new Uint8Array(serialNumber)).toHaveLength(serial.length);
        expect((new Uint8Array(serialNumber)[0] ?? 0) & 0xc0).toBe(0x40);
      }),
      { numRuns: 50 },
    );
  });

  it('refuses an authority that is cut short', () => {
    const { raw } = new X509Certificate(authority.certPem);
    const certPem = `-----BEGIN CERTIFICATE-----\n${raw.subarray(0, -20).toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect(() => sign({ for: 'client' }, { certPem, keyPem: authority.keyPem })).toThrow();
  });
});
