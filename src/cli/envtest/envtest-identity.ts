import { X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signingKeyOf } from '../../apiserver/authentication/json-web-signature.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import type { GoFlags } from '../flags/go-flags.ts';
import { type IdentityOptions, type PreparedIdentity, prepareIdentity } from '../cluster/identity.ts';

/** The directory of kube-apiserver's serving certificate, and the name of its files. */
const DEFAULT_CERT_DIR = '/var/run/kubernetes';
const SERVING = 'apiserver';

/**
 * The identity from kube-apiserver's flags: the serving pair of `--tls-cert-file` and `--tls-private-key-file`, or `apiserver.crt` and
 * `apiserver.key` in `--cert-dir`, which are created if missing; the client authority of `--client-ca-file`; the key of
 * `--service-account-signing-key-file`.
 */
export async function identityOfFlags(
  flags: GoFlags,
  options: Omit<IdentityOptions, 'directory'> & { readonly logger: Logger },
): Promise<PreparedIdentity> {
  const { identity } = await prepareIdentity(options);
  const serving = (await givenServing(flags)) ?? (await keptServing(flags, identity.serving));
  const clientCa = await fileOf(flags, 'client-ca-file');
  const authority = { ...identity.authority, certPem: clientCa ?? identity.authority.certPem };
  const serviceAccountKeyPem = await signingKey(flags, options.logger);
  return {
    identity: {
      ...identity,
      serving,
      authority,
      ...(serviceAccountKeyPem === undefined ? {} : { serviceAccountKeyPem }),
    },
    keep: () => Promise.resolve(),
  };
}

interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

async function givenServing(flags: GoFlags): Promise<Pair | undefined> {
  const [certPem, keyPem] = [await fileOf(flags, 'tls-cert-file'), await fileOf(flags, 'tls-private-key-file')];
  if ((certPem === undefined) !== (keyPem === undefined)) {
    throw new CommandError('--tls-cert-file and --tls-private-key-file belong together');
  }
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}

/** The pair in the directory of certificates, or a new pair, which is written there for clients. */
async function keptServing(flags: GoFlags, fresh: Pair): Promise<Pair> {
  const directory = flags.value('cert-dir');
  const file = (ending: string): string => join(directory ?? DEFAULT_CERT_DIR, `${SERVING}.${ending}`);
  const [certPem, keyPem] = await Promise.all(
    ['crt', 'key'].map((ending) => readFile(file(ending), 'utf8').catch(() => undefined)),
  );
  if (certPem !== undefined && keyPem !== undefined) return { certPem, keyPem };
  if (directory === undefined) return fresh;
  try {
    await mkdir(directory, { recursive: true });
    await writeFileAtomically(file('key'), fresh.keyPem, 0o600);
    await writeFileAtomically(file('crt'), fresh.certPem, 0o644);
  } catch (error) {
    throw new CommandError(`cannot write into --cert-dir ${directory}: ${systemReason(error)}`, undefined, {
      cause: error,
    });
  }
  return fresh;
}

/** Only ECDSA keys are supported, so for others the tokens of service accounts are signed by a new key. */
async function signingKey(flags: GoFlags, logger: Logger): Promise<string | undefined> {
  const pem = await fileOf(flags, 'service-account-signing-key-file');
  if (pem === undefined) return undefined;
  try {
    signingKeyOf(pem);
    return pem;
  } catch (error) {
    const reason = messageOf(error);
    logger.warn('the key of service accounts is no ECDSA P-256 key, another one is used', { reason });
    return undefined;
  }
}

async function fileOf(flags: GoFlags, flag: string): Promise<string | undefined> {
  const path = flags.value(flag);
  if (path === undefined || path === '') return undefined;
  try {
    const text = await readFile(path, 'utf8');
    if (flag.endsWith('ca-file') || flag.endsWith('cert-file')) void new X509Certificate(text);
    return text;
  } catch (error) {
    throw new CommandError(`cannot use --${flag} ${path}: ${systemReason(error)}`, undefined, { cause: error });
  }
}
