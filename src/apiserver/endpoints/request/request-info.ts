import { parseFieldSelector } from '../../../api/selectors/field-selector.ts';
import { isPathSegmentName } from '../../../api/validation/names.ts';

/**
 * Parses a request line (API-001..003); it does not need the list of served resources. The grammar is that of apiserver
 * `pkg/endpoints/request/requestinfo.go`.
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
  /** A method without an API verb (OPTIONS, CONNECT, …). */
  | 'unknown';

export interface ResourceRequestInfo {
  readonly type: 'resource';
  readonly path: string;
  readonly verb: RequestVerb;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Empty if the path names none. For `namespaces/<n>` itself it is `<n>`, for authorization. */
  readonly namespace: string;
  readonly resource: string;
  /** Empty for collections. */
  readonly name: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Path segments after the subresource (`proxy/<path>`). */
  readonly rest: readonly string[];
  /** `name`, or the name of a list or watch with `fieldSelector=metadata.name=x` (API-002). */
  readonly authorizationName: string;
}

export interface NonResourceRequestInfo {
  readonly type: 'nonResource';
  readonly path: string;
  /** Method in lower case. */
  readonly verb: string;
}

export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

/** Path segments after `namespaces/<n>` that belong to the namespace itself, not to a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** `false`, `0` and an absent parameter are false; every other text is true (API-016). */
export function queryBoolean(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null) return false;
  return !(value === '0' || value.toLowerCase() === 'false');
}

export interface RequestLine {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined if the path is not valid percent-encoding. */
  readonly info: RequestInfo | undefined;
}

const noQuery = new URLSearchParams();

/** Parses a method and a target (path and query). */
export function requestLine(method: string, target: string): RequestLine {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  return { path, query, info: parseRequestInfo(method, path, query) };
}

/** Undefined if the path is not valid percent-encoding; the caller answers 400. */
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

/** A malformed selector, or a name that no path could contain, counts as absent, as in `requestinfo.go` (API-002). */
function nameFromFieldSelector(verb: RequestVerb, query: URLSearchParams): string {
  if (verb !== 'list' && verb !== 'watch') return '';
  const selector = query.get('fieldSelector');
  if (selector === null) return '';
  let name: string;
  try {
    name = parseFieldSelector(selector).exact('metadata.name') ?? '';
  } catch {
    // Returns no name: a user who may list gets the error of the selector from the list.
    return '';
  }
  return isPathSegmentName(name).length === 0 ? name : '';
}
