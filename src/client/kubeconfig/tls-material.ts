import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ClientCertificate } from '../http/connect-options.ts';
import { KubeconfigError } from './kubeconfig.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';

/** Reads a file that the kubeconfig names. Throws {@link KubeconfigError}. */
export async function readPem(io: Pick<KubeconfigIo, 'readFile'>, path: string): Promise<string> {
  try {
    return await io.readFile(path);
  } catch (error) {
    throw new KubeconfigError(`unable to read ${path}`, { cause: error });
  }
}

/**
 * Checks certificates before a connection uses them, because later TLS errors do not name the certificate. `where` is the field or file.
 * Throws {@link KubeconfigError}.
 */
export function checkAuthority(pem: string, where: string): void {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new KubeconfigError(`${where} has no certificate in it: PEM is expected, -----BEGIN CERTIFICATE-----`);
  }
}

/** Also refuses a certificate and key that do not match. */
export function checkClientCertificate({ certPem, keyPem }: ClientCertificate): void {
  try {
    createSecureContext({ cert: certPem, key: keyPem });
  } catch (error) {
    throw new KubeconfigError(`the client certificate and its key are no usable pair in PEM: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
