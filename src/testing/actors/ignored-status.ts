import { isDeepStrictEqual } from 'node:util';
import { parseRequestInfo } from '../../apiserver/endpoints/request/request-info.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { isObject } from '../client/given-value.ts';
import { jsonBodyOf } from '../trace/requested-object.ts';

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/**
 * True for a write whose body has a status that its answer lacks: the kind has the subresource `status`, so the server ignores it here.
 * kube-apiserver does not warn about it. Only JSON bodies and answers are examined.
 */
export function ignoresStatus(request: HttpRequest, response: HttpResponse): boolean {
  if (response.status >= 300 || !(response.body instanceof Uint8Array)) return false;
  if (request.body === undefined || !Buffer.from(request.body).includes('"status"')) return false;
  const [path = '', parameters = ''] = request.target.split('?');
  const info = parseRequestInfo(request.method, path, new URLSearchParams(parameters));
  if (info?.type !== 'resource' || info.subresource !== '' || !WRITES.has(info.verb)) return false;
  const sent = (jsonBodyOf(request) as { readonly status?: unknown } | undefined)?.status;
  const kept = (jsonBodyOf({ body: response.body }) as { readonly status?: unknown } | undefined)?.status;
  return isObject(sent) && !holds(kept, sent);
}

/** True if all sent values are there. Null and empty objects are ignored. */
function holds(kept: unknown, sent: object): boolean {
  return Object.entries(sent).every(([field, value]) => {
    const found = isObject(kept) ? (kept as Record<string, unknown>)[field] : undefined;
    if (value === null) return true;
    return isObject(value) ? holds(found, value) : isDeepStrictEqual(found, value);
  });
}
