import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quantityText } from '../cells/cell-text.ts';
import { at, conditionOf, listAt, mapAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

/** Core kinds with one or two special columns. */

export const configMapColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Data', 'Number of keys.', (object) => keyCount(object, 'data') + keyCount(object, 'binaryData')),
  ageColumn,
];

export const secretColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Type', 'Purpose of the keys.', (secret) => textAt(secret, 'type')),
  column('Data', 'Number of keys.', (secret) => keyCount(secret, 'data')),
  ageColumn,
];

/** ServiceAccount, DeviceClass, ResourceClaimTemplate, Workload. */
export const nameAndAgeColumns: readonly PrinterColumn[] = [nameColumn(), ageColumn];

export const namespaceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Status', 'Active, or Terminating while its content is removed.', (namespace) =>
    textAt(namespace, 'status', 'phase'),
  ),
  ageColumn,
];

export const resourceQuotaColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Request', 'Used and allowed amounts of requests and counts.', (quota) =>
    quotaCell(quota, (resource) => !isLimit(resource)),
  ),
  column('Limit', 'Used and allowed amounts of limits.', (quota) => quotaCell(quota, isLimit)),
  ageColumn,
];

export const componentStatusColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Status', 'Whether the component answers as it should.', (object) => {
    const healthy = healthOf(object);
    if (healthy === undefined) return 'Unknown';
    return textAt(healthy, 'status') === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  column('Message', 'Answer of the component.', (object) => textAt(healthOf(object), 'message')),
  column('Error', 'Why the component did not answer well.', (object) => textAt(healthOf(object), 'error')),
];

function keyCount(object: KubeObject, field: string): number {
  return Object.keys(mapAt(object, field)).length;
}

function isLimit(resource: string): boolean {
  return resource.startsWith('limits.');
}

function quotaCell(quota: KubeObject, belongs: (resource: string) => boolean): string {
  const hard = mapAt(quota, 'status', 'hard');
  const used = mapAt(quota, 'status', 'used');
  return Object.keys(hard)
    .filter(belongs)
    .sort()
    .map((resource) => `${resource}: ${quantityText(at(used, resource))}/${quantityText(hard[resource])}`)
    .join(', ');
}

function healthOf(object: KubeObject): unknown {
  return conditionOf(listAt(object, 'conditions'), 'Healthy');
}
