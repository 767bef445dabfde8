import { at, numberAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, integerColumn, nameColumn } from '../cells/printer-column.ts';

export const podDisruptionBudgetColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Min Available', 'Pods that must stay available.', (budget) =>
    numberOrPercent(at(budget, 'spec', 'minAvailable')),
  ),
  column('Max Unavailable', 'Pods that may be unavailable.', (budget) =>
    numberOrPercent(at(budget, 'spec', 'maxUnavailable')),
  ),
  integerColumn('Allowed Disruptions', 'Pods that may be evicted now.', (budget) =>
    numberAt(budget, 'status', 'disruptionsAllowed'),
  ),
  ageColumn,
];

function numberOrPercent(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'N/A';
}
