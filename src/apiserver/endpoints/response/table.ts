import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import type { KubeObject, ObjectMeta } from '../../../api/meta/object-meta.ts';
import type { CustomColumn } from '../../printers/custom-columns.ts';
import { customPrinterColumns } from '../../printers/custom-columns.ts';
import { textAt } from '../../printers/cells/object-fields.ts';
import type { Cell, PrinterColumn, TableColumnDefinition } from '../../printers/cells/printer-column.ts';
import { printerColumnsFor } from '../../printers/printer-columns.ts';
import type { IncludeObject } from './include-object.ts';

/** `meta.k8s.io` Tables (API-430), which `kubectl get` prints. */
export interface TableRow {
  readonly cells: readonly Cell[];
  /** Conditions of the row; only pods have one: `Completed`. */
  readonly conditions?: readonly TableRowCondition[];
  readonly object?: unknown;
}

export interface TableRowCondition {
  readonly type: 'Completed';
  readonly status: 'True';
  readonly reason: string;
  readonly message: string;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: TableMeta;
  /** Null in every watch event except the first. */
  readonly columnDefinitions: readonly TableColumnDefinition[] | null;
  readonly rows: readonly TableRow[];
}

export interface TableMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly shardInfo?: { readonly selector: string };
}

/** Converts objects of one kind to rows. `row` leaves out the object; {@link tableOf} adds the part of it that the client requests. */
export interface TableConvertor {
  readonly columns: readonly TableColumnDefinition[];
  row(object: KubeObject, now: number): TableRow;
}

/**
 * The convertor of a resource, or of a subresource's kind (`scale`). A custom resource has the columns of its definition, by default its
 * age (API-435).
 */
export function tableConvertor(
  info: Pick<ResourceInfo, 'group' | 'version' | 'kind'> & Partial<Pick<ResourceInfo, 'typeName' | 'resource'>>,
  custom?: readonly CustomColumn[],
): TableConvertor {
  // A row with a resource but no type belongs to a custom resource; kinds of subresources have neither.
  const isCustom = custom !== undefined || (info.resource !== undefined && info.typeName === undefined);
  const columns = isCustom ? customPrinterColumns(custom ?? []) : printerColumnsFor(info);
  const conditionsOf = info.group === '' && info.kind === 'Pod' ? podConditions : undefined;
  return {
    columns: columns.map(definitionOf),
    row(object, now) {
      const cells = columns.map((column) => column.cell(object, now));
      const conditions = conditionsOf?.(object);
      return conditions === undefined ? { cells } : { cells, conditions };
    },
  };
}

export interface TableOptions {
  readonly includeObject: IncludeObject;
  /** The requested version of `meta.k8s.io`; default v1. */
  readonly version?: 'v1' | 'v1beta1';
  /** Epoch milliseconds, for ages. */
  readonly now: number;
  /** The metadata of the list. Absent for a single object, whose resourceVersion becomes that of the table (API-432). */
  readonly list?: TableMeta;
  /** A watch sends the column definitions only with its first event. */
  readonly columnDefinitions?: 'included' | 'omitted';
}

/** The table of some objects of one kind, in their order. */
export function tableOf(convertor: TableConvertor, objects: readonly KubeObject[], options: TableOptions): Table {
  const version = options.version ?? 'v1';
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: options.list === undefined ? metaOfSingle(objects[0]) : metaOfList(options.list),
    columnDefinitions: options.columnDefinitions === 'omitted' ? null : convertor.columns,
    rows: objects.map((object) => rowOf(convertor, object, options)),
  };
}

/** The row of one object, with the part of the object that the client requests. */
export function rowOf(convertor: TableConvertor, object: KubeObject, options: TableOptions): TableRow {
  const row = convertor.row(object, options.now);
  const shown = included(object, options.includeObject, options.version ?? 'v1');
  return shown === undefined ? row : { ...row, object: shown };
}

/** Converts the objects of one watch to tables, and remembers whether the column definitions were sent. */
export class WatchTables {
  readonly #convertor: TableConvertor;
  readonly #options: Omit<TableOptions, 'now' | 'columnDefinitions' | 'list'>;
  #sent = false;

  constructor(convertor: TableConvertor, options: Omit<TableOptions, 'now' | 'columnDefinitions' | 'list'>) {
    this.#convertor = convertor;
    this.#options = options;
  }

  /** The table of one event's object. A bookmark becomes an empty row with its resourceVersion. */
  next(object: KubeObject, now: number): Table {
    const columnDefinitions = this.#sent ? 'omitted' : 'included';
    this.#sent = true;
    return tableOf(this.#convertor, [object], { ...this.#options, now, columnDefinitions });
  }
}

function included(object: KubeObject, wanted: IncludeObject, version: 'v1' | 'v1beta1'): unknown {
  if (wanted === 'Object') return object;
  // Clients recognize the bookmark after the initial events by its annotation, so it is always sent (API-430).
  if (wanted === 'None' && object.metadata?.annotations?.[INITIAL_EVENTS_END] !== 'true') return undefined;
  return partialObjectMetadata(object.metadata ?? {}, version);
}

function partialObjectMetadata(metadata: ObjectMeta, version: 'v1' | 'v1beta1'): unknown {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata };
}

function metaOfSingle(object: KubeObject | undefined): TableMeta {
  const resourceVersion = object?.metadata?.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function metaOfList(list: TableMeta): TableMeta {
  return {
    ...(list.resourceVersion === undefined ? {} : { resourceVersion: list.resourceVersion }),
    ...(list.continue === undefined || list.continue === '' ? {} : { continue: list.continue }),
    ...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
    ...(list.shardInfo === undefined ? {} : { shardInfo: list.shardInfo }),
  };
}

function definitionOf({ name, type, format, description, priority }: PrinterColumn): TableColumnDefinition {
  return { name, type, format, description, priority };
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

const COMPLETED: Readonly<Record<string, string>> = {
  Succeeded: 'All containers ended well.',
  Failed: 'All containers ended, at least one of them with an error.',
};

/** The row of a finished pod has a condition, so that clients can grey it out (API-437). */
function podConditions(pod: KubeObject): readonly TableRowCondition[] | undefined {
  const reason = textAt(pod, 'status', 'phase');
  const message = COMPLETED[reason];
  return message === undefined ? undefined : [{ type: 'Completed', status: 'True', reason, message }];
}
