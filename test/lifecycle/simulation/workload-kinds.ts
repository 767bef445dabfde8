import { gvrOf } from '../embedded-cluster.ts';

const apps = (resource: string) => gvrOf(resource, 'apps');

/** The resources that a history of workloads is about, by kind. */
export const GVRS = {
  Deployment: apps('deployments'),
  ReplicaSet: apps('replicasets'),
  StatefulSet: apps('statefulsets'),
  DaemonSet: apps('daemonsets'),
  ControllerRevision: apps('controllerrevisions'),
  Job: gvrOf('jobs', 'batch'),
  CronJob: gvrOf('cronjobs', 'batch'),
  Pod: gvrOf('pods'),
  Node: gvrOf('nodes'),
  Namespace: gvrOf('namespaces'),
  PersistentVolumeClaim: gvrOf('persistentvolumeclaims'),
  PersistentVolume: gvrOf('persistentvolumes'),
  Lease: gvrOf('leases', 'coordination.k8s.io'),
  Event: gvrOf('events'),
} as const;
export type ServedKind = keyof typeof GVRS;

export const SERVED: ReadonlySet<string> = new Set(
  Object.values(GVRS).map(({ group, resource }) => `${group}/${resource}`),
);
