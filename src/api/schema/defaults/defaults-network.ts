import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';

const CLIENT_IP_SECONDS = 10_800;
const EXPOSED_TYPES: ReadonlySet<unknown> = new Set(['NodePort', 'LoadBalancer']);

/** Sets no values that are allocated on create (addresses, families, node ports), because the registry allocates them. */
export function defaultService(service: Fields): void {
  const spec = ensureObjectAt(service, 'spec');
  setIfZero(spec, 'type', 'ClusterIP');
  defaultSessionAffinity(spec);
  for (const port of objectsAt(spec, 'ports')) {
    setIfZero(port, 'protocol', 'TCP');
    setIfZero(port, 'targetPort', port['port'] ?? 0);
  }
  const { type } = spec;
  const externalIps = spec['externalIPs'];
  const hasExternalIps = type === 'ClusterIP' && Array.isArray(externalIps) && externalIps.length > 0;
  if (EXPOSED_TYPES.has(type) || hasExternalIps) setIfZero(spec, 'externalTrafficPolicy', 'Cluster');
  if (EXPOSED_TYPES.has(type) || type === 'ClusterIP') setIfUnset(spec, 'internalTrafficPolicy', 'Cluster');
  if (type !== 'LoadBalancer') return;
  setIfUnset(spec, 'allocateLoadBalancerNodePorts', true);
  for (const ingress of objectsAt(objectAt(objectAt(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (typeof ingress['ip'] === 'string' && ingress['ip'] !== '') setIfUnset(ingress, 'ipMode', 'VIP');
  }
}

function defaultSessionAffinity(spec: Fields): void {
  setIfZero(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] === 'ClientIP') {
    const clientIp = ensureObjectAt(ensureObjectAt(spec, 'sessionAffinityConfig'), 'clientIP');
    setIfUnset(clientIp, 'timeoutSeconds', CLIENT_IP_SECONDS);
  }
}

export function defaultEndpoints(endpoints: Fields): void {
  for (const subset of objectsAt(endpoints, 'subsets')) {
    for (const port of objectsAt(subset, 'ports')) setIfZero(port, 'protocol', 'TCP');
  }
}

export function defaultEndpointSlice(slice: Fields): void {
  for (const port of objectsAt(slice, 'ports')) {
    setIfUnset(port, 'name', '');
    setIfUnset(port, 'protocol', 'TCP');
  }
}

export function defaultNetworkPolicy(policy: Fields): void {
  const spec = ensureObjectAt(policy, 'spec');
  const types = spec['policyTypes'];
  if (!Array.isArray(types) || types.length === 0) {
    spec['policyTypes'] = objectsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  }
  for (const rule of [...objectsAt(spec, 'ingress'), ...objectsAt(spec, 'egress')]) {
    for (const port of objectsAt(rule, 'ports')) setIfUnset(port, 'protocol', 'TCP');
  }
}

export function defaultIngressClass(ingressClass: Fields): void {
  const parameters = objectAt(objectAt(ingressClass, 'spec'), 'parameters');
  if (parameters !== undefined) setIfUnset(parameters, 'scope', 'Cluster');
}
