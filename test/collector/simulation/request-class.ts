import { isDiscovery } from '../recorder.ts';
import type { RequestClass } from './plan.ts';
import { LEASES } from './simulated-kinds.ts';

export interface ClassifiedRequest {
  readonly what: Exclude<RequestClass, 'write' | 'any'> | 'other';
  /** Plural name; empty when the path names none. */
  readonly resource: string;
}

/** The path of a target, and the plural name and the object that it names. */
export function placeOf(target: string): { path: string; resource: string; name: string | undefined } {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const parts = path.split('/').slice(1);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [resource = '', name] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  return { path, resource, name };
}

/** The purpose of a collector's request. */
export function classify(method: string, target: string): ClassifiedRequest {
  const { path, resource, name } = placeOf(target);
  if (method === 'GET' && isDiscovery(path)) return { what: 'discovery', resource: '' };
  // Neither is a part of the decisions.
  if (resource === 'events' || resource === LEASES.gvr.resource) return { what: 'other', resource };
  if (method === 'GET') return { what: name === undefined ? 'intake' : 'read', resource };
  if (method === 'DELETE') return { what: 'delete', resource };
  return { what: method === 'PATCH' ? 'patch' : 'other', resource };
}

/** Whether a fault that strikes this class of requests, of one resource or of all, is meant for a request. */
export function meantFor(wanted: RequestClass, resource: string | undefined) {
  return ({ method, target }: { readonly method: string; readonly target: string }): boolean => {
    const request = classify(method, target);
    return isOfClass(request, wanted) && (resource === undefined || resource === request.resource);
  };
}

export function isOfClass({ what }: ClassifiedRequest, wanted: RequestClass): boolean {
  if (wanted === 'any') return what !== 'other';
  return wanted === 'write' ? what === 'delete' || what === 'patch' : what === wanted;
}
