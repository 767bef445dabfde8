import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { token?: string } }[];
}

/** Returns the parts of the kubeconfig that kubegc wrote which a client of our own needs. */
export function readKubeconfig(path: string): {
  readonly origin: URL;
  readonly ca: Buffer;
  readonly authorization: string;
} {
  const { clusters, users } = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const cluster = clusters[0]?.cluster;
  if (!cluster) throw new Error(`${path} has no cluster`);
  return {
    origin: new URL(cluster.server),
    ca: Buffer.from(cluster['certificate-authority-data'], 'base64'),
    authorization: `Bearer ${users[0]?.user.token ?? ''}`,
  };
}
