import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { StatusError } from '../../api/status-error.ts';
import { pathOf } from '../../client/rest/resource-path.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

const ACCEPT_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PAGE_SIZE = 500;
/** Maximum number of tables, one for each shown kind and namespace. */
const MOST_TABLES = 20;

interface Table {
  readonly columnDefinitions?: readonly { readonly name: string }[];
  readonly rows?: readonly {
    readonly cells: readonly unknown[];
    readonly object?: { readonly metadata?: { readonly uid?: string } };
  }[];
}

/**
 * `Ready` and `Status` of objects by uid, as the server prints them. Only for display: reads tables of the first kinds, and the first page
 * of each. Kinds without such columns, or that cannot be listed, have none.
 */
export async function readStatuses(
  client: RestClient,
  objects: Iterable<ObjectReference>,
): Promise<Map<string, string>> {
  const places = new Map<string, ObjectReference>();
  for (const ref of objects) {
    const key = `${ref.apiVersion} ${ref.resource} ${ref.namespace ?? ''}`;
    if (ref.resource !== '' && !places.has(key)) places.set(key, ref);
  }
  const found = new Map<string, string>();
  await Promise.all([...places.values()].slice(0, MOST_TABLES).map((ref) => readTable(client, ref, found)));
  return found;
}

async function readTable(
  client: RestClient,
  { apiVersion, resource, namespace }: ObjectReference,
  found: Map<string, string>,
): Promise<void> {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  try {
    const response = await client.request({
      method: 'GET',
      path: pathOf({ gvr: { group, version, resource }, ...(namespace === undefined ? {} : { namespace }) }),
      query: { limit: PAGE_SIZE },
      accept: ACCEPT_TABLE,
    });
    const table = response.json<Table>();
    const names = (table.columnDefinitions ?? []).map(({ name }) => name);
    const columns = ['Ready', 'Status'].map((name) => names.indexOf(name)).filter((column) => column >= 0);
    if (columns.length === 0) return;
    for (const { cells, object } of table.rows ?? []) {
      const text = columns
        .map((column) => String(cells[column] ?? ''))
        .filter((cell) => cell !== '')
        .join(' ');
      found.set(object?.metadata?.uid ?? '', text);
    }
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}
