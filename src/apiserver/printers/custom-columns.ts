import { marshalled } from '../../api/meta/quoted.ts';
import { parseTime } from '../../api/meta/time.ts';
import { findJsonPath, parseJsonPath } from './cells/json-path.ts';
import type { Cell, PrinterColumn, TableColumnDefinition } from './cells/printer-column.ts';
import { ageOf, CREATED_DESCRIPTION, nameColumn } from './cells/printer-column.ts';

/** `additionalPrinterColumns[]` of a version of a CustomResourceDefinition. */
export interface CustomColumn {
  readonly name: string;
  readonly type: TableColumnDefinition['type'];
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

const AGE: CustomColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: CREATED_DESCRIPTION,
};

/** The name, then the columns of the definition, or the age if it has none (API-435). Throws JsonPathError. */
export function customPrinterColumns(columns: readonly CustomColumn[]): readonly PrinterColumn[] {
  return [nameColumn(), ...(columns.length === 0 ? [AGE] : columns).map(customColumn)];
}

function customColumn(custom: CustomColumn): PrinterColumn {
  const path = parseJsonPath(custom.jsonPath);
  return {
    name: custom.name,
    type: custom.type,
    format: custom.format ?? '',
    description: custom.description || `Custom resource definition column (in JSONPath format): ${custom.jsonPath}`,
    priority: custom.priority ?? 0,
    cell: (object, now) => {
      const [value] = findJsonPath(path, object);
      return value === undefined ? null : cellOf(custom.type, value, now);
    },
  };
}

/** A value with another type than the column's prints nothing, except that a string column prints any value. */
function cellOf(type: CustomColumn['type'], value: unknown, now: number): Cell {
  switch (type) {
    case 'string':
      return value === null ? '<no value>' : typeof value === 'string' ? value : sortedJson(value);
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return parseTime(value) === undefined && !NO_TIME.has(value) ? '<invalid>' : ageOf(value, now);
  }
}

/** Texts that clients may have written for an absent time. The age is then unknown. */
const NO_TIME: ReadonlySet<string> = new Set(['', 'null']);

/** Prints maps as Go does, sorted by key. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return marshalled(value);
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, each]) => `${marshalled(key)}:${sortedJson(each)}`).join(',')}}`;
}
