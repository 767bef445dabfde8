import { fieldsOf, typeNameOf } from '../../api/kinds/type-table.ts';
import { apiVersionOf, type GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

/** The query of a connection as the options object of its kind (PodExecOptions, NodeProxyOptions, …), which is what admission sees of it. */
export function connectOptions(kind: GroupVersionKind, query: URLSearchParams, path: string): KubeObject {
  const apiVersion = apiVersionOf(kind);
  const options: KubeObject = { kind: kind.kind, apiVersion };
  const typeName = typeNameOf(apiVersion, kind.kind);
  if (typeName === undefined) return options;
  for (const { name, type, list } of fieldsOf(typeName)) {
    // The rest of the path is what is proxied.
    const given = name === 'path' && path !== '' ? [`/${path}`] : query.getAll(name);
    if (given.length === 0 || name === 'kind' || name === 'apiVersion') continue;
    const values = given.map((text) => valueOf(text, type));
    options[name] = list ? values : values[0];
  }
  return options;
}

function valueOf(text: string, type: string): unknown {
  if (type === 'bool') return text !== 'false' && text !== '0';
  if ((type === 'int32' || type === 'int64') && /^-?\d{1,15}$/.test(text)) return Number(text);
  return text;
}
