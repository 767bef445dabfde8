import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { TOKEN_TRACKING } from '../../api/meta/token-secret.ts';
import { formatAddress, type ServiceRange } from '../registry/strategies/services/service-range.ts';

/** One object that the server creates at its first start; `resource` determines its key. */
export interface BootstrapObject {
  readonly resource: { readonly group: string; readonly resource: string; readonly namespaced: boolean };
  readonly object: KubeObject;
}

const namespaces = { group: '', resource: 'namespaces', namespaced: false };
const services = { group: '', resource: 'services', namespaced: true };
const endpoints = { group: '', resource: 'endpoints', namespaced: true };
const endpointSlices = { group: 'discovery.k8s.io', resource: 'endpointslices', namespaced: true };
const serviceCidrs = { group: 'networking.k8s.io', resource: 'servicecidrs', namespaced: false };
const configMaps = { group: '', resource: 'configmaps', namespaced: true };
const priorityClasses = { group: 'scheduling.k8s.io', resource: 'priorityclasses', namespaced: false };

export interface BootstrapOptions {
  /** The server's address for clients. Pods use Service `default/kubernetes`. */
  readonly address: string;
  readonly port: number;
  /** Service `default/kubernetes` has the first address of this range (API-511). */
  readonly serviceRange: ServiceRange;
  /** Epoch ms. */
  readonly now: number;
  /** `noted`: this server accepts tokens in Secrets, and notes their use. */
  readonly tokens?: 'noted' | 'none';
}

/** The namespace as kube-apiserver makes it; kube-apiserver is the manager of the fields. */
function namespace(name: string, now: number): BootstrapObject {
  return {
    resource: namespaces,
    object: {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        labels: { 'kubernetes.io/metadata.name': name },
        managedFields: [
          {
            manager: 'kube-apiserver',
            operation: 'Update',
            apiVersion: 'v1',
            time: formatTime(now),
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } } },
          },
        ],
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    },
  };
}

function priorityClass(name: string, value: number, description: string): BootstrapObject {
  return {
    resource: priorityClasses,
    object: {
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { name, generation: 1 },
      value,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  };
}

/** Since this day the server notes on Secrets when their tokens were last used (API-513). */
function legacyTokenTracking(now: number): BootstrapObject {
  return {
    resource: configMaps,
    object: {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: TOKEN_TRACKING, namespace: 'kube-system' },
      data: { since: formatTime(now).slice(0, 10) },
    },
  };
}

/** Returns the objects of API-510 to API-512 in the form in which a create through the API would store them. Namespaces come first. */
export function bootstrapObjects({
  address,
  port,
  serviceRange,
  now,
  tokens,
}: BootstrapOptions): readonly BootstrapObject[] {
  const clusterIP = formatAddress(serviceRange.first);
  const labels = { component: 'apiserver', provider: 'kubernetes' };
  const addressType = address.includes(':') ? 'IPv6' : 'IPv4';
  return [
    ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => namespace(name, now)),
    {
      resource: services,
      object: {
        kind: 'Service',
        apiVersion: 'v1',
        metadata: { name: 'kubernetes', namespace: 'default', labels },
        spec: {
          ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
          clusterIP,
          clusterIPs: [clusterIP],
          type: 'ClusterIP',
          sessionAffinity: 'None',
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          internalTrafficPolicy: 'Cluster',
        },
        status: { loadBalancer: {} },
      },
    },
    {
      resource: endpoints,
      object: {
        kind: 'Endpoints',
        apiVersion: 'v1',
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
        },
        subsets: [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
      },
    },
    {
      resource: endpointSlices,
      object: {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: {
          name: 'kubernetes',
          namespace: 'default',
          generation: 1,
          labels: { 'kubernetes.io/service-name': 'kubernetes' },
        },
        addressType,
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ name: 'https', port, protocol: 'TCP' }],
      },
    },
    {
      resource: serviceCidrs,
      object: {
        kind: 'ServiceCIDR',
        apiVersion: 'networking.k8s.io/v1',
        metadata: { name: 'kubernetes' },
        spec: { cidrs: [serviceRange.cidr] },
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'True',
              lastTransitionTime: formatTime(now),
              reason: '',
              message: 'Kubernetes default Service CIDR is ready',
            },
          ],
        },
      },
    },
    ...(tokens === 'noted' ? [legacyTokenTracking(now)] : []),
    priorityClass(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    priorityClass(
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
  ];
}
