import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/errors/thrown.ts';
import type { ClientCertificate } from '../http/connect-options.ts';
import { KubeconfigError } from './kubeconfig.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';

/** The text of a file that the kubeconfig names. Throws {@link KubeconfigError}. */
export async function readPem(io: Pick<KubeconfigIo, 'readFile'>, path: string): Promise<string> {
  try {
    return await io.readFile(path);
  } catch (error) {
    throw new KubeconfigError(`unable to read ${path}`, { cause: error });
  }
}

/**
 * Certificates are checked before a connection uses them, because later errors of TLS do not name the certificate.
 * `where`: the field or file. Throws {@link KubeconfigError}.
 */
export function checkAuthority(pem: string, where: string): void {
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) {
    throw new KubeconfigError(`${where} has no certificate in it: PEM is expected, -----BEGIN CERTIFICATE-----`);
  }
}

/** A pair that does not belong together is refused as well. */
export function checkClientCertificate({ certPem, keyPem }: ClientCertificate): void {
  try {
    createSecureContext({ cert: certPem, key: keyPem });
  } catch (error) {
    throw new KubeconfigError(`the client certificate and its key are no usable pair in PEM: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
