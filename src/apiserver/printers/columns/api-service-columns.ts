import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { conditionOf, isSet, listAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

export const apiServiceColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Service', 'Service behind the group version, or Local.', (object) =>
    isSet(object, 'spec', 'service')
      ? `${textAt(object, 'spec', 'service', 'namespace')}/${textAt(object, 'spec', 'service', 'name')}`
      : 'Local',
  ),
  column('Available', 'Whether the group version can be asked.', availableCell),
  ageColumn,
];

function availableCell(object: KubeObject): string {
  const available = conditionOf(listAt(object, 'status', 'conditions'), 'Available');
  if (available === undefined) return 'Unknown';
  const status = textAt(available, 'status');
  const reason = textAt(available, 'reason');
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}
