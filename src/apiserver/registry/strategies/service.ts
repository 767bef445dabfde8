import type { FieldError } from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newInternalError, newInvalid } from '../../../api/status-error.ts';
import type { Strategy } from '../strategy.ts';
import type { ServiceAddresses } from './service-addresses.ts';

interface ServicePort extends Record<string, unknown> {
  port?: number;
  protocol?: string;
  nodePort?: number;
}

interface ServiceSpec extends Record<string, unknown> {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  ports?: ServicePort[];
}

interface Service extends KubeObject {
  spec?: ServiceSpec;
}

const HEADLESS = 'None';

/** Gives services their cluster address and node ports, and takes them back. Single stack, IPv4. */
export function serviceStrategy(addresses: ServiceAddresses): Strategy {
  return {
    async prepareForCreate(service: Service) {
      const spec = (service.spec ??= {});
      if (spec.type === 'ExternalName') return;
      await addresses.load();
      await allocateAddress(addresses, service, spec);
      if (!usesNodePorts(spec)) return;
      try {
        await allocatePorts(addresses, service, { spec, held: new Set() });
      } catch (error) {
        addresses.releaseAddress(spec.clusterIP ?? '');
        throw error;
      }
    },
    async prepareForUpdate(next: Service, previous: Service, { subresource }) {
      if (subresource !== '') return;
      const old = previous.spec ?? {};
      const spec = (next.spec = { ...next.spec });
      if (spec.type === 'ExternalName') return;
      await addresses.load();
      carryOver(spec, old);
      if ((spec.clusterIP ?? '') === '') await allocateAddress(addresses, next, spec);
      if (!usesNodePorts(spec)) return;
      const held = new Set((old.ports ?? []).map(({ nodePort }) => nodePort ?? 0));
      await allocatePorts(addresses, next, { spec, held });
    },
    released: (service) => addresses.release(service),
  };
}

function usesNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** What the client leaves out of an update stays as it is. */
function carryOver(spec: ServiceSpec, old: ServiceSpec): void {
  if ((spec.clusterIP ?? '') === '' && old.type !== 'ExternalName' && old.clusterIP !== undefined) {
    spec.clusterIP = old.clusterIP;
  }
  if (spec.clusterIP === old.clusterIP) {
    for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
      if (spec[field] === undefined && old[field] !== undefined) Object.assign(spec, { [field]: old[field] });
    }
  }
  if (!usesNodePorts(spec) || spec.ports === undefined) return;
  spec.ports = spec.ports.map((port) => {
    const same = old.ports?.find((other) => other.port === port.port && other.protocol === port.protocol);
    return (port.nodePort ?? 0) === 0 && same?.nodePort !== undefined ? { ...port, nodePort: same.nodePort } : port;
  });
}

async function allocateAddress(addresses: ServiceAddresses, service: Service, spec: ServiceSpec): Promise<void> {
  const wanted = spec.clusterIP ?? spec.clusterIPs?.[0] ?? '';
  if (wanted === '') {
    const address = await addresses.allocateAddress();
    if (address === undefined) throw newInternalError('failed to allocate a serviceIP: range is full');
    spec.clusterIP = address;
  } else if (wanted !== HEADLESS) {
    const taken = await addresses.reserveAddress(wanted, 'spec.clusterIPs');
    if (taken !== undefined) throw refused(service, [taken]);
    spec.clusterIP = wanted;
  }
  spec.clusterIPs ??= spec.clusterIP === undefined ? [HEADLESS] : [spec.clusterIP];
  spec.ipFamilies ??= [spec.clusterIP?.includes(':') === true ? 'IPv6' : 'IPv4'];
  spec.ipFamilyPolicy ??= 'SingleStack';
}

interface PortAllocation {
  readonly spec: ServiceSpec;
  /** Ports the service has already. */
  readonly held: ReadonlySet<number>;
}

async function allocatePorts(
  addresses: ServiceAddresses,
  service: Service,
  { spec, held }: PortAllocation,
): Promise<void> {
  const taken: number[] = [];
  const ports: ServicePort[] = [];
  for (const [i, port] of (spec.ports ?? []).entries()) {
    const wanted = port.nodePort ?? 0;
    if (held.has(wanted) && wanted !== 0) {
      ports.push(port);
      continue;
    }
    const problem = wanted === 0 ? undefined : await addresses.reservePort(wanted, `spec.ports[${i}].nodePort`);
    const nodePort = wanted === 0 ? await addresses.allocatePort() : wanted;
    if (problem !== undefined || nodePort === undefined) {
      for (const given of taken) addresses.releasePort(given);
      if (problem !== undefined) throw refused(service, [problem]);
      throw newInternalError('failed to allocate a nodePort: range is full');
    }
    taken.push(nodePort);
    ports.push({ ...port, nodePort });
  }
  spec.ports = ports;
}

function refused(service: Service, errors: readonly FieldError[]): Error {
  return newInvalid({ group: '', kind: 'Service' }, service.metadata?.name ?? '', errors);
}
