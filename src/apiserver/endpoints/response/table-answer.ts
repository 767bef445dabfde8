import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { ServedObject } from '../../registry/object/served-object.ts';
import { parseIncludeObject } from './include-object.ts';
import type { ResourceScope } from '../request/resource-scope.ts';
import type { Table, TableMeta, TableRow, tableConvertor as makeTableConvertor, WatchTables } from './table.ts';

/** Objects as rows of a table (API-430). The printers are loaded with the first table. `list` is absent for a single object. */
export async function tableFor(
  scope: ResourceScope,
  objects: Iterable<ServedObject>,
  list?: TableMeta,
): Promise<KubeObject> {
  const { tableConvertor, tableOf } = await import('./table.ts');
  const rows: KubeObject[] = [];
  for (const object of objects) rows.push(object.object());
  const table = tableOf(convertorOf(scope, tableConvertor), rows, {
    includeObject: parseIncludeObject(scope.context.query.get('includeObject')),
    version: scope.representation.transform?.version ?? 'v1',
    now: scope.resource.environment.clock.now(),
    ...(list === undefined ? {} : { list }),
  });
  return table as unknown as KubeObject;
}

/** A table whose rows are created while they are read, so that a long one is never in memory as a whole. */
export interface TableRows {
  readonly head: Omit<Table, 'rows'>;
  readonly rows: Iterable<TableRow>;
}

/** {@link tableFor} of a list, in two parts. */
export async function tableRows(
  scope: ResourceScope,
  objects: Iterable<ServedObject>,
  list: TableMeta,
): Promise<TableRows> {
  const { rowOf, tableConvertor, tableOf } = await import('./table.ts');
  const convertor = convertorOf(scope, tableConvertor);
  const options = {
    includeObject: parseIncludeObject(scope.context.query.get('includeObject')),
    version: scope.representation.transform?.version ?? 'v1',
    now: scope.resource.environment.clock.now(),
    list,
  };
  const { rows: _rows, ...head } = tableOf(convertor, [], options);
  const rows = {
    *[Symbol.iterator]() {
      for (const object of objects) {
        yield rowOf(convertor, object.object(), options);
        object.dropCaches();
      }
    },
  };
  return { head, rows };
}

/** The tables of one watch (API-133). */
export async function watchTablesFor(scope: ResourceScope): Promise<WatchTables> {
  const { tableConvertor, WatchTables } = await import('./table.ts');
  return new WatchTables(convertorOf(scope, tableConvertor), {
    includeObject: parseIncludeObject(scope.context.query.get('includeObject')),
    version: scope.representation.transform?.version ?? 'v1',
  });
}

/** A custom resource has the columns of its definition. A subresource of another kind has those of that kind. */
function convertorOf(
  { info, resource }: ResourceScope,
  tableConvertor: TableConvertorOf,
): ReturnType<TableConvertorOf> {
  return tableConvertor(info, info === resource.info ? resource.strategy.printerColumns : undefined);
}

type TableConvertorOf = typeof makeTableConvertor;
