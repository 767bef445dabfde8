import type { KubeObject } from '../../api/meta/object-meta.ts';

/** True for a namespace in which creates are allowed: it is Active and not terminating. */
export function isActiveNamespace(namespace: KubeObject | undefined): boolean {
  const phase = (namespace?.['status'] as { phase?: unknown } | undefined)?.phase;
  return namespace !== undefined && !namespace.metadata?.deletionTimestamp && phase === 'Active';
}
