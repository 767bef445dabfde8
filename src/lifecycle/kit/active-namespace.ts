import type { KubeObject } from '../../api/meta/object-meta.ts';

/** A namespace takes new objects only while it is Active and not being deleted; otherwise a create would be refused. */
export function isActiveNamespace(namespace: KubeObject | undefined): boolean {
  const phase = (namespace?.['status'] as { phase?: unknown } | undefined)?.phase;
  return namespace !== undefined && !namespace.metadata?.deletionTimestamp && phase === 'Active';
}
