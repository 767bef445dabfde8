import type { KubeObject } from '../../../../api/meta/object-meta.ts';

export interface ServicePort extends Record<string, unknown> {
  name?: string;
  port?: number;
  protocol?: string;
  nodePort?: number;
}

export interface ServiceSpec extends Record<string, unknown> {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  selector?: Record<string, string>;
  ports?: ServicePort[];
  externalIPs?: string[];
  externalTrafficPolicy?: string;
  healthCheckNodePort?: number;
  allocateLoadBalancerNodePorts?: boolean;
  loadBalancerClass?: string;
}

export interface Service extends KubeObject {
  spec?: ServiceSpec;
}

/** The cluster address of a service that has none. */
export const HEADLESS = 'None';

export function hasClusterAddress({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

/** True if its ports may have node ports. */
export function usesNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** True if ports without a node port get one, which a load balancer may disable. */
export function allocatesNodePorts(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);
}

/** True for a load balancer that keeps traffic on the node. It checks each node, by this port, for an endpoint. */
export function needsHealthCheckPort(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return usesNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
}

/** True if other programs write its endpoints, in any family. */
export function isHeadlessWithoutSelector({ clusterIP, selector }: ServiceSpec): boolean {
  return clusterIP === HEADLESS && Object.keys(selector ?? {}).length === 0;
}

export function sameTexts(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  const [left, right] = [a ?? [], b ?? []];
  return left.length === right.length && left.every((text, i) => text === right[i]);
}
