import {
  allocatesNodePorts,
  hasClusterAddress,
  isExternallyAccessible,
  needsHealthCheckPort,
  sameTexts,
  type ServicePort,
  type ServiceSpec,
  usesNodePorts,
} from './service-spec.ts';

/** Keeps assigned addresses that an update leaves out (registry core/service `patchAllocatedValues`). */
export function carryOver(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterAddress(spec) && hasClusterAddress(old)) carryAddresses(spec, old);
  followAddress(spec, old);
  if (allocatesNodePorts(old) && allocatesNodePorts(spec) && spec.ports !== undefined) {
    spec.ports = withNodePorts(spec.ports, old.ports ?? []);
  }
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec) && (spec.healthCheckNodePort ?? 0) === 0) {
    if (old.healthCheckNodePort !== undefined) spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

function carryAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) spec.clusterIP = old.clusterIP;
  if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined) spec.clusterIPs = [...old.clusterIPs];
}

/** Follows a client that changes or clears only the older field (registry core/service `normalizeClusterIPs`). */
function followAddress(spec: ServiceSpec, old: ServiceSpec): void {
  const address = spec.clusterIP ?? '';
  if (address === (old.clusterIP ?? '') || !sameTexts(spec.clusterIPs, old.clusterIPs)) return;
  if (address === '') delete spec.clusterIPs;
  else spec.clusterIPs = [address];
}

/** A port is identified by its name, whatever else changed, and no node port is given to two ports. */
function withNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): ServicePort[] {
  const before = new Set(old.map(({ nodePort }) => nodePort ?? 0));
  const kept = new Set(ports.map(({ nodePort }) => nodePort ?? 0).filter((port) => port !== 0 && before.has(port)));
  const byName = new Map(old.map(({ name, nodePort }) => [name ?? '', nodePort ?? 0]));
  return ports.map((port) => {
    if ((port.nodePort ?? 0) !== 0) return port;
    const known = byName.get(port.name ?? '') ?? 0;
    return known === 0 || kept.has(known) ? port : { ...port, nodePort: known };
  });
}

/**
 * Removes fields that the new type lacks and that the client did not change (registry core/service `dropTypeDependentFields`), so that a
 * patch of only the type suffices.
 */
export function dropTypeDependentFields(spec: ServiceSpec, old: ServiceSpec): void {
  if (hasClusterAddress(old) && !hasClusterAddress(spec)) dropAddresses(spec, old);
  if (usesNodePorts(old) && !usesNodePorts(spec) && addsNoNodePort(spec, old)) {
    spec.ports = (spec.ports ?? []).map(withoutNodePort);
  }
  if (needsHealthCheckPort(old) && !needsHealthCheckPort(spec)) dropUnchanged(spec, old, 'healthCheckNodePort');
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    dropUnchanged(spec, old, 'allocateLoadBalancerNodePorts');
    dropUnchanged(spec, old, 'loadBalancerClass');
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) dropUnchanged(spec, old, 'externalTrafficPolicy');
}

function dropAddresses(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.clusterIP === old.clusterIP && sameTexts(spec.clusterIPs, old.clusterIPs)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameTexts(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
  dropUnchanged(spec, old, 'ipFamilyPolicy');
}

function dropUnchanged(spec: ServiceSpec, old: ServiceSpec, field: keyof ServiceSpec): void {
  if (spec[field] === old[field]) delete spec[field];
}

function addsNoNodePort(spec: ServiceSpec, old: ServiceSpec): boolean {
  const before = new Set((old.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
  return (spec.ports ?? []).every(({ nodePort = 0 }) => nodePort === 0 || before.has(nodePort));
}

function withoutNodePort(port: ServicePort): ServicePort {
  const { nodePort: _, ...rest } = port;
  return rest;
}
