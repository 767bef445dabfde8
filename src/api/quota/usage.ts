import type { KubeObject } from '../meta/object-meta.ts';
import { podResources, type PodResources } from './pod-resources.ts';
import { addLists, amount, maxLists, parseResourceList, type ResourceList } from './resource-list.ts';

interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

interface Container {
  readonly name?: string;
  readonly resources?: { readonly requests?: unknown; readonly limits?: unknown };
}

interface Pod extends KubeObject {
  spec?: PodResources & {
    readonly containers?: readonly Container[] | null;
    readonly initContainers?: readonly Container[];
  };
  status?: { phase?: string };
}

interface Service extends KubeObject {
  spec?: { type?: string; ports?: { nodePort?: number }[]; allocateLoadBalancerNodePorts?: boolean };
}

interface Claim extends KubeObject {
  spec?: { storageClassName?: string; resources?: { requests?: unknown } };
}

interface DeviceRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

interface ResourceClaim extends KubeObject {
  spec?: {
    readonly devices?: {
      readonly requests?: readonly {
        readonly exactly?: DeviceRequest;
        readonly firstAvailable?: readonly DeviceRequest[];
      }[];
    };
  };
}

const DEVICE_SUFFIX = '.deviceclass.resource.k8s.io/devices';
/** The number of devices that a request of all devices counts as. */
const MOST_DEVICES = 32;
const CLASS_BETA = 'volume.beta.kubernetes.io/storage-class';
const CLASS_SUFFIX = '.storageclass.storage.k8s.io/';

/** Resources that were counted by their own name before object counts existed. */
const plainNames: ReadonlySet<string> = new Set(['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']);

const podNames: ReadonlySet<string> = new Set([
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);
/** Every container must specify these resources where they are limited, because otherwise the pod's usage would be unknown. */
const REQUIRED: readonly string[] = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory'];
const serviceNames: ReadonlySet<string> = new Set(['services', 'services.loadbalancers', 'services.nodeports']);
const claimNames = ['persistentvolumeclaims', 'requests.storage'];

/** Events are not counted, because the system creates them. */
export function isCounted({ group, resource }: GroupResource): boolean {
  return !(resource === 'events' && (group === '' || group === 'events.k8s.io'));
}

function countName({ group, resource }: GroupResource): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

/** The limited names that objects of a resource count towards. */
export function consumedNames(of: GroupResource, limited: Iterable<string>): ReadonlySet<string> {
  return new Set([...limited].filter((name) => name === countName(of) || consumes(of, name)));
}

function consumes({ group, resource }: GroupResource, name: string): boolean {
  if (isResourceClaim({ group, resource })) return name.endsWith(DEVICE_SUFFIX);
  if (group !== '') return false;
  if (resource === 'pods') {
    if (podNames.has(name) || /^(requests\.)?hugepages-/.test(name)) return true;
    // Extended resources such as devices, whose names contain a domain.
    return name.startsWith('requests.') && name.includes('/');
  }
  if (resource === 'services') return serviceNames.has(name);
  if (resource === 'persistentvolumeclaims') {
    return claimNames.some((word) => name === word || name.endsWith(`${CLASS_SUFFIX}${word}`));
  }
  return plainNames.has(resource) && name === resource;
}

/** The usage of one object (upstream `pkg/quota/v1/evaluator`). `now` in epoch milliseconds. */
export function usageOf(of: GroupResource, object: KubeObject, now: number): ResourceList {
  const counted: ResourceList = new Map([[countName(of), amount(1)]]);
  if (isResourceClaim(of)) return addLists(counted, deviceUsage(object as ResourceClaim));
  if (of.group !== '') return counted;
  switch (of.resource) {
    case 'pods':
      return runs(object as Pod, now) ? addLists(counted, podUsage((object as Pod).spec ?? {})) : counted;
    case 'services':
      return addLists(counted, serviceUsage((object as Service).spec ?? {}));
    case 'persistentvolumeclaims':
      return addLists(counted, claimUsage(object as Claim));
    default:
      return plainNames.has(of.resource) ? addLists(counted, new Map([[of.resource, amount(1)]])) : counted;
  }
}

/** False for a pod that has finished, or whose deadline has passed; it uses nothing. */
function runs({ metadata, status }: Pod, now: number): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds: grace } = metadata ?? {};
  if (!deletionTimestamp || typeof grace !== 'number') return true;
  return now <= Date.parse(deletionTimestamp) + grace * 1000;
}

