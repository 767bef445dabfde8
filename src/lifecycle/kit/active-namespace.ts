import type { KubeObject } from '../../api/meta/object-meta.ts';
import { hasStatusCause } from '../../api/status-error.ts';

/** True for a namespace in which creates are allowed: it is Active and not terminating. */
export function isActiveNamespace(namespace: KubeObject | undefined): boolean {
  const phase = (namespace?.['status'] as { phase?: unknown } | undefined)?.phase;
  return namespace !== undefined && !namespace.metadata?.deletionTimestamp && phase === 'Active';
}

/** True if a create was refused because its namespace is terminating, so that no create there will succeed (LIFE-011). */
export function isNamespaceTerminating(error: unknown): boolean {
  return hasStatusCause(error, 'NamespaceTerminating');
}
