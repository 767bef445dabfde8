import { textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { column } from '../cells/printer-column.ts';

/** The row of a failed request. */
export const statusColumns: readonly PrinterColumn[] = [
  column('Status', 'Success or Failure.', (status) => textAt(status, 'status')),
  column('Reason', 'Short word for the cause.', (status) => textAt(status, 'reason')),
  column('Message', 'Description of the state in a sentence.', (status) => textAt(status, 'message')),
];
