import type { Int64 } from '../../../base/json/exact-json.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { humanAge } from '../../../api/meta/duration.ts';
import { parseTime } from '../../../api/meta/time.ts';

/** The value of a table cell; `null` if it is missing. */
export type Cell = string | Int64 | boolean | null;

/** `columnDefinitions[]` of a `meta.k8s.io` Table. */
export interface TableColumnDefinition {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` marks the column with the object's name; otherwise an OpenAPI format or empty. */
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
}

/** A column, and the function that reads its cell. `now` is in epoch milliseconds. */
export interface PrinterColumn extends TableColumnDefinition {
  readonly cell: (object: KubeObject, now: number) => Cell;
}

type CellOf = PrinterColumn['cell'];

/** The usual column: a string that is always shown. */
export function column(name: string, description: string, cell: CellOf): PrinterColumn {
  return { name, type: 'string', format: '', description, priority: 0, cell };
}

export function integerColumn(name: string, description: string, cell: CellOf): PrinterColumn {
  return { ...column(name, description, cell), type: 'integer' };
}

export function booleanColumn(name: string, description: string, cell: CellOf): PrinterColumn {
  return { ...column(name, description, cell), type: 'boolean' };
}

/** A string column that only `-o wide` shows. */
export function wideColumn(name: string, description: string, cell: CellOf): PrinterColumn {
  return { ...column(name, description, cell), priority: 1 };
}

/** The first column of nearly every kind. */
export function nameColumn(cell: CellOf = nameOf): PrinterColumn {
  return { ...column('Name', NAME_DESCRIPTION, cell), format: 'name' };
}

/** Kubernetes' words, which clients compare (API-430). */
const NAME_DESCRIPTION =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
export const CREATED_DESCRIPTION = 'When the server created the object.';

export function nameOf(object: KubeObject): string {
  return object.metadata?.name ?? '';
}

/** Time since creation as a short text (API-436). */
export const ageColumn: PrinterColumn = column('Age', CREATED_DESCRIPTION, (object, now) =>
  ageOf(object.metadata?.creationTimestamp, now),
);

/** Time since an RFC 3339 text; `<unknown>` if there is none (API-436). */
export function ageOf(time: unknown, now: number): string {
  return humanAge(typeof time === 'string' ? parseTime(time) : undefined, now);
}
