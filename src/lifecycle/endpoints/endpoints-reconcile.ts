import type { KubeObject } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { addressOf, portsOf, type Service } from '../endpointslice/endpointslice-reconcile.ts';
import { isTerminating } from '../ownership/controller-reference.ts';
import { isPodFinished, isPodReady, type Pod } from '../pods/pod-object.ts';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const HEADLESS = 'service.kubernetes.io/headless';
const LAST_CHANGE = 'endpoints.kubernetes.io/last-change-trigger-time';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
/** Maximum number of addresses. Others are cut off, and an annotation says so. */
const MAX_ADDRESSES = 1000;

interface Address {
  readonly ip: string;
  readonly nodeName?: string;
  readonly targetRef: { readonly kind: 'Pod'; readonly namespace: string; readonly name: string; readonly uid: string };
}

interface Port {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
}

interface Subset {
  addresses?: Address[];
  notReadyAddresses?: Address[];
  ports?: readonly Port[];
}

export interface Endpoints extends KubeObject {
  subsets?: readonly Subset[] | null;
}

type EndpointsDecision =
  | { readonly verdict: 'nothing'; readonly reason: 'asItShouldBe' | 'notOurs' }
  | { readonly verdict: 'create'; readonly endpoints: Endpoints }
  | { readonly verdict: 'update'; readonly endpoints: Endpoints }
  | { readonly verdict: 'delete'; readonly reason: 'serviceGone' };

/**
 * The Endpoints object of a Service, with the same name (LIFE-720). It has no owner reference, so the controller deletes it with the
 * Service. Another program writes the endpoints of a Service without a selector.
 */
export function decideEndpoints(
  service: Service | undefined,
  pods: readonly Pod[],
  there: Endpoints | undefined,
): EndpointsDecision {
  if (service === undefined) {
    // Endpoints of a leader election or a person have no such label.
    const isOurs = there !== undefined && there.metadata?.labels?.[MANAGED_BY] === MANAGER && !isTerminating(there);
    return isOurs ? { verdict: 'delete', reason: 'serviceGone' } : { verdict: 'nothing', reason: 'notOurs' };
  }
  if (service.spec?.selector === undefined || service.spec.type === 'ExternalName') {
    return { verdict: 'nothing', reason: 'notOurs' };
  }
  const { subsets, isCut } = subsetsOf(service, pods);
  const { [HEADLESS]: _, ...own } = service.metadata?.labels ?? {};
  const headless = service.spec.clusterIP === 'None' ? { [HEADLESS]: '' } : {};
  const labels = { ...own, ...headless, [MANAGED_BY]: MANAGER };
  const { [OVER_CAPACITY]: __, [LAST_CHANGE]: ___, ...annotations } = there?.metadata?.annotations ?? {};
  const told = isCut ? { ...annotations, [OVER_CAPACITY]: 'truncated' } : annotations;
  if (there === undefined) {
    const { namespace = '', name = '' } = service.metadata ?? {};
    const metadata = { namespace, name, labels, ...(isCut ? { annotations: told } : {}) };
    return { verdict: 'create', endpoints: { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets } };
  }
  const isSame =
    deepEqual(there.subsets ?? [], subsets) &&
    deepEqual(there.metadata?.labels ?? {}, labels) &&
    (there.metadata?.annotations?.[OVER_CAPACITY] !== undefined) === isCut;
  if (isSame) return { verdict: 'nothing', reason: 'asItShouldBe' };
  return {
    verdict: 'update',
    endpoints: { ...there, metadata: { ...there.metadata, labels, annotations: told }, subsets },
  };
}

/** One subset for each set of ports, each ordered by pod address. */
function subsetsOf(
  service: Service,
  pods: readonly Pod[],
): { readonly subsets: readonly Subset[]; readonly isCut: boolean } {
  const groups = new Map<string, Subset>();
  const withAddress = pods
    .filter((pod) => addressOf(pod) !== '' && !isPodFinished(pod) && !isTerminating(pod))
    .toSorted((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1));
  for (const pod of withAddress.slice(0, MAX_ADDRESSES)) {
    const ports = portsOf(service, pod).map(({ name, protocol, port }) => ({
      ...(name === '' ? {} : { name }),
      port,
      protocol,
    }));
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? (ports.length === 0 ? {} : { ports });
    groups.set(key, group);
    const isReady = isPodReady(pod) || service.spec?.publishNotReadyAddresses === true;
    if (isReady) group.addresses = [...(group.addresses ?? []), targetOf(pod)];
    else group.notReadyAddresses = [...(group.notReadyAddresses ?? []), targetOf(pod)];
  }
  return { subsets: [...groups.values()], isCut: withAddress.length > MAX_ADDRESSES };
}

function targetOf(pod: Pod): Address {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const nodeName = pod.spec?.nodeName ?? '';
  return {
    ip: addressOf(pod),
    ...(nodeName === '' ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
