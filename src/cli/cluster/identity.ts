import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { Clock } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import {
  ADMIN_COMMON_NAME,
  ADMIN_ORGANIZATION,
  createCertificateAuthority,
  DEFAULT_SERVING_HOSTS,
  issueClientCertificate,
  issueServingCertificate,
} from '../../apiserver/authentication/certificates.ts';
import { CommandError } from '../process/command-error.ts';

interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The certificates and keys of the server and of the administrator, created once and kept in the data directory. */
export interface Identity {
  readonly authority: Pair;
  readonly serving: Pair;
  readonly admin: Pair;
  readonly adminToken: string;
  /** PEM, ECDSA P-256. It signs the tokens of service accounts. */
  readonly serviceAccountKeyPem: string;
}

/** The storage of an identity. */
export interface IdentityFiles {
  read(name: string): Promise<string | undefined>;
  write(name: string, content: string): Promise<void>;
}

export interface IdentityOptions {
  /** The directory of the files. If absent, the identity lives only as long as the process. */
  readonly directory?: IdentityFiles;
  readonly clock: Clock;
  readonly random: Random;
  /** More addresses of the server, in addition to loopback. */
  readonly hosts: readonly string[];
}

/** A file in the data directory. Without it, all existing service account tokens are invalid. */
const SERVICE_ACCOUNT_KEY = 'sa.key';

/** A certificate that expires sooner is replaced at start. */
const RENEW_BEFORE_MS = 30 * 24 * 60 * 60_000;

/** Pairs by file name, and the token, from the directory. */
async function readAll(directory: IdentityFiles | undefined) {
  const read = (name: string): Promise<string | undefined> =>
    directory === undefined ? Promise.resolve(undefined) : directory.read(name);
  const pair = async (name: string): Promise<Pair | undefined> => {
    const [certPem, keyPem] = await Promise.all([read(`${name}.crt`), read(`${name}.key`)]);
    return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
  };
  const [ca, server, admin, token, serviceAccountKey] = await Promise.all([
    pair('ca'),
    pair('server'),
    pair('admin'),
    read('admin.token'),
    read(SERVICE_ACCOUNT_KEY),
  ]);
  return { ca, server, admin, token: token?.trim(), serviceAccountKey };
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

/** False after a crash between the two files of a pair. */
function belongTogether(certificate: X509Certificate, { keyPem }: Pair): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(keyPem));
  } catch {
    return false;
  }
}

/** An identity that may have new parts. */
export interface PreparedIdentity {
  readonly identity: Identity;
  /** Writes new parts into the data directory. The caller must hold the lock of its store. */
  keep(): Promise<void>;
}

/**
 * Uses valid stored files, and creates the rest. Only a new authority invalidates old kubeconfigs. Writes nothing, so that it can run while
 * the store, with the lock of the directory, is being opened.
 */
export async function prepareIdentity(options: IdentityOptions): Promise<PreparedIdentity> {
  const { directory, clock, hosts } = options;
  const kept = await readAll(directory);
  const fresh = new Map<string, string>();
  const make = async (name: string, made: Promise<Pair>): Promise<Pair> => {
    const pair = await made;
    fresh.set(`${name}.key`, pair.keyPem).set(`${name}.crt`, pair.certPem);
    return pair;
  };
  const reuse = (
    pair: Pair | undefined,
    name: string,
    good: (certificate: X509Certificate) => boolean,
  ): Pair | undefined => {
    if (pair === undefined) return undefined;
    const certificate = parse(pair, name);
    return belongTogether(certificate, pair) && good(certificate) ? pair : undefined;
  };
  const authority =
    reuse(kept.ca, 'ca', (certificate) => lasts(certificate, clock)) ??
    (await make('ca', createCertificateAuthority(options)));
  const issuer = new X509Certificate(authority.certPem);
  const isOurs = (certificate: X509Certificate): boolean =>
    lasts(certificate, clock) && certificate.checkIssued(issuer);
  const allHosts = [...DEFAULT_SERVING_HOSTS, ...hosts];
  const serving =
    reuse(
      kept.server,
      'server',
      (certificate) => isOurs(certificate) && allHosts.every((host) => covers(certificate, host)),
    ) ?? (await make('server', issueServingCertificate(authority, options)));
  const admin =
    reuse(kept.admin, 'admin', isOurs) ??
    (await make(
      'admin',
      issueClientCertificate(authority, {
        ...options,
        commonName: ADMIN_COMMON_NAME,
        organizations: [ADMIN_ORGANIZATION],
      }),
    ));
  const adminToken = kept.token || newToken(options.random);
  if (adminToken !== kept.token) fresh.set('admin.token', `${adminToken}\n`);
  const serviceAccountKeyPem = kept.serviceAccountKey ?? newServiceAccountKey();
  if (kept.serviceAccountKey === undefined) fresh.set(SERVICE_ACCOUNT_KEY, serviceAccountKeyPem);
  return {
    identity: { authority, serving, admin, adminToken, serviceAccountKeyPem },
    keep: async () => {
      await Promise.all([...fresh].map(([name, content]) => directory?.write(name, content)));
    },
  };
}

function newServiceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** 256 random bits, which nobody can guess. */
function newToken(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}
