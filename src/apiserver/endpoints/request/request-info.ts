import { parseFieldSelector } from '../../../api/selectors/field-selector.ts';
import { isPathSegmentName } from '../../../api/validation/names.ts';

/**
 * A request line in the terms of the API (API-001..003): pure, no look-up of what is served.
 * The grammar is that of apiserver `pkg/endpoints/request/requestinfo.go`.
 */

export type RequestVerb =
  | 'create'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'update'
  | 'watch'
  /** A method the API has no word for (OPTIONS, CONNECT, …). */
  | 'unknown';

export interface ResourceRequestInfo {
  readonly type: 'resource';
  readonly path: string;
  readonly verb: RequestVerb;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Empty when the path names none. For `namespaces/<n>` itself it is `<n>`, as authorization wants it. */
  readonly namespace: string;
  readonly resource: string;
  /** Empty for collections. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Path segments after the subresource (`proxy/<path>`). */
  readonly rest: readonly string[];
  /** `name`, or the one a list or watch is restricted to by `fieldSelector=metadata.name=x` (API-002). */
  readonly authorizationName: string;
}

export interface NonResourceRequestInfo {
  readonly type: 'nonResource';
  readonly path: string;
  /** Method in lower case. */
  readonly verb: string;
}

export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

/** Path segments that follow `namespaces/<n>` and belong to the namespace itself, not to a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** API-016: `false` and `0` are false, absent is false, every other text is true. */
export function queryBoolean(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null) return false;
  return !(value === '0' || value.toLowerCase() === 'false');
}

export interface RequestLine {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined: the path is no percent-encoding of anything. */
  readonly info: RequestInfo | undefined;
}

const noQuery = new URLSearchParams();

/** The meaning of a method and a target (path and query). */
export function requestLine(method: string, target: string): RequestLine {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  return { path, query, info: parseRequestInfo(method, path, query) };
}

/** Undefined when the path is not decodable percent-encoding: the caller answers 400. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo | undefined {
  let parts: string[];
  try {
    parts = splitPath(path);
  } catch {
    return undefined;
  }
  const nonResource: NonResourceRequestInfo = { type: 'nonResource', path, verb: method.toLowerCase() };
  const prefix = parts[0];
  let group = '';
  let rest: string[];
  if (prefix === 'api') {
    rest = parts.slice(1);
  } else if (prefix === 'apis') {
    if (parts.length < 2) return nonResource;
    group = parts[1] ?? '';
    rest = parts.slice(2);
  } else {
    return nonResource;
  }
  const version = rest[0];
  if (version === undefined || rest.length < 2) return nonResource;
  rest = rest.slice(1);

  let deprecatedWatch = false;
  if (rest[0] === 'watch' && rest.length > 1) {
    deprecatedWatch = true;
    rest = rest.slice(1);
  }

  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 1) {
    namespace = rest[1] ?? '';
    const third = rest[2];
    if (third !== undefined && !namespaceSubresources.has(third)) rest = rest.slice(2);
  }
  const [resource = '', name = '', subresource = '', ...remaining] = rest;
  const verb = deprecatedWatch ? 'watch' : verbOf(method, name, query);
  return {
    type: 'resource',
    path,
    verb,
    group,
    version,
    namespace,
    resource,
    name,
    subresource,
    rest: remaining,
    authorizationName: name !== '' ? name : nameFromFieldSelector(verb, query),
  };
}

function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start++;
  while (end > start && path.charCodeAt(end - 1) === 47) end--;
  const trimmed = path.slice(start, end);
  if (trimmed === '') return [];
  const parts = trimmed.split('/');
  return trimmed.includes('%') ? parts.map(decodeURIComponent) : parts;
}

function verbOf(method: string, name: string, query: URLSearchParams): RequestVerb {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get';
      return queryBoolean(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      return 'unknown';
  }
}

/** API-002, as `requestinfo.go` has it: of a selector that cannot be read, or a name no path could have, there is none. */
function nameFromFieldSelector(verb: RequestVerb, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  const selector = query.get('fieldSelector');
  if (selector === null) return '';
  let name: string;
  try {
    name = parseFieldSelector(selector).exact('metadata.name') ?? '';
  } catch {
    // A user who may list gets the reason.
    return '';
  }
  return isPathSegmentName(name).length === 0 ? name : '';
}
