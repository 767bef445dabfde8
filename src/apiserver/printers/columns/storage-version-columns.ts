import { formatGroupResource } from '../../../api/meta/group-version-kind.ts';
import { clipped, textOr, UNSET } from '../cells/cell-text.ts';
import { listAt, textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

export const storageVersionColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('CommonEncodingVersion', 'Version all servers store in.', (object) =>
    textOr(UNSET, object, 'status', 'commonEncodingVersion'),
  ),
  column('StorageVersions', 'Version each server stores in.', (object) =>
    clipped(
      listAt(object, 'status', 'storageVersions').map(
        (entry) => `${textAt(entry, 'apiServerID')}=${textAt(entry, 'encodingVersion')}`,
      ),
      { shown: 3, empty: UNSET },
    ),
  ),
  ageColumn,
];

export const storageVersionMigrationColumns: readonly PrinterColumn[] = [
  { ...nameColumn(), format: '' },
  column('Resource', 'Resource that is migrated.', (object) =>
    formatGroupResource({
      group: textAt(object, 'spec', 'resource', 'group'),
      resource: textAt(object, 'spec', 'resource', 'resource'),
    }),
  ),
  column('Status', 'How far the migration is.', (object) => {
    const held = listAt(object, 'status', 'conditions')
      .filter((condition) => textAt(condition, 'status') === 'True')
      .map((condition) => textAt(condition, 'type'))
      .filter((type) => type === 'Running' || type === 'Failed' || type === 'Succeeded');
    return held.at(-1) ?? 'Unknown';
  }),
];
