import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { listAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../cells/printer-column.ts';

/** RoleBinding and ClusterRoleBinding. */
export const roleBindingColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column(
    'Role',
    'Role that is granted.',
    (binding) => `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`,
  ),
  ageColumn,
  wideColumn('Users', 'Users it is granted to.', (binding) => subjectsCell(binding, 'User')),
  wideColumn('Groups', 'Groups it is granted to.', (binding) => subjectsCell(binding, 'Group')),
  wideColumn('ServiceAccounts', 'Service accounts it is granted to.', (binding) =>
    subjectsCell(binding, 'ServiceAccount'),
  ),
];

function subjectsCell(binding: KubeObject, kind: string): string {
  return listAt(binding, 'subjects')
    .filter((subject) => textAt(subject, 'kind') === kind)
    .map((subject) =>
      kind === 'ServiceAccount'
        ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
        : textAt(subject, 'name'),
    )
    .join(', ');
}
