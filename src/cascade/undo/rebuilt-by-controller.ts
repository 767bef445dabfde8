import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/**
 * `group/kind` of dependents that the controllers of Kubernetes make again, with the kinds of controllers that do.
 * ControllerRevisions are not among them: their controllers make the current one only, and the others are the history.
 */
const REBUILT: Readonly<Record<string, readonly string[]>> = {
  '/Pod': [
    'apps/ReplicaSet',
    'apps/StatefulSet',
    'apps/DaemonSet',
    'batch/Job',
    '/ReplicationController',
    // A node makes its mirror pods, see MIRROR.
    '/Node',
  ],
  'apps/ReplicaSet': ['apps/Deployment'],
  'batch/Job': ['batch/CronJob'],
  'discovery.k8s.io/EndpointSlice': ['/Service'],
  'coordination.k8s.io/Lease': ['/Node'],
};

const MIRROR = 'kubernetes.io/config.mirror';

/** True when the controller that owned the object makes another one like it. An idle ReplicaSet is history, which none makes. */
export function isRebuiltByController(body: KubeObject): boolean {
  const controller = body.metadata?.ownerReferences?.find((reference) => reference.controller === true);
  // Leases have a plain reference.
  const owner = controller ?? body.metadata?.ownerReferences?.find(({ kind }) => kind === 'Node');
  if (owner === undefined) return false;
  const kind = groupKind(body.apiVersion, body.kind);
  if (REBUILT[kind]?.includes(groupKind(owner.apiVersion, owner.kind)) !== true) return false;
  return kind !== 'apps/ReplicaSet' || (body['spec'] as { replicas?: number } | undefined)?.replicas !== 0;
}

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

/** A Job whose conditions say that it is complete or has failed. */
export function isFinishedJob(body: KubeObject): boolean {
  if (groupKind(body.apiVersion, body.kind) !== 'batch/Job') return false;
  const { conditions = [] } = (body['status'] ?? {}) as { conditions?: { type?: string; status?: string }[] };
  return conditions.some(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
}

export const groupKind = (apiVersion = '', kind = ''): string =>
  `${parseGroupVersion(apiVersion)?.group ?? ''}/${kind}`;
