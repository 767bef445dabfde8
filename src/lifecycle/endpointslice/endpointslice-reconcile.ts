import type { KubeObject } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { controllerReference, isTerminating } from '../ownership/controller-reference.ts';
import { isPodFinished, isPodReady, type Node, type Pod } from '../pods/pod-object.ts';

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
export const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const ZONE = 'topology.kubernetes.io/zone';
const SERVICE_KIND = { apiVersion: 'v1', kind: 'Service' };
/** `--max-endpoints-per-slice` of kube-controller-manager. */
const MAX_ENDPOINTS = 100;

interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
}

/** The fields of a Service that the controller reads. */
export interface Service extends KubeObject {
  spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
    readonly ipFamilies?: readonly string[];
  };
}

interface SlicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly appProtocol?: string;
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
  readonly nodeName?: string;
  readonly targetRef: { readonly kind: 'Pod'; readonly namespace: string; readonly name: string; readonly uid: string };
  readonly zone?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType?: string;
  endpoints?: readonly Endpoint[] | null;
  ports?: readonly SlicePort[] | null;
}

interface SliceChanges {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

interface SliceFacts {
  readonly service: Service;
  /** Selected pods. */
  readonly pods: readonly Pod[];
  readonly nodeOf: (name: string) => Node | undefined;
  /** Slices of this Service that this controller manages. */
  readonly slices: readonly EndpointSlice[];
}

/** Decides which slices of a Service are created, changed and deleted (LIFE-720; `endpointslice/reconciler.go`). Pure. */
export function decideSlices({ service, pods, nodeOf, slices }: SliceFacts): SliceChanges {
  const wanted = service.spec?.selector === undefined ? [] : wantedSlices(service, pods, nodeOf);
  const left = [...slices].filter((slice) => !isTerminating(slice));
  const create: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  for (const slice of wanted) {
    // The most similar slice: an equal one, otherwise one with the same ports, otherwise any.
    const same = (each: EndpointSlice): boolean => each.addressType === slice.addressType;
    const index = [
      left.findIndex((each) => same(each) && isLike(each, slice)),
      left.findIndex((each) => same(each) && deepEqual(each.ports ?? [], slice.ports ?? [])),
      left.findIndex(same),
    ].find((found) => found >= 0);
    if (index === undefined) {
      create.push(slice);
      continue;
    }
    const [there] = left.splice(index, 1);
    if (isLike(there!, slice)) continue;
    const metadata = { ...there!.metadata, labels: slice.metadata?.labels ?? {} };
    update.push({ ...there!, ...slice, metadata });
  }
  return { create, update, delete: left };
}

function isLike(there: EndpointSlice, slice: EndpointSlice): boolean {
  return (
    deepEqual(there.ports ?? [], slice.ports ?? []) &&
    deepEqual(there.endpoints ?? [], slice.endpoints ?? []) &&
    deepEqual(there.metadata?.labels ?? {}, slice.metadata?.labels ?? {})
  );
}

/** One slice for each set of ports and each hundred endpoints; one empty slice for a Service without pods. */
function wantedSlices(service: Service, pods: readonly Pod[], nodeOf: SliceFacts['nodeOf']): EndpointSlice[] {
  const groups = new Map<string, { ports: SlicePort[]; endpoints: Endpoint[] }>();
  for (const pod of pods.filter(hasAddress).toSorted(byName)) {
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod, nodeOf));
  }
  if (groups.size === 0) return [sliceOf(service, [], [])];
  return [...groups.values()].flatMap(({ ports, endpoints }) =>
    Array.from({ length: Math.ceil(endpoints.length / MAX_ENDPOINTS) }, (_, index) =>
      sliceOf(service, ports, endpoints.slice(index * MAX_ENDPOINTS, (index + 1) * MAX_ENDPOINTS)),
    ),
  );
}

function sliceOf(service: Service, ports: readonly SlicePort[], endpoints: readonly Endpoint[]): EndpointSlice {
  const { name = '', namespace = '', labels } = service.metadata ?? {};
  const { [HEADLESS]: _, [SERVICE_NAME]: __, [MANAGED_BY]: ___, ...own } = labels ?? {};
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: {
        ...own,
        [SERVICE_NAME]: name,
        [MANAGED_BY]: MANAGER,
        ...(service.spec?.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
      },
      ownerReferences: [controllerReference(SERVICE_KIND, service)],
    },
    addressType: service.spec?.ipFamilies?.[0] ?? 'IPv4',
    endpoints,
    ports,
  };
}

const hasAddress = (pod: Pod): boolean => !isPodFinished(pod) && addressOf(pod) !== '';
export const addressOf = ({ status }: Pod): string => (status?.['podIP'] as string | undefined) ?? '';
const byName = (a: Pod, b: Pod): number => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1);

function endpointOf(service: Service, pod: Pod, nodeOf: SliceFacts['nodeOf']): Endpoint {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const nodeName = pod.spec?.nodeName ?? '';
  const zone = nodeOf(nodeName)?.metadata?.labels?.[ZONE];
  const serving = isPodReady(pod);
  const terminating = isTerminating(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  return {
    addresses: [addressOf(pod)],
    conditions: { ready, serving, terminating },
    ...(nodeName === '' ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(zone === undefined ? {} : { zone }),
  };
}

/** The ports of a pod. A port is left out if no container has its name. */
export function portsOf(service: Service, pod: Pod): SlicePort[] {
  return (service.spec?.ports ?? []).flatMap(({ name = '', protocol = 'TCP', port, targetPort, appProtocol }) => {
    const number = typeof targetPort === 'string' ? containerPort(pod, targetPort, protocol) : targetPort || port;
    if (number === undefined) return [];
    return [{ name, protocol, port: number, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

function containerPort(pod: Pod, name: string, protocol: string): number | undefined {
  for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]) {
    const { ports = [] } = container as { ports?: { name?: string; containerPort: number; protocol?: string }[] };
    const found = ports.find((port) => port.name === name && (port.protocol ?? 'TCP') === protocol);
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}
