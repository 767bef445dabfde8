import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { clipped, labelsText, NONE, UNKNOWN, UNSET } from '../cells/cell-text.ts';
import { at, listAt, mapAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../cells/printer-column.ts';

export const serviceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Type', 'How the service is exposed.', (service) => textAt(service, 'spec', 'type')),
  column('Cluster-IP', 'Address inside the cluster.', (service) => textAt(service, 'spec', 'clusterIPs', 0) || NONE),
  column('External-IP', 'Addresses from outside the cluster.', externalIpCell),
  column('Port(s)', 'Ports, with the node port where there is one.', portsCell),
  ageColumn,
  wideColumn('Selector', 'Labels by which the pods are found.', (service) =>
    labelsText(mapAt(service, 'spec', 'selector')),
  ),
];

export const endpointsColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Endpoints', 'Ready addresses with their ports.', endpointsCell),
  ageColumn,
];

const SHOWN = 3;

export const endpointSliceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('AddressType', 'Kind of address in the slice.', (slice) => textAt(slice, 'addressType')),
  column('Ports', 'Ports of every endpoint.', (slice) =>
    clipped(listAt(slice, 'ports').map(slicePort), { shown: SHOWN, empty: UNSET }),
  ),
  column('Endpoints', 'Addresses in the slice.', (slice) =>
    clipped(
      listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String)),
      { shown: SHOWN, empty: UNSET },
    ),
  ),
  ageColumn,
];

/** Distinct addresses of a load balancer, sorted. */
export function loadBalancerAddresses(object: KubeObject): string[] {
  const addresses = listAt(object, 'status', 'loadBalancer', 'ingress').map(
    (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
  );
  return [...new Set(addresses.filter((address) => address !== ''))].sort();
}

function externalIpCell(service: KubeObject): string {
  const externalIps = listAt(service, 'spec', 'externalIPs').map(String);
  switch (textAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIps.join(',') || NONE;
    case 'LoadBalancer':
      return [...loadBalancerAddresses(service), ...externalIps].join(',') || '<pending>';
    case 'ExternalName':
      return textAt(service, 'spec', 'externalName');
    default:
      return UNKNOWN;
  }
}

function portsCell(service: KubeObject): string {
  const ports = listAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    const number = nodePort > 0 ? `${numberAt(port, 'port')}:${nodePort}` : String(numberAt(port, 'port'));
    return `${number}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || NONE;
}

function endpointsCell(endpoints: KubeObject): string {
  const addresses = listAt(endpoints, 'subsets').flatMap((subset) => {
    const ips = listAt(subset, 'addresses').map((address) => textAt(address, 'ip'));
    const ports = listAt(subset, 'ports');
    // A headless service may have no ports.
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => hostPort(ip, numberAt(port, 'port'))));
  });
  // Subsets with only unready addresses print nothing; `<none>` means that there are no subsets.
  return clipped(addresses, { shown: SHOWN, empty: listAt(endpoints, 'subsets').length === 0 ? NONE : '' });
}

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function slicePort(port: unknown): string {
  const number = at(port, 'port');
  if (typeof number === 'number') return String(number);
  const name = at(port, 'name');
  return typeof name === 'string' ? name : '*';
}
