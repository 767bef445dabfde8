import { NONE } from '../cells/cell-text.ts';
import { booleanAt, conditionOf, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, booleanColumn, column, integerColumn, nameColumn } from '../cells/printer-column.ts';

export const priorityClassColumns: readonly PrinterColumn[] = [
  nameColumn(),
  integerColumn('Value', 'Priority of the pods.', (object) => numberAt(object, 'value')),
  booleanColumn('Global-Default', 'Whether pods without a class get this one.', (object) =>
    booleanAt(object, 'globalDefault'),
  ),
  ageColumn,
  column('PreemptionPolicy', 'Whether pods may displace others.', (object) => textAt(object, 'preemptionPolicy')),
];

export const runtimeClassColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Handler', 'Configuration of the container runtime.', (object) => textAt(object, 'handler')),
  ageColumn,
];

export const podGroupColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Policy', 'How the pods are scheduled together.', (group) =>
    isSet(group, 'spec', 'schedulingPolicy', 'gang') ? 'Gang' : 'Basic',
  ),
  column('Workload', 'Workload the group belongs to.', (group) =>
    isSet(group, 'spec', 'podGroupTemplateRef')
      ? textAt(group, 'spec', 'podGroupTemplateRef', 'workload', 'workloadName')
      : NONE,
  ),
  column('Status', 'How far scheduling is.', (group) => {
    const conditions = listAt(group, 'status', 'conditions');
    const disrupted = conditionOf(conditions, 'DisruptionTarget');
    if (disrupted !== undefined) return textAt(disrupted, 'reason');
    const scheduled = conditionOf(conditions, 'PodGroupScheduled');
    if (scheduled === undefined) return 'Pending';
    return textAt(scheduled, 'status') === 'True' ? 'Scheduled' : 'Unschedulable';
  }),
  ageColumn,
];
