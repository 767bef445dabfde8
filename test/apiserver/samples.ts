import type { KubeObject } from '../../src/api/meta/object-meta.ts';

/** A valid object, without kind and apiVersion, and the collection it is created in. */
export interface Sample {
  readonly collection: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: KubeObject;
}

const podSpec = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'A' }] }] };
const labels = { app: 'x' };
const template = { metadata: { labels }, spec: podSpec };
const selector = { matchLabels: labels };
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '11111111-2222-4333-8444-555555555555' };

/** [path below the group version, kind, what is beside metadata, metadata beside the name]. */
type Row = readonly [resource: string, kind: string, fields?: object, metadata?: object];

const namespaced: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    ['configmaps', 'ConfigMap', { data: { k: 'v' } }, { labels, finalizers: ['example.com/f'] }],
    ['secrets', 'Secret', { stringData: { k: 'v' } }, { ownerReferences: [{ ...owner, controller: true }] }],
    ['services', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }],
    ['serviceaccounts', 'ServiceAccount', {}],
    ['pods', 'Pod', { spec: podSpec }, { labels }],
    ['replicationcontrollers', 'ReplicationController', { spec: { replicas: 1, selector: labels, template } }],
    ['persistentvolumeclaims', 'PersistentVolumeClaim', claim()],
    ['endpoints', 'Endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }] }] }],
    ['events', 'Event', { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Test' }],
    ['limitranges', 'LimitRange', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }],
    ['resourcequotas', 'ResourceQuota', { spec: { hard: { pods: '2' } } }],
  ],
  'apps/v1': [
    ['deployments', 'Deployment', { spec: { selector, template } }],
    ['replicasets', 'ReplicaSet', { spec: { selector, template } }],
    ['daemonsets', 'DaemonSet', { spec: { selector, template } }],
    ['statefulsets', 'StatefulSet', { spec: { serviceName: 's', selector, template } }],
    ['controllerrevisions', 'ControllerRevision', { revision: 1, data: { a: [1, { b: null }] } }],
  ],
  'batch/v1': [
    ['jobs', 'Job', { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } }],
    ['cronjobs', 'CronJob', cronJob()],
  ],
  'autoscaling/v2': [['horizontalpodautoscalers', 'HorizontalPodAutoscaler', autoscaler()]],
  'policy/v1': [['poddisruptionbudgets', 'PodDisruptionBudget', { spec: { minAvailable: 1, selector } }]],
  'rbac.authorization.k8s.io/v1': [
    ['roles', 'Role', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }],
    ['rolebindings', 'RoleBinding', { roleRef: roleRef('Role'), subjects: [] }],
  ],
  'coordination.k8s.io/v1': [['leases', 'Lease', { spec: { holderIdentity: 'h', leaseDurationSeconds: 15 } }]],
  'networking.k8s.io/v1': [['ingresses', 'Ingress', { spec: { defaultBackend: backend() } }]],
  // Served as long as the definition below is.
  'example.com/v1': [['widgets', 'Widget', { spec: { size: 1, parts: [{ name: 'a' }] } }]],
  'discovery.k8s.io/v1': [
    [
      'endpointslices',
      'EndpointSlice',
      { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 1 }] },
    ],
  ],
};

const clusterScoped: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    ['namespaces', 'Namespace', {}],
    ['nodes', 'Node', { spec: { unschedulable: true }, status: { phase: 'Running' } }],
    ['persistentvolumes', 'PersistentVolume', volume()],
  ],
  'rbac.authorization.k8s.io/v1': [
    ['clusterroles', 'ClusterRole', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }],
  ],
  'storage.k8s.io/v1': [['storageclasses', 'StorageClass', { provisioner: 'example.com/p' }]],
  'scheduling.k8s.io/v1': [['priorityclasses', 'PriorityClass', { value: 5 }]],
  'apiextensions.k8s.io/v1': [['customresourcedefinitions', 'CustomResourceDefinition', definition()]],
};

function claim(): object {
  return { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
}

function volume(): object {
  const source = { hostPath: { path: '/x' } };
  return { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...source } };
}

function cronJob(): object {
  const job = { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } };
  return { spec: { schedule: '*/5 * * * *', jobTemplate: job } };
}

function autoscaler(): object {
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  return { spec: { maxReplicas: 3, scaleTargetRef: target } };
}

function roleRef(kind: string): object {
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'r' };
}

function backend(): object {
  return { service: { name: 's', port: { number: 80 } } };
}

function definition(): object {
  const part = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 5 } } };
  const parts = { type: 'array', items: part, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const size = { type: 'integer', minimum: 0, default: 3 };
  const spec = { type: 'object', properties: { size, parts } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const names = { plural: 'widgets', kind: 'Widget' };
  const version = { name: 'v1', served: true, storage: true, schema };
  return { spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] } };
}

function nameOf(kind: string): string {
  return kind === 'CustomResourceDefinition' ? 'widgets.example.com' : `a-${kind.toLowerCase()}`;
}

function rowsOf(table: Readonly<Record<string, readonly Row[]>>, place: string): Sample[] {
  return Object.entries(table).flatMap(([apiVersion, rows]) =>
    rows.map(([resource, kind, fields, metadata]) => ({
      collection: `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/${place}${resource}`,
      apiVersion,
      kind,
      object: { ...fields, metadata: { name: nameOf(kind), ...metadata } },
    })),
  );
}

/** One valid object of many kinds, in namespace `default` where it needs one. */
export const samples: readonly Sample[] = [...rowsOf(namespaced, 'namespaces/default/'), ...rowsOf(clusterScoped, '')];
