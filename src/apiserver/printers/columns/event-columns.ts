import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { firstText } from '../cells/cell-text.ts';
import { at, isSet, numberAt, textAt } from '../cells/object-fields.ts';
import type { Cell, PrinterColumn } from '../cells/printer-column.ts';
import { ageOf, column, nameColumn, wideColumn } from '../cells/printer-column.ts';

/** The fields of the two event kinds for the same facts. */
interface EventFields {
  readonly object: string;
  readonly message: string;
  readonly source: string;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly count: string;
  readonly controller: string;
}

const CORE: EventFields = {
  object: 'involvedObject',
  message: 'message',
  source: 'source',
  firstSeen: 'firstTimestamp',
  lastSeen: 'lastTimestamp',
  count: 'count',
  controller: 'reportingComponent',
};

const EVENTS: EventFields = {
  object: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstSeen: 'deprecatedFirstTimestamp',
  lastSeen: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  controller: 'reportingController',
};

export const coreEventColumns: readonly PrinterColumn[] = eventColumns(CORE);
export const eventsEventColumns: readonly PrinterColumn[] = eventColumns(EVENTS);

function eventColumns(fields: EventFields): readonly PrinterColumn[] {
  return [
    column('Last Seen', 'When the event happened last.', (event, now) => lastSeenCell(event, now, fields)),
    column('Type', 'Normal or Warning.', (event) => textAt(event, 'type')),
    column('Reason', 'Short word for what happened.', (event) => textAt(event, 'reason')),
    column('Object', 'The object that the event is about.', (event) => objectCell(event, fields)),
    wideColumn('Subobject', 'Part of the object the event is about.', (event) =>
      textAt(event, fields.object, 'fieldPath'),
    ),
    wideColumn('Source', 'Reporter of the event.', (event) => sourceCell(event, fields)),
    column('Message', 'Description of the event in a sentence.', (event) => textAt(event, fields.message).trim()),
    wideColumn('First Seen', 'When the event happened first.', (event, now) => firstSeenCell(event, now, fields)),
    wideColumn('Count', 'How often the event happened.', (event) => countCell(event, fields)),
    { ...nameColumn(), priority: 1 },
  ];
}

function firstSeenCell(event: KubeObject, now: number, fields: EventFields): string {
  return ageOf(isSet(event, fields.firstSeen) ? at(event, fields.firstSeen) : at(event, 'eventTime'), now);
}

function lastSeenCell(event: KubeObject, now: number, fields: EventFields): string {
  if (isSet(event, 'series')) return ageOf(at(event, 'series', 'lastObservedTime'), now);
  if (isSet(event, fields.lastSeen)) return ageOf(at(event, fields.lastSeen), now);
  return firstSeenCell(event, now, fields);
}

function countCell(event: KubeObject, fields: EventFields): Cell {
  if (isSet(event, 'series')) return numberAt(event, 'series', 'count');
  // In the newer API, an event that happened once has no count.
  return numberAt(event, fields.count) || 1;
}

function objectCell(event: KubeObject, fields: EventFields): string {
  const kind = textAt(event, fields.object, 'kind').toLowerCase();
  const name = textAt(event, fields.object, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function sourceCell(event: KubeObject, fields: EventFields): string {
  const component = firstText(textAt(event, fields.source, 'component'), textAt(event, fields.controller));
  const instance = firstText(textAt(event, fields.source, 'host'), textAt(event, 'reportingInstance'));
  return instance === '' ? component : `${component}, ${instance}`;
}
