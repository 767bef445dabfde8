import { textAt } from '../cells/object-fields.ts';
import type { PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

export const leaseColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Holder', 'Holder of the lease.', (lease) => textAt(lease, 'spec', 'holderIdentity')),
  ageColumn,
];

export const leaseCandidateColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('LeaseName', 'Lease that is wanted.', (candidate) => textAt(candidate, 'spec', 'leaseName')),
  column('BinaryVersion', 'Version of the program.', (candidate) => textAt(candidate, 'spec', 'binaryVersion')),
  column('EmulationVersion', 'Version the program behaves as.', (candidate) =>
    textAt(candidate, 'spec', 'emulationVersion'),
  ),
  ageColumn,
];
