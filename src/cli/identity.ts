import { X509Certificate } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import {
  ADMIN_COMMON_NAME,
  ADMIN_ORGANIZATION,
  createCertificateAuthority,
  DEFAULT_SERVING_HOSTS,
  issueClientCertificate,
  issueServingCertificate,
} from '../apiserver/authentication/certificates.ts';
import { CommandError } from './command-error.ts';
import type { DataDirectory } from './data-directory.ts';

interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** By what the server is known and by what the administrator is: made once, kept in the data directory. */
export interface Identity {
  readonly authority: Pair;
  readonly serving: Pair;
  readonly admin: Pair;
  readonly adminToken: string;
}

export interface IdentityOptions {
  /** Absent: everything lives as long as the process. */
  readonly directory?: DataDirectory;
  readonly clock: Clock;
  readonly random: Random;
  /** Where the server is reached beside loopback. */
  readonly hosts: readonly string[];
}

/** A certificate with less left than this is replaced at start. */
const RENEW_BEFORE_MS = 30 * 24 * 60 * 60_000;

async function readPair(directory: DataDirectory | undefined, name: string): Promise<Pair | undefined> {
  const certPem = await directory?.read(`${name}.crt`);
  const keyPem = await directory?.read(`${name}.key`);
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}

function parse(pair: Pair, name: string): X509Certificate {
  try {
    return new X509Certificate(pair.certPem);
  } catch (error) {
    throw new CommandError(
      `${name}.crt in the data directory is not a certificate`,
      `Remove ${name}.crt and ${name}.key; new ones are made at the next start.`,
      { cause: error },
    );
  }
}

const lasts = (certificate: X509Certificate, clock: Clock): boolean =>
  Date.parse(certificate.validTo) - clock.now() > RENEW_BEFORE_MS;

const covers = (certificate: X509Certificate, host: string): boolean =>
  /^[\d.]+$|:/.test(host) ? certificate.checkIP(host) !== undefined : certificate.checkHost(host) !== undefined;

/** What is kept and still good is used; the rest is made anew and kept. Only a new authority invalidates old kubeconfigs. */
export async function loadIdentity(options: IdentityOptions): Promise<Identity> {
  const { directory, clock, hosts } = options;
  const keep = async (name: string, pair: Pair): Promise<Pair> => {
    await directory?.write(`${name}.key`, pair.keyPem);
    await directory?.write(`${name}.crt`, pair.certPem);
    return pair;
  };
  const reuse = async (name: string, good: (certificate: X509Certificate) => boolean): Promise<Pair | undefined> => {
    const pair = await readPair(directory, name);
    return pair && good(parse(pair, name)) ? pair : undefined;
  };
  const authority =
    (await reuse('ca', (certificate) => lasts(certificate, clock))) ??
    (await keep('ca', await createCertificateAuthority(options)));
  const issuer = new X509Certificate(authority.certPem);
  const isOurs = (certificate: X509Certificate): boolean =>
    lasts(certificate, clock) && certificate.checkIssued(issuer);
  const allHosts = [...DEFAULT_SERVING_HOSTS, ...hosts];
  const serving =
    (await reuse(
      'server',
      (certificate) => isOurs(certificate) && allHosts.every((host) => covers(certificate, host)),
    )) ?? (await keep('server', await issueServingCertificate(authority, options)));
  const admin =
    (await reuse('admin', isOurs)) ??
    (await keep(
      'admin',
      await issueClientCertificate(authority, {
        ...options,
        commonName: ADMIN_COMMON_NAME,
        organizations: [ADMIN_ORGANIZATION],
      }),
    ));
  let adminToken = (await directory?.read('admin.token'))?.trim();
  if (!adminToken) {
    adminToken = newToken(options.random);
    await directory?.write('admin.token', `${adminToken}\n`);
  }
  return { authority, serving, admin, adminToken };
}

/** 256 random bits; nobody guesses it. */
export function newToken(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}
