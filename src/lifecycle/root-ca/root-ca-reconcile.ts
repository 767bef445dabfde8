import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isActiveNamespace } from '../kit/active-namespace.ts';

/** The ConfigMap with which pods verify the API server (LIFE-481; upstream `pkg/controller/certificates/rootcacertpublisher`). */
export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';

const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'The certificate authority that signed the certificate of this API server, for clients inside the cluster.';

type RootCaDecision =
  | { readonly verdict: 'create' | 'update'; readonly object: KubeObject; readonly reason: 'missing' | 'changed' }
  | { readonly verdict: 'nothing'; readonly reason: 'namespace-not-active' | 'up-to-date' };

export interface RootCaFacts {
  readonly namespace: KubeObject | undefined;
  readonly existing: KubeObject | undefined;
  readonly rootCaPem: string;
}

/** Restores the whole `data`, and the description if it is missing or changed; the rest of the object stays. */
export function decideRootCa({ namespace, existing, rootCaPem }: RootCaFacts): RootCaDecision {
  if (!isActiveNamespace(namespace)) return { verdict: 'nothing', reason: 'namespace-not-active' };
  const data = { 'ca.crt': rootCaPem };
  if (!existing) {
    const metadata = { name: ROOT_CA_CONFIG_MAP, annotations: { [DESCRIPTION_ANNOTATION]: DESCRIPTION } };
    return { verdict: 'create', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, reason: 'missing' };
  }
  const current = (existing['data'] ?? {}) as Record<string, unknown>;
  const sameData = Object.keys(current).length === 1 && current['ca.crt'] === rootCaPem;
  const annotations = existing.metadata?.annotations ?? {};
  if (sameData && annotations[DESCRIPTION_ANNOTATION] === DESCRIPTION)
    return { verdict: 'nothing', reason: 'up-to-date' };
  const metadata = { ...existing.metadata, annotations: { ...annotations, [DESCRIPTION_ANNOTATION]: DESCRIPTION } };
  return { verdict: 'update', object: { ...existing, metadata, data }, reason: 'changed' };
}
