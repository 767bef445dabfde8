import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/**
 * `group/kind` of dependents that Kubernetes' controllers create again, with the kinds of these controllers. ControllerRevisions are not
 * among them, because their controllers create only the current one, and the others are the history.
 */
const REBUILT: Readonly<Record<string, readonly string[]>> = {
  '/Pod': [
    'apps/ReplicaSet',
    'apps/StatefulSet',
    'apps/DaemonSet',
    'batch/Job',
    '/ReplicationController',
    // A node creates its mirror pods, see MIRROR.
    '/Node',
  ],
  'apps/ReplicaSet': ['apps/Deployment'],
  'batch/Job': ['batch/CronJob'],
  'discovery.k8s.io/EndpointSlice': ['/Service'],
  'coordination.k8s.io/Lease': ['/Node'],
};

const MIRROR = 'kubernetes.io/config.mirror';

/** True if the object's controller creates an equivalent one. An idle ReplicaSet is history, which no controller creates. */
export function isRebuiltByController(body: KubeObject): boolean {
  if (isServiceAddress(body)) return true;
  const controller = body.metadata?.ownerReferences?.find((reference) => reference.controller === true);
  // Leases have a reference without `controller`.
  const owner = controller ?? body.metadata?.ownerReferences?.find(({ kind }) => kind === 'Node');
  if (owner === undefined) return false;
  const kind = groupKind(body.apiVersion, body.kind);
  if (REBUILT[kind]?.includes(groupKind(owner.apiVersion, owner.kind)) !== true) return false;
  return kind !== 'apps/ReplicaSet' || (body['spec'] as { replicas?: number } | undefined)?.replicas !== 0;
}

/** True for the IPAddress that the API server creates with a Service. */
export const isServiceAddress = (body: KubeObject): boolean =>
  groupKind(body.apiVersion, body.kind) === 'networking.k8s.io/IPAddress' &&
  body.metadata?.labels?.['ipaddress.kubernetes.io/managed-by'] !== undefined;

export const isMirrorPod = (body: KubeObject): boolean =>
  groupKind(body.apiVersion, body.kind) === '/Pod' && body.metadata?.annotations?.[MIRROR] !== undefined;

/** The objects that Kubernetes creates in every namespace. */
export function isMadeForNamespace(body: KubeObject): boolean {
  const kind = groupKind(body.apiVersion, body.kind);
  const name = body.metadata?.name;
  return (kind === '/ServiceAccount' && name === 'default') || (kind === '/ConfigMap' && name === 'kube-root-ca.crt');
}

export const isEvent = (body: KubeObject): boolean =>
  ['/Event', 'events.k8s.io/Event'].includes(groupKind(body.apiVersion, body.kind));

/** True for a Job that is complete or has failed. */
export function isFinishedJob(body: KubeObject): boolean {
  if (groupKind(body.apiVersion, body.kind) !== 'batch/Job') return false;
  const { conditions = [] } = (body['status'] ?? {}) as { conditions?: { type?: string; status?: string }[] };
  return conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

export const groupKind = (apiVersion = '', kind = ''): string =>
  `${parseGroupVersion(apiVersion)?.group ?? ''}/${kind}`;
