import type { Identity } from '../../types/identity.ts';

/** Examples: `Pod default/web-1`, `ReplicaSet.apps default/web`, `Node n1` */
export function objectName({ apiVersion, kind, namespace, name }: Omit<Identity, 'uid'>): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
  return `${kind}${group} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
