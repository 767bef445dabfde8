import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { NONE } from '../cells/cell-text.ts';
import { conditionOf, isSet, listAt, numberAt, textAt } from '../cells/object-fields.ts';
import type { Cell, PrinterColumn } from '../cells/printer-column.ts';
import { ageColumn, column, nameColumn } from '../cells/printer-column.ts';

export const flowSchemaColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('PriorityLevel', 'Level that matching requests get.', (schema) =>
    textAt(schema, 'spec', 'priorityLevelConfiguration', 'name'),
  ),
  column('MatchingPrecedence', 'Order in which schemas are tried, low first.', (schema) =>
    numberAt(schema, 'spec', 'matchingPrecedence'),
  ),
  column('DistinguisherMethod', 'Method that divides requests into flows.', (schema) =>
    isSet(schema, 'spec', 'distinguisherMethod') ? textAt(schema, 'spec', 'distinguisherMethod', 'type') : NONE,
  ),
  ageColumn,
  column('MissingPL', 'Whether the priority level is missing.', (schema) => {
    const dangling = conditionOf(listAt(schema, 'status', 'conditions'), 'Dangling');
    return dangling === undefined ? '?' : textAt(dangling, 'status');
  }),
];

export const priorityLevelColumns: readonly PrinterColumn[] = [
  nameColumn(),
  column('Type', 'Limited or Exempt.', (level) => textAt(level, 'spec', 'type')),
  column('NominalConcurrencyShares', 'Share of the server.', (level) =>
    isSet(level, 'spec', 'limited') ? numberAt(level, 'spec', 'limited', 'nominalConcurrencyShares') : NONE,
  ),
  column('Queues', 'Number of queues.', (level) => queuingCell(level, 'queues')),
  column('HandSize', 'Queues a flow is dealt.', (level) => queuingCell(level, 'handSize')),
  column('QueueLengthLimit', 'Requests a queue holds.', (level) => queuingCell(level, 'queueLengthLimit')),
  ageColumn,
];

function queuingCell(level: KubeObject, field: string): Cell {
  const path = ['spec', 'limited', 'limitResponse', 'queuing'] as const;
  return isSet(level, ...path) ? numberAt(level, ...path, field) : NONE;
}
