import type { ResourceInfo } from '../api/kinds/resource-info.ts';
import type { KubeObject } from '../api/meta/object-meta.ts';
import { parseRequestInfo } from '../apiserver/endpoints/request-info.ts';
import type { HttpRequest } from '../base/http-message.ts';
import type { TracedObject } from './trace.ts';

export type RequestedObject = Omit<TracedObject, 'uid'>;

/**
 * The object that a request is about, as far as it says so itself. Undefined for a whole collection, for what is no
 * resource that is served, and for a creation whose body is not JSON or leaves the name to the server.
 */
export function requestedObject(
  request: HttpRequest,
  served: () => readonly ResourceInfo[],
): RequestedObject | undefined {
  const [path = '', parameters = ''] = request.target.split('?');
  const info = parseRequestInfo(request.method, path, new URLSearchParams(parameters));
  if (info?.type !== 'resource') return undefined;
  const { group, version, resource, namespace } = info;
  const row = served().find(
    (known) => known.group === group && known.version === version && known.resource === resource,
  );
  const name = info.name || (info.verb === 'create' ? createdName(request) : undefined);
  if (row === undefined || !name) return undefined;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind: row.kind, namespace: row.namespaced ? namespace : '', name };
}

function createdName({ body }: HttpRequest): string | undefined {
  try {
    const name: unknown = (JSON.parse(Buffer.from(body ?? []).toString()) as KubeObject | null)?.metadata?.name;
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