function podUsage(spec: PodResources): ResourceList {
  return containerUsage(podResources(spec, 'requests'), podResources(spec, 'limits'));
}

function containerUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage = new Map([['pods', amount(1)]]);
  for (const [name, quantity] of requests) {
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-')) {
      usage.set(name, quantity).set(`requests.${name}`, quantity);
    } else if (name.includes('/')) {
      usage.set(`requests.${name}`, quantity);
    }
  }
  for (const [name, quantity] of limits) {
    if (name === 'cpu' || name === 'memory' || name === 'ephemeral-storage') usage.set(`limits.${name}`, quantity);
  }
  return usage;
}

function serviceUsage({ type, ports = [], allocateLoadBalancerNodePorts }: NonNullable<Service['spec']>): ResourceList {
  const balanced = type === 'LoadBalancer';
  const allocated = !balanced || allocateLoadBalancerNodePorts !== false;
  const taken = allocated ? ports.length : ports.filter(({ nodePort = 0 }) => nodePort !== 0).length;
  return new Map([
    ['services', amount(1)],
    ['services.loadbalancers', amount(balanced ? 1 : 0)],
    ['services.nodeports', amount(balanced || type === 'NodePort' ? taken : 0)],
  ]);
}

function claimUsage({ metadata, spec }: Claim): ResourceList {
  const ofClass = metadata?.annotations?.[CLASS_BETA] ?? spec?.storageClassName ?? '';
  const names = ['', ...(ofClass === '' ? [] : [`${ofClass}${CLASS_SUFFIX}`])];
  const storage = parseResourceList(spec?.resources?.requests).get('storage');
  return new Map(
    names.flatMap((prefix) => [
      [`${prefix}persistentvolumeclaims`, amount(1)] as const,
      ...(storage === undefined ? [] : [[`${prefix}requests.storage`, storage] as const]),
    ]),
  );
}

function isResourceClaim({ group, resource }: GroupResource): boolean {
  return group === 'resource.k8s.io' && resource === 'resourceclaims';
}

/** The most devices of each class that a claim can be given (upstream `evaluator/core/resource_claims.go`). */
function deviceUsage({ spec }: ResourceClaim): ResourceList {
  let usage: ResourceList = new Map();
  for (const { exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
    if (firstAvailable.length === 0) usage = addLists(usage, devicesOf(exactly ?? {}));
    // Only one of the alternatives is allocated.
    else usage = addLists(usage, firstAvailable.map(devicesOf).reduce(maxLists));
  }
  return usage;
}

function devicesOf({ deviceClassName, allocationMode = 'ExactCount', count = 1 }: DeviceRequest): ResourceList {
  if (deviceClassName === undefined) return new Map();
  // An unknown mode counts nothing, as upstream.
  const devices = allocationMode === 'All' ? MOST_DEVICES : allocationMode === 'ExactCount' ? count : 0;
  return new Map([[`${deviceClassName}${DEVICE_SUFFIX}`, amount(devices)]]);
}

/** The limited resources that a pod does not name; undefined when it names all. Containers appear by name. */
export function unspecified(of: GroupResource, object: KubeObject, limited: ReadonlySet<string>): string | undefined {
  if (of.group !== '' || of.resource !== 'pods') return undefined;
  const { containers, initContainers = [], resources } = (object as Pod).spec ?? {};
  if (resources !== undefined) return undefined;
  const missing = REQUIRED.filter((name) => limited.has(name)).flatMap((name) => {
    const without = [...(containers ?? []), ...initContainers]
      .filter(({ resources: own }) => {
        return !containerUsage(parseResourceList(own?.requests), parseResourceList(own?.limits)).has(name);
      })
      .map((container) => container.name ?? '');
    return without.length === 0 ? [] : [`${name} for: ${[...new Set(without)].toSorted().join(',')}`];
  });
  return missing.length === 0 ? undefined : `must specify ${missing.join('; ')}`;
}
