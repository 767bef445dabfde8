import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isActiveNamespace } from '../kit/active-namespace.ts';

/** The objects that every active namespace must have (LIFE-480; upstream `pkg/controller/serviceaccount/serviceaccounts_controller.go`). */
export const DEFAULT_SERVICE_ACCOUNT = 'default';

type ServiceAccountDecision =
  | { readonly verdict: 'create'; readonly object: KubeObject; readonly reason: 'missing' }
  | { readonly verdict: 'nothing'; readonly reason: 'namespace-not-active' | 'exists' };

/** An account that is terminating counts as existing; it is created again once it is gone. */
export function decideServiceAccount(
  namespace: KubeObject | undefined,
  existing: KubeObject | undefined,
): ServiceAccountDecision {
  if (!isActiveNamespace(namespace)) return { verdict: 'nothing', reason: 'namespace-not-active' };
  if (existing) return { verdict: 'nothing', reason: 'exists' };
  const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEFAULT_SERVICE_ACCOUNT } };
  return { verdict: 'create', object, reason: 'missing' };
}
