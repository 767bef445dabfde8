import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createCertificateAuthority,
  issueClientCertificate,
  issueServingCertificate,
} from '../../src/apiserver/authentication/certificates.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';

/** Certificates of one authority for an etcd on this machine, in a directory; and what another authority makes of the same. */
export async function etcdCertificates(directory: string) {
  const options = { clock: systemClock, random: systemRandom, hosts: ['127.0.0.1'] };
  const subject = { ...options, commonName: 'kubegc', organizations: [] };
  const [authority, other] = await Promise.all([
    createCertificateAuthority(options),
    createCertificateAuthority(options),
  ]);
  const [server, client, stranger] = await Promise.all([
    issueServingCertificate(authority, options),
    issueClientCertificate(authority, subject),
    issueClientCertificate(other, subject),
  ]);
  const file = async (name: string, pem: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, pem, { mode: 0o600 });
    return path;
  };
  return {
    authority,
    other,
    client,
    stranger,
    files: {
      ca: await file('ca.crt', authority.certPem),
      server: { cert: await file('server.crt', server.certPem), key: await file('server.key', server.keyPem) },
      client: { cert: await file('client.crt', client.certPem), key: await file('client.key', client.keyPem) },
    },
  };
}
