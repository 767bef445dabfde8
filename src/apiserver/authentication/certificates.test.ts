import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ServingCertificates } from './certificates.ts';
import {
  createCertificateAuthority,
  createServingCertificates,
  DEFAULT_SERVING_HOSTS,
  issueClientCertificate,
  issueServingCertificate,
} from './certificates.ts';

const NOW = Date.now();
let counter = 0;
const source = {
  clock: { now: () => NOW },
  random: { bytes: (n: number) => Uint8Array.from({ length: n }, () => (counter = (counter * 73 + 41) % 256)) },
};

describe('createServingCertificates', () => {
  let made: ServingCertificates;
  beforeAll(async () => {
    made = await createServingCertificates({ ...source, hosts: ['api.example.test', '10.1.2.3', 'fd00::7', '::1'] });
  });

  it('API-370 the authority signs itself, is an authority and lives ten years from five minutes ago', () => {
    const ca = new X509Certificate(made.caPem);
    expect(ca.ca).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.checkIssued(ca)).toBe(true);
    expect(ca.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(new Date(ca.validFrom).getTime()).toBe(Math.floor((NOW - 300_000) / 1000) * 1000);
    expect(new Date(ca.validTo).getTime()).toBe(Math.floor((NOW + 3650 * 86_400_000) / 1000) * 1000);
  });

  it('API-370 the serving certificate names every host once and is signed by the authority', () => {
    const ca = new X509Certificate(made.caPem);
    const serving = new X509Certificate(made.certPem);
    expect(serving.ca).toBe(false);
    expect(serving.verify(ca.publicKey)).toBe(true);
    expect(serving.checkIssued(ca)).toBe(true);
    expect(new Date(serving.validTo).getTime()).toBe(Math.floor((NOW + 365 * 86_400_000) / 1000) * 1000);
    for (const host of [...DEFAULT_SERVING_HOSTS, 'api.example.test', '10.1.2.3', 'fd00::7']) {
      expect(isIP(host) === 0 ? serving.checkHost(host) : serving.checkIP(host), host).toBeDefined();
    }
    expect(serving.checkHost('elsewhere.test')).toBeUndefined();
    const names = (serving.subjectAltName ?? '').split(', ');
    expect(new Set(names).size).toBe(names.length);
    expect(serving.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('API-371 the client certificate carries user and groups in its subject', () => {
    const client = new X509Certificate(made.clientCertPem);
    expect(client.subject.split('\n')).toEqual(['O=system:masters', 'CN=kubegc-admin']);
    expect(client.verify(new X509Certificate(made.caPem).publicKey)).toBe(true);
  });

  it('API-370 serial numbers differ and are positive', () => {
    const serials = [made.caPem, made.certPem, made.clientCertPem].map((pem) => new X509Certificate(pem).serialNumber);
    expect(new Set(serials).size).toBe(3);
    for (const serial of serials) expect(Number.parseInt(serial.slice(0, 2), 16)).toBeLessThan(0x80);
  });

  it('API-370 API-371 a TLS handshake with both certificates succeeds and shows the peer subject', async () => {
    const outcome = await handshake(made, { cert: made.clientCertPem, key: made.clientKeyPem });
    expect(outcome).toEqual({ authorized: true, CN: 'kubegc-admin', O: 'system:masters' });
  });

  it('API-371 a client certificate of another authority is not accepted', async () => {
    const foreign = await createServingCertificates(source);
    const outcome = await handshake(made, { cert: foreign.clientCertPem, key: foreign.clientKeyPem });
    expect(outcome.authorized).toBe(false);
  });

  it('API-370 a stored authority issues further certificates', async () => {
    const authority = { certPem: made.caPem, keyPem: made.caKeyPem };
    const ca = new X509Certificate(made.caPem);
    const serving = new X509Certificate((await issueServingCertificate(authority, source)).certPem);
    expect(serving.verify(ca.publicKey)).toBe(true);
    expect(serving.issuer).toBe(ca.subject);
    const client = await issueClientCertificate(authority, {
      ...source,
      commonName: 'jörg',
      organizations: ['dev', 'system:nodes'],
    });
    const outcome = await handshake(made, { cert: client.certPem, key: client.keyPem });
    expect(outcome).toEqual({ authorized: true, CN: 'jörg', O: ['dev', 'system:nodes'] });
  });

  it('API-370 two authorities have different names', async () => {
    const names = [await createCertificateAuthority(source), await createCertificateAuthority(source)].map(
      (authority) => new X509Certificate(authority.certPem).subject,
    );
    expect(names[0]).not.toBe(names[1]);
  });
});

interface HandshakeOutcome {
  authorized: boolean;
  CN?: string | undefined;
  O?: string | string[] | undefined;
}

/** Connects a real client to a real server over loopback; returns what the server learned of the client. */
async function handshake(made: ServingCertificates, client: ConnectionOptions): Promise<HandshakeOutcome> {
  const server = createServer({
    cert: made.certPem,
    key: made.keyPem,
    ca: made.caPem,
    requestCert: true,
    rejectUnauthorized: false,
  });
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const accepted = new Promise<TLSSocket>((resolve) => server.once('secureConnection', resolve));
    const { port } = server.address() as AddressInfo;
    const socket = connect({ ...client, host: '127.0.0.1', port, ca: made.caPem });
    await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    const peer = await accepted;
    const subject = peer.getPeerCertificate().subject as unknown as Record<string, string | string[]>;
    const outcome: HandshakeOutcome = peer.authorized
      ? { authorized: true, CN: subject['CN'] as string, O: subject['O'] }
      : { authorized: false };
    socket.destroy();
    peer.destroy();
    return outcome;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
