import { describe, expect, it } from 'vitest';
import { readCertificateRequest } from './certificate-request.ts';
import { certificateRequest } from './certificate-request.fixture.ts';

const pemOf = (base64: string): string => Buffer.from(base64, 'base64').toString();
/** Made by `openssl req -new -newkey rsa:2048 -sigopt rsa_padding_mode:pss -sha384 -subj /O=one/O=two/CN=x`. */
const pss = `-----BEGIN CERTIFICATE REQUEST-----
MIICojCCAVUCAQAwKDEMMAoGA1UECgwDb25lMQwwCgYDVQQKDAN0d28xCjAIBgNV
BAMMAXgwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCdXwBDQ4ggvPet
0dPzDa+vbjdBZSAw/6dcvUbY2V7yC5HzGghqW8itECntbRVW0dUBVOt9EOeRxy12
OAhVGnvBGc+ImpsOZEzQTWydzKGZOQ5yGc25pwHvQiq9SmKKmYqzIyNbFwNeNO2B
+mT/Q8kTrBTN3Xzi3/OAjt4yO7t6oaIVKJAWb99IKyO2qEKeEG+ZajaInPJSKt/S
bYNrKU4vKztjtLsfDWrqlkBCHZcXsBCsvxW4mAnLEg0hTq0d7QxHfEWow4U0cmrX
kbtbjoydmo1RRO5+EQ39dN0XL8GXjfXYCWXJcw7F2vVMkK0iXCoejjVB6UxRNHOY
lkrbQWYLAgMBAAGgADBCBgkqhkiG9w0BAQowNaAPMA0GCWCGSAFlAwQCAgUAoRww
GgYJKoZIhvcNAQEIMA0GCWCGSAFlAwQCAgUAogQCAgDOA4IBAQAe8MFyBRQ0lJxQ
JUGdY9TDDKmDAY07RXxODGsUixOX3lPTwfC+LmLNXF/yS24H0lkjW4NKwdUCtBAT
JdSCbblYJ5tCOhdn2IjYrGbjn9uIeuWdwMY8xaJiDRJsR30xmsIW9cJV1X/QBxG8
1FdZIzjuqyK+SxxeIqBRBqnn9MuDV2lrE6udOHxp9bYnG0OZWv2r8smc9zpPlTrq
mddpTkpe50BfumKDVlNsG+nrpv8StGk5mtZRWegNySg30YOq/B29fHT780VrLRQb
SLM2tfTVe+/S59KQkNaDn7/VXBDCX7wF5WkH0qOJFLPHuwWgwguRTLqkxjQDdTya
1HDBTMFT
-----END CERTIFICATE REQUEST-----`;

describe('readCertificateRequest', () => {
  it.each(['ed25519', 'ec', 'rsa'] as const)('API-340 reads the organizations of a request of an %s key', (key) => {
    const request = certificateRequest({ organizations: ['one', 'zwö'], commonName: 'x'.repeat(200) }, key);
    expect(readCertificateRequest(pemOf(request))).toEqual({ organizations: ['one', 'zwö'] });
  });

  it('API-340 reads a name of two bytes a character', () => {
    const request = Buffer.from(
      pemOf(certificateRequest({ organizations: ['\0a\0b'] }))
        .split('\n')
        .slice(1, -2)
        .join(''),
      'base64',
    );
    const at = request.indexOf(Buffer.from('0c040061', 'hex'));
    request[at] = 0x1e;
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    expect(readCertificateRequest(pem).organizations).toEqual(['ab']);
  });

  it('API-340 reads what another program has made, with text around it', () => {
    expect(readCertificateRequest(`hello\n${pss}\nbye`)).toEqual({ organizations: ['one', 'two'] });
  });

  it.each([
    ['ed25519', 'x509: Ed25519 verification failure'],
    ['ec', 'x509: ECDSA verification failure'],
    ['rsa', 'crypto/rsa: verification error'],
  ] as const)('API-340 a request that another %s key has signed proves nothing', (key, signatureFault) => {
    const request = certificateRequest({ organizations: ['a'], forged: true }, key);
    expect(readCertificateRequest(pemOf(request))).toEqual({ organizations: ['a'], signatureFault });
  });

  it.each([
    ['', 'PEM block type must be CERTIFICATE REQUEST'],
    ['nonsense', 'PEM block type must be CERTIFICATE REQUEST'],
    [pemOf(certificateRequest({ type: 'CERTIFICATE' })), 'PEM block type must be CERTIFICATE REQUEST'],
    [
      '-----BEGIN CERTIFICATE REQUEST-----\nMIH9\n-----END CERTIFICATE REQUEST-----',
      'asn1: syntax error: data truncated',
    ],
    [
      '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----',
      'asn1: syntax error: sequence truncated',
    ],
    [
      '-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----',
      "asn1: structure error: tags don't match",
    ],
    [
      '-----BEGIN CERTIFICATE REQUEST-----\nMAAwAA==\n-----END CERTIFICATE REQUEST-----',
      'asn1: syntax error: trailing data',
    ],
  ])('API-340 %j is none', (pem, why) => {
    expect(() => readCertificateRequest(pem)).toThrow(why);
  });

  it.each([
    ['BMPString', 0x1e],
    ['UniversalString', 0x1c],
    ['GeneralizedTime', 0x18],
  ])('API-340 an organization that is no %s, but says so, is an error', (_, tag) => {
    const lines = pemOf(certificateRequest({ organizations: ['a'] }, 'ec'))
      .trim()
      .split('\n');
    const der = Buffer.from(lines.slice(1, -1).join(''), 'base64');
    const organization = der.indexOf(Buffer.from([0x55, 0x04, 0x0a])) + 3;
    der[organization] = tag;
    const changed = `${lines[0]}\n${der.toString('base64')}\n${lines.at(-1)}`;
    expect(() => readCertificateRequest(changed)).toThrow('asn1: syntax error: invalid value');
  });

  it('API-340 a request that is cut anywhere, or has a byte changed, is an error or proves nothing', () => {
    const lines = pemOf(certificateRequest({ organizations: ['a'] }, 'ec'))
      .trim()
      .split('\n');
    const der = Buffer.from(lines.slice(1, -1).join(''), 'base64');
    const wrapped = (bytes: Buffer): string => `${lines[0]}\n${bytes.toString('base64')}\n${lines.at(-1)}`;
    for (let at = 0; at < der.length; at++) {
      expect(() => readCertificateRequest(wrapped(der.subarray(0, at)))).toThrow(/^asn1: /);
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ 0x55;
      let proven = false;
      try {
        proven = readCertificateRequest(wrapped(changed)).signatureFault === undefined;
      } catch (error) {
        expect(String(error)).toMatch(/asn1: /);
      }
      expect([at, proven]).toEqual([at, false]);
    }
  });
});
