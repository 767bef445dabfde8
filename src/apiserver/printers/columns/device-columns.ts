import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { NONE } from '../cells/cell-text.ts';
import { at, conditionOf, isConditionTrue, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { Cell, PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, ageOf, column, integerColumn, nameColumn } from '../cells/printer-column.ts';

/** Dynamic resource allocation. */

export const resourceClaimColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('State', 'Whether devices are allocated and reserved.', claimState),
  ageColumn,
];

export const resourceSliceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Node', 'Node that has the devices.', (slice) => textAt(slice, 'spec', 'nodeName')),
  column('Driver', 'Driver that offers the devices.', (slice) => textAt(slice, 'spec', 'driver')),
  column('Pool', 'Pool the devices belong to.', (slice) => textAt(slice, 'spec', 'pool', 'name')),
  ageColumn,
];

export const deviceTaintRuleColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Key', 'Key of the taint.', (rule) => textAt(rule, 'spec', 'taint', 'key')),
  column('Value', 'Value of the taint.', (rule) => textAt(rule, 'spec', 'taint', 'value')),
  column('Effect', 'Effect of the taint on pods.', (rule) => textAt(rule, 'spec', 'taint', 'effect')),
  column('TimeAdded', 'Since when the taint is in force.', (rule, now) =>
    isSet(rule, 'spec', 'taint', 'timeAdded') ? ageOf(at(rule, 'spec', 'taint', 'timeAdded'), now) : '',
  ),
  ageColumn,
];

export const resourcePoolStatusRequestColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Driver', 'Driver whose pools are counted.', (request) => textAt(request, 'spec', 'driver')),
  column('Total', 'Devices in all pools.', (request) => poolSum(request, 'totalDevices')),
  column('Available', 'Devices that are free.', (request) => poolSum(request, 'availableDevices')),
  column('Allocated', 'Devices in use.', (request) => poolSum(request, 'allocatedDevices')),
  column('Unavailable', 'Devices that cannot be used.', (request) => poolSum(request, 'unavailableDevices')),
  column('Errors', 'Pools that could not be read.', (request) =>
    isCounted(request)
      ? String(listAt(request, 'status', 'pools').filter((pool) => isSet(pool, 'validationError')).length)
      : '-',
  ),
  integerColumn('Pools', 'Pools that match.', (request) => numberAt(request, 'status', 'poolCount')),
  column('Status', 'How far the count is.', countStatus),
  column('Completed', 'When the count was done.', completedCell),
];

function claimState(claim: KubeObject): string {
  const deleted = isSet(claim, 'metadata', 'deletionTimestamp');
  const states = deleted ? ['deleted'] : [];
  if (!isSet(claim, 'status', 'allocation')) {
    if (!deleted) states.push('pending');
  } else {
    states.push('allocated');
    if (listAt(claim, 'status', 'reservedFor').length > 0) states.push('reserved');
  }
  return states.join(',');
}

function conditionsOf(request: KubeObject): readonly unknown[] {
  return listAt(request, 'status', 'conditions');
}

function isCounted(request: KubeObject): boolean {
  if (!isSet(request, 'status')) return false;
  return isConditionTrue(conditionsOf(request), 'Complete') || !isConditionTrue(conditionsOf(request), 'Failed');
}

function poolSum(request: KubeObject, field: string): Cell {
  if (!isCounted(request)) return '-';
  return String(listAt(request, 'status', 'pools').reduce((sum: number, pool) => sum + numberAt(pool, field), 0));
}

function countStatus(request: KubeObject): string {
  if (isConditionTrue(conditionsOf(request), 'Complete')) {
    const listed = listAt(request, 'status', 'pools').length;
    const matching = numberAt(request, 'status', 'poolCount');
    return matching > listed ? `Complete (${listed}/${matching} pools)` : 'Complete';
  }
  return isConditionTrue(conditionsOf(request), 'Failed') ? 'Failed' : 'Pending';
}

function completedCell(request: KubeObject, now: number): string {
  const complete = conditionOf(conditionsOf(request), 'Complete');
  return textAt(complete, 'status') === 'True' ? ageOf(at(complete, 'lastTransitionTime'), now) : NONE;
}
