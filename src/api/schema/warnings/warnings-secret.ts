import { pemBlocks } from '../../formats/pem.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt } from '../fields/defaults-fields.ts';

/** Warns about a TLS Secret without a valid certificate or key, in the words of Go's `tls.X509KeyPair`, as kube-apiserver does. */
export function secretWarnings(secret: Fields): string[] {
  if (secret['type'] !== 'kubernetes.io/tls') return [];
  const data = objectAt(secret, 'data');
  const problem = certificateProblem(blockTypes(data?.['tls.crt'])) ?? keyProblem(blockTypes(data?.['tls.key']));
  return problem === undefined ? [] : [problem];
}

/** The types of the PEM blocks in a value of a Secret. */
function blockTypes(value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  return pemBlocks(Buffer.from(value, 'base64').toString('latin1')).map(({ type }) => type);
}

function certificateProblem(types: readonly string[]): string | undefined {
  if (types.includes('CERTIFICATE')) return undefined;
  const [first] = types;
  if (first === undefined) return 'tls: failed to find any PEM data in certificate input';
  if (types.length === 1 && first.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}

function keyProblem(types: readonly string[]): string | undefined {
  if (types.some((type) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))) return undefined;
  const [first] = types;
  if (first === undefined) return 'tls: failed to find any PEM data in key input';
  if (types.length === 1 && first === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(' ')}]`;
}
