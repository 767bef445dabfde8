import type { FieldError } from '../../../../api/field-error.ts';
import { newInternalError, newInvalid } from '../../../../api/status-error.ts';
import type { Strategy } from '../../strategy.ts';
import { emptyReservation, type Reservation, type ServiceAddresses } from './service-addresses.ts';
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

/** Gives services their cluster address and node ports, and releases them. Single stack, IPv4. */
export function serviceStrategy(addresses: ServiceAddresses): Strategy {
  return {
    async prepareForCreate(service: Service, { dryRun }) {
      const spec = (service.spec ??= {});
      const reservation = dryRun ? emptyReservation('look') : addresses.begin(service);
      // For any type, because validation reads only the list.
      if ((spec.clusterIP ?? '') !== '') spec.clusterIPs ??= [spec.clusterIP ?? ''];
      if (!hasClusterAddress(spec)) return;
      try {
        await addresses.load();
        refuse(service, settleFamilies(spec));
        await allocateAddress({ addresses, reservation }, service, spec);
        await allocatePorts({ addresses, reservation }, service, { spec });
      } catch (error) {
        addresses.ended(service, 'not stored');
        throw error;
      }
    },
    async prepareForUpdate(next: Service, previous: Service, { subresource, dryRun }) {
      if (subresource !== '') return;
      const old = previous.spec ?? {};
      const spec = (next.spec = { ...next.spec });
      await addresses.load();
      carryOver(spec, old);
      if (hasClusterAddress(spec)) {
        refuse(next, settleFamilies(spec, old));
        const allocator = { addresses, reservation: dryRun ? emptyReservation('look') : addresses.begin(next) };
        try {
          if (!hasClusterAddress(old) || (spec.clusterIP ?? '') === '') await allocateAddress(allocator, next, spec);
          await allocatePorts(allocator, next, { spec, old });
        } catch (error) {
          addresses.ended(next, 'not stored');
          throw error;
        }
      }
      dropTypeDependentFields(spec, old);
      if (spec.type !== 'LoadBalancer') next['status'] = { ...(next['status'] as object), loadBalancer: {} };
    },
    createEnded: (service, outcome) => addresses.ended(service, outcome),
    updateEnded(next, previous, outcome) {
      addresses.ended(next, outcome);
      if (outcome === 'stored') addresses.release(previous, next);
    },
    released: (service) => addresses.release(service),
  };
}

/** Allocates for one request, into its reservation. */
interface Allocator {
  readonly addresses: ServiceAddresses;
  readonly reservation: Reservation;
}

async function allocateAddress(allocator: Allocator, service: Service, spec: ServiceSpec): Promise<void> {
  const { addresses, reservation } = allocator;
  const wanted = spec.clusterIP ?? '';
  if (wanted === HEADLESS) return;
  if (wanted === '') {
    const address = await addresses.allocateAddress(reservation);
    if (address === undefined) throw newInternalError('failed to allocate a serviceIP: range is full');
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    return;
  }
  const taken = await addresses.reserveAddress(wanted, 'spec.clusterIPs', reservation);
  if (taken !== undefined) refuse(service, [taken]);
}

interface PortAllocation {
  readonly spec: ServiceSpec;
  /** The old service; absent for a new one. */
  readonly old?: ServiceSpec;
}

async function allocatePorts(allocator: Allocator, service: Service, around: PortAllocation): Promise<void> {
  if (usesNodePorts(around.spec)) await allocateNodePorts(allocator, service, around);
  await allocateHealthCheckPort(allocator, around);
}

async function allocateNodePorts(allocator: Allocator, service: Service, { spec, old }: PortAllocation): Promise<void> {
  const { addresses, reservation } = allocator;
  const before = old !== undefined && usesNodePorts(old) ? (old.ports ?? []) : [];
  const held = new Set(before.map(({ nodePort }) => nodePort ?? 0));
  const ports: ServicePort[] = [];
  const shared = old === undefined ? requestedPorts(spec.ports ?? []) : undefined;
  for (const [i, port] of (spec.ports ?? []).entries()) {
    const wanted = (port.nodePort ?? 0) || (shared?.get(port.port) ?? 0);
    if (wanted === 0 && !allocatesNodePorts(spec)) {
      ports.push(port);
      continue;
    }
    if (wanted !== 0 && !held.has(wanted) && !reservation.ports.has(wanted)) {
      const problem = await addresses.reservePort(wanted, `spec.ports[${i}].nodePort`, reservation);
      if (problem !== undefined) refuse(service, [problem]);
    }
    const nodePort = wanted === 0 ? await anyPort(allocator, 'a nodePort') : wanted;
    if (shared?.has(port.port) === false) shared.set(port.port, nodePort);
    ports.push({ ...port, nodePort });
  }
  if (spec.ports !== undefined) spec.ports = ports;
}

/** In a new service, equal ports of two protocols share one node port (DNS). Node ports by port number; the first requested one wins. */
function requestedPorts(ports: readonly ServicePort[]): Map<ServicePort['port'], number> {
  const requested = new Map<ServicePort['port'], number>();
  for (const { port, nodePort = 0 } of ports) if (nodePort !== 0 && !requested.has(port)) requested.set(port, nodePort);
  return requested;
}

async function allocateHealthCheckPort(allocator: Allocator, { spec, old }: PortAllocation): Promise<void> {
  if (!needsHealthCheckPort(spec) || needsHealthCheckPort(old ?? {})) return;
  const wanted = spec.healthCheckNodePort ?? 0;
  if (wanted === 0) {
    spec.healthCheckNodePort = await anyPort(allocator, 'a HealthCheck NodePort 0');
    return;
  }
  const { addresses, reservation } = allocator;
  const problem = await addresses.reservePort(wanted, 'spec.healthCheckNodePort', reservation);
  if (problem === undefined) return;
  const why = problem.message.slice(problem.message.lastIndexOf(': ') + 2);
  throw newInternalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`);
}

async function anyPort({ addresses, reservation }: Allocator, what: string): Promise<number> {
  const port = await addresses.allocatePort(reservation);
  if (port === undefined) throw newInternalError(`failed to allocate ${what}: range is full`);
  return port;
}

function refuse(service: Service, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', errors);
}
