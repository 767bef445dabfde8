import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import { newBadRequest } from '../../api/status-error.ts';

/** One resource, one namespace of it, or one object or subresource of it. */
export interface ResourceRef {
  /** The resource. */
  readonly gvr: GroupVersionResource;
  /** Absent for cluster-scoped resources (COL-172) and for all namespaces. */
  readonly namespace?: string | undefined;
  /** The object's name; absent for the collection. */
  readonly name?: string;
  /** A part of the object: `status`, `scale`. */
  readonly subresource?: string;
}

/** A query parameter; undefined leaves it out. */
export type QueryValue = string | number | boolean | undefined;

/** `/api/v1/namespaces/ns/pods/name/status`. Throws a 400 StatusError for segments that would name another path. */
export function pathOf({ gvr, namespace, name, subresource }: ResourceRef): string {
  let path = gvr.group === '' ? `/api/${segment(gvr.version)}` : `/apis/${segment(gvr.group)}/${segment(gvr.version)}`;
  if (namespace !== undefined) path += `/namespaces/${segment(namespace)}`;
  path += `/${segment(gvr.resource)}`;
  if (name !== undefined) path += `/${segment(name)}`;
  else if (subresource !== undefined) throw newBadRequest('a subresource needs the name of its resource');
  if (subresource !== undefined)
    path += subresource
      .split('/')
      .map((part) => `/${segment(part)}`)
      .join('');
  return path;
}

/** The query with its question mark, in the caller's order; undefined values are left out. */
export function queryOf(query: Readonly<Record<string, QueryValue>> | undefined): string {
  let text = '';
  for (const key in query) {
    const value = query[key];
    if (value !== undefined)
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(key)}=${encodeURIComponent(value)}`;
  }
  return text;
}

/**
 * An empty name would turn "delete this object" into "delete all of them", and the server would resolve a dot segment, so both are refused
 * here, with the messages of apimachinery `path.IsValidPathSegmentName`.
 */
function segment(text: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(text)) return text;
  if (text === '') throw newBadRequest('resource name may not be empty');
  if (text === '.' || text === '..') throw newBadRequest(`invalid resource name "${text}": [may not be '${text}']`);
  const bad = ['/', '%'].find((character) => text.includes(character));
  if (bad !== undefined)
    throw newBadRequest(`invalid resource name ${JSON.stringify(text)}: [may not contain '${bad}']`);
  return encodeURIComponent(text);
}
