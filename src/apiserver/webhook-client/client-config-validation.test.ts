import { describe, expect, it } from 'vitest';
import { caPem, serverCertPem } from '../../client/http/tls.fixture.ts';
import { validateCaBundle, validateClientConfig } from './client-config-validation.ts';

const bundle = (pem: string): string => Buffer.from(pem).toString('base64');
const errorsOf = (pem: string) => validateCaBundle(bundle(pem), 'spec.caBundle').map(({ message }) => message);
const NONE = [expect.stringMatching(/: unable to load root certificates: unable to parse bytes as PEM block$/)];

describe('validateCaBundle', () => {
  it.each([
    ['one certificate', caPem],
    ['two, with text around them', `hello\n${caPem}\nbetween\n${serverCertPem}bye`],
    ['a certificate beside something else', `-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n${caPem}`],
    ['lines that end as on Windows', caPem.replaceAll('\n', '\r\n')],
  ])('API-464 takes %s', (_what, pem) => {
    expect(errorsOf(pem)).toEqual([]);
  });

  it.each([
    ['no certificate', 'hello'],
    ['one that is none', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    ['one beside one that is none', `${caPem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`],
  ])('API-464 refuses %s', (_what, pem) => {
    expect(errorsOf(pem)).toEqual(NONE);
  });

  it('API-464 reads beginnings without an end once, however many there are', () => {
    expect(errorsOf('-----BEGIN CERTIFICATE-----\n'.repeat(80_000))).toEqual(NONE);
  });
});

describe('validateClientConfig', () => {
  it.each([
    'https://xn--bcher-kva.example/hook',
    'https://xn--a/hook',
    'https://XN--zz99999.example:8443',
    'https://256.256.256.256/hook',
    'https://a.0x/hook',
    'https://b\u00fccher.example/hook',
  ])('API-464 takes %s, because the host is a name for the resolver', (url) => {
    expect(validateClientConfig({ url }, 'clientConfig')).toEqual([]);
  });

  it.each(['https://a b/hook', 'https://a%zz/hook', 'https://xn--a:port/hook', 'https://[::1/hook'])(
    'API-464 refuses %s',
    (url) => {
      expect(validateClientConfig({ url }, 'clientConfig').map(({ message }) => message)).toEqual([
        expect.stringContaining(`url must be a valid URL: parse "${url}"`),
      ]);
    },
  );
});
