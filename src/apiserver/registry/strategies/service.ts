import type { FieldError } from '../../../api/field-error.ts';
import { newInternalError, newInvalid } from '../../../api/status-error.ts';
import type { Strategy } from '../strategy.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import { settleFamilies } from './service-families.ts';
import {
  allocatesNodePorts,
  hasClusterAddress,
  HEADLESS,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
  usesNodePorts,
} from './service-spec.ts';
import { carryOver, dropTypeDependentFields } from './service-update.ts';

/** Gives services their cluster address and node ports, and takes them back. Single stack, IPv4. */
export function serviceStrategy(addresses: ServiceAddresses): Strategy {
  return {
    async prepareForCreate(service: Service) {
      const spec = (service.spec ??= {});
      if (!hasClusterAddress(spec)) return;
      await addresses.load();
      if ((spec.clusterIP ?? '') !== '') spec.clusterIPs ??= [spec.clusterIP ?? ''];
      refuse(service, settleFamilies(spec));
      await allocateAddress(addresses, service, spec);
      try {
        await allocatePorts(addresses, service, { spec });
      } catch (error) {
        addresses.releaseAddress(spec.clusterIP ?? '');
        throw error;
      }
    },
    async prepareForUpdate(next: Service, previous: Service, { subresource }) {
      if (subresource !== '') return;
      const old = previous.spec ?? {};
      const spec = (next.spec = { ...next.spec });
      await addresses.load();
      carryOver(spec, old);
      if (hasClusterAddress(spec)) {
        refuse(next, settleFamilies(spec, old));
        if (!hasClusterAddress(old) || (spec.clusterIP ?? '') === '') await allocateAddress(addresses, next, spec);
        await allocatePorts(addresses, next, { spec, old });
      }
      dropTypeDependentFields(spec, old);
      if (spec.type !== 'LoadBalancer') next['status'] = { ...(next['status'] as object), loadBalancer: {} };
    },
    released: (service) => addresses.release(service),
  };
}

async function allocateAddress(addresses: ServiceAddresses, service: Service, spec: ServiceSpec): Promise<void> {
  const wanted = spec.clusterIP ?? '';
  if (wanted === HEADLESS) return;
  if (wanted === '') {
    const address = await addresses.allocateAddress();
    if (address === undefined) throw newInternalError('failed to allocate a serviceIP: range is full');
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    return;
  }
  const taken = await addresses.reserveAddress(wanted, 'spec.clusterIPs');
  if (taken !== undefined) refuse(service, [taken]);
}

interface PortAllocation {
  readonly spec: ServiceSpec;
  /** What the service was before; absent for a new one. */
  readonly old?: ServiceSpec;
}

async function allocatePorts(addresses: ServiceAddresses, service: Service, around: PortAllocation): Promise<void> {
  const taken: number[] = [];
  try {
    if (usesNodePorts(around.spec)) await allocateNodePorts(addresses, service, { ...around, taken });
    await allocateHealthCheckPort(addresses, around, taken);
  } catch (error) {
    for (const port of taken) addresses.releasePort(port);
    throw error;
  }
}

async function allocateNodePorts(
  addresses: ServiceAddresses,
  service: Service,
  { spec, old, taken }: PortAllocation & { readonly taken: number[] },
): Promise<void> {
  const held = new Set((old?.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
  const ports: ServicePort[] = [];
  const shared = old === undefined ? requestedPorts(spec.ports ?? []) : undefined;
  for (const [i, port] of (spec.ports ?? []).entries()) {
    const wanted = (port.nodePort ?? 0) || (shared?.get(port.port) ?? 0);
    if (wanted === 0 && !allocatesNodePorts(spec)) {
      ports.push(port);
      continue;
    }
    if (wanted !== 0 && !held.has(wanted) && !taken.includes(wanted)) {
      const problem = await addresses.reservePort(wanted, `spec.ports[${i}].nodePort`);
      if (problem !== undefined) refuse(service, [problem]);
      taken.push(wanted);
    }
    const nodePort = wanted === 0 ? await anyPort(addresses, taken, 'a nodePort') : wanted;
    if (shared?.has(port.port) === false) shared.set(port.port, nodePort);
    ports.push({ ...port, nodePort });
  }
  if (spec.ports !== undefined) spec.ports = ports;
}

/** In a new service one number that is a port of two protocols is one node port (DNS). By that number, the first that is asked for. */
function requestedPorts(ports: readonly ServicePort[]): Map<ServicePort['port'], number> {
  const requested = new Map<ServicePort['port'], number>();
  for (const { port, nodePort = 0 } of ports) if (nodePort !== 0 && !requested.has(port)) requested.set(port, nodePort);
  return requested;
}

async function allocateHealthCheckPort(
  addresses: ServiceAddresses,
  { spec, old }: PortAllocation,
  taken: number[],
): Promise<void> {
  if (!needsHealthCheckPort(spec) || needsHealthCheckPort(old ?? {})) return;
  const wanted = spec.healthCheckNodePort ?? 0;
  if (wanted === 0) {
    spec.healthCheckNodePort = await anyPort(addresses, taken, 'a HealthCheck NodePort 0');
    return;
  }
  const problem = await addresses.reservePort(wanted, 'spec.healthCheckNodePort');
  if (problem === undefined) taken.push(wanted);
  else {
    const why = problem.message.slice(problem.message.lastIndexOf(': ') + 2);
    throw newInternalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`);
  }
}

async function anyPort(addresses: ServiceAddresses, taken: number[], what: string): Promise<number> {
  const port = await addresses.allocatePort();
  if (port === undefined) throw newInternalError(`failed to allocate ${what}: range is full`);
  taken.push(port);
  return port;
}

function refuse(service: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', errors);
}
