import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { NONE, UNKNOWN } from '../cells/cell-text.ts';
import { booleanAt, conditionOf, listAt, mapAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../cells/printer-column.ts';

export const nodeColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Status', 'Whether the node is ready and accepts pods.', statusCell),
  column('Roles', 'Roles given to the node by labels.', rolesCell),
  ageColumn,
  column('Version', 'Version of the kubelet.', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
  wideColumn('Internal-IP', 'First address inside the cluster.', (node) => addressOf(node, 'InternalIP')),
  wideColumn('External-IP', 'First address from outside.', (node) => addressOf(node, 'ExternalIP')),
  wideColumn(
    'OS-Image',
    'Operating system, as the node reports it.',
    (node) => textAt(node, 'status', 'nodeInfo', 'osImage') || UNKNOWN,
  ),
  wideColumn('Kernel-Version', 'Kernel and architecture, as the node reports them.', kernelCell),
  wideColumn(
    'Container-Runtime',
    'Container runtime, as the node reports it.',
    (node) => textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion') || UNKNOWN,
  ),
];

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

function statusCell(node: KubeObject): string {
  const ready = conditionOf(listAt(node, 'status', 'conditions'), 'Ready');
  let status = 'Unknown';
  if (ready !== undefined) status = textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return booleanAt(node, 'spec', 'unschedulable') ? `${status},SchedulingDisabled` : status;
}

function rolesCell(node: KubeObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(mapAt(node, 'metadata', 'labels'))) {
    const role = key.startsWith(ROLE_PREFIX) ? key.slice(ROLE_PREFIX.length) : key === ROLE_LABEL ? String(value) : '';
    if (role !== '') roles.add(role);
  }
  return [...roles].sort().join(',') || NONE;
}

function addressOf(node: KubeObject, type: string): string {
  const address = listAt(node, 'status', 'addresses').find((candidate) => textAt(candidate, 'type') === type);
  return address === undefined ? NONE : textAt(address, 'address');
}

function kernelCell(node: KubeObject): string {
  const kernel = textAt(node, 'status', 'nodeInfo', 'kernelVersion') || UNKNOWN;
  const architecture = textAt(node, 'status', 'nodeInfo', 'architecture');
  return architecture === '' ? kernel : `${kernel} (${architecture})`;
}
