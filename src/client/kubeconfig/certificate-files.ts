import type { Clock } from '../../base/time/clock.ts';
import type { ClientCertificate, Credentials } from '../http/connect-options.ts';
import { KubeconfigError } from './kubeconfig.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';
import { checkClientCertificate, readPem } from './tls-material.ts';

export interface CertificateFilesOptions {
  /** Path of the certificate. */
  readonly certificate: string;
  /** Path of its key; may be the same file. */
  readonly key: string;
  readonly io: Pick<KubeconfigIo, 'readFile'>;
  readonly clock: Clock;
}

/** Interval between reads, the same as for token files. client-go reads every five minutes, and not earlier after a 401. */
const REREAD_MS = 60_000;
/** Retry interval, because a rotation that writes one file after the other is done soon. */
const RETRY_MS = 1_000;

/**
 * A client certificate and its key, which are read again periodically and after a 401. While the files cannot be read, or do not match
 * because one of them is newer, the last pair is used. Throws {@link KubeconfigError} if there is none at the start.
 */
export async function certificateFiles({
  certificate,
  key,
  io,
  clock,
}: CertificateFilesOptions): Promise<Required<Pick<Credentials, 'certificate' | 'rejected'>>> {
  const read = async (): Promise<ClientCertificate> => {
    const pair = { certPem: await readPem(io, certificate), keyPem: await readPem(io, key) };
    checkClientCertificate(pair);
    return pair;
  };
  let last = await read();
  let nextAt = clock.monotonic() + REREAD_MS;
  let rejected = false;
  let looking: Promise<ClientCertificate> | undefined;
  const look = async (): Promise<ClientCertificate> => {
    // A 401 that arrives during the read may concern the earlier content.
    rejected = false;
    try {
      last = await read();
      nextAt = clock.monotonic() + REREAD_MS;
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error;
      nextAt = clock.monotonic() + RETRY_MS;
    }
    return last;
  };
  return {
    certificate() {
      if (looking === undefined && !rejected && clock.monotonic() < nextAt) return last;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    rejected() {
      rejected = true;
    },
  };
}
