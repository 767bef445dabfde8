import { parseExactJson } from '../../base/json/exact-json.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { parseRequestInfo, type ResourceRequestInfo } from '../../apiserver/endpoints/request/request-info.ts';
import type { HttpRequest } from '../../base/http-message.ts';
import type { TracedObject } from './trace.ts';

export type RequestedObject = Omit<TracedObject, 'uid'>;

/**
 * The object that a request is about, as far as the request names it. Undefined for a whole collection, for a path that is no served
 * resource, and for a creation whose body is not JSON or leaves the name to the server.
 */
export function requestedObject(
  request: HttpRequest,
  served: () => readonly ResourceInfo[],
): RequestedObject | undefined {
  const [path = '', parameters = ''] = request.target.split('?');
  const info = parseRequestInfo(request.method, path, new URLSearchParams(parameters));
  if (info?.type !== 'resource') return undefined;
  const { group, version, resource, namespace } = info;
  const name = requestedName(info, () => jsonBodyOf(request));
  const row = served().find(
    (known) => known.group === group && known.version === version && known.resource === resource,
  );
  if (row === undefined || name === '') return undefined;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind: row.kind, namespace: row.namespaced ? namespace : '', name };
}

/** The name in the path; for a creation, the name in the body. Empty for a collection, and if the server generates the name. */
export function requestedName(
  { verb, name }: Pick<ResourceRequestInfo, 'verb' | 'name'>,
  jsonBody: () => unknown,
): string {
  if (name !== '' || verb !== 'create') return name;
  const created: unknown = (jsonBody() as KubeObject | null | undefined)?.metadata?.name;
  return typeof created === 'string' ? created : '';
}

/** Undefined when there is none or it is not JSON. */
export function jsonBodyOf({ body }: Pick<HttpRequest, 'body'>): unknown {
  try {
    return body === undefined ? undefined : parseExactJson(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}
