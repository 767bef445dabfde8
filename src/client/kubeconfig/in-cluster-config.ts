import type { Clock } from '../../base/time/clock.ts';
import type { ClientConfig } from '../http/connect-options.ts';
import type { KubeconfigIo } from './kubeconfig-io.ts';
import { tokenFile } from './token-file.ts';

/** The directory of a pod's service account files (client-go `rest.InClusterConfig`). */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The API server of the cluster in whose pod this runs; undefined outside of a cluster. */
export async function inClusterConfig({
  io,
  clock,
}: {
  readonly io: Pick<KubeconfigIo, 'env' | 'readFile'>;
  readonly clock: Clock;
}): Promise<ClientConfig | undefined> {
  const host = io.env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = io.env['KUBERNETES_SERVICE_PORT'] ?? '';
  if (host === '' || port === '') return undefined;
  const caPem = await io.readFile(`${SERVICE_ACCOUNT}/ca.crt`);
  const namespace = await io.readFile(`${SERVICE_ACCOUNT}/namespace`).catch(() => 'default');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caPem,
    namespace: namespace.trim(),
    source: 'in-cluster',
    credentials: tokenFile({ path: `${SERVICE_ACCOUNT}/token`, io, clock }),
  };
}
