import type { Call } from './recorder.ts';

/** Writes of the leader election are somebody else's. */
const LEASES = /^\/apis\/coordination\.k8s\.io\/v1\/namespaces\/[^/]+\/leases(?:\/[^/]+)?$/;
const EVENTS = /^\/api\/v1\/namespaces\/[^/]+\/events$/;
const EVENT = /^\/api\/v1\/namespaces\/[^/]+\/events\/[^/]+$/;
/** One object of a resource: no collection, no subresource. */
const OBJECT =
  /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)(?:\/namespaces\/[^/]+\/(?!status$|finalize$)[^/]+\/[^/]+|\/(?!namespaces\/[^/]+\/[^/]+\/)[^/]+\/[^/]+)$/;

const POLICIES = ['Background', 'Foreground', 'Orphan'];
const PATCHES = ['application/strategic-merge-patch+json', 'application/merge-patch+json'];

/** Returns why a collector may not send this write (COL-003, COL-150, COL-166, COL-171), or undefined. It does not check reads. */
export function improperWrite(call: Pick<Call, 'method' | 'path' | 'query' | 'headers' | 'body'>): string | undefined {
  const { method, path, query, headers, body } = call;
  if (method === 'GET' || LEASES.test(path)) return undefined;
  const line = `${method} ${path} ${JSON.stringify(body)}`;
  if (method === 'POST') return EVENTS.test(path) ? undefined : `creates: ${line}`;
  if (method !== 'DELETE' && method !== 'PATCH') return `another verb: ${line}`;
  if (!OBJECT.test(path)) return `not one object: ${line}`;
  if (method === 'DELETE') {
    const proper = body === undefined ? isProperDeleteQuery(path, query) : isEmpty(query) && isProperDelete(body);
    return proper ? undefined : `a delete without its preconditions ${JSON.stringify(query)}: ${line}`;
  }
  if (!isEmpty(query)) return `parameters ${JSON.stringify(query)}: ${line}`;
  if (EVENT.test(path)) return undefined;
  if (!PATCHES.includes(String(headers['content-type']))) return `a patch of another kind: ${line}`;
  return isProperPatch(body) ? undefined : `a patch of something else: ${line}`;
}

function isProperDelete(body: unknown): boolean {
  const { kind, apiVersion, preconditions, propagationPolicy, ...rest } = (body ?? {}) as Record<string, unknown>;
  const { uid, resourceVersion, ...more } = (preconditions ?? {}) as Record<string, unknown>;
  return (
    kind === 'DeleteOptions' &&
    apiVersion === 'v1' &&
    isSaid(uid) &&
    isSaid(resourceVersion) &&
    POLICIES.includes(String(propagationPolicy)) &&
    Object.keys({ ...rest, ...more }).length === 0
  );
}

/** The collector cannot know whether a server that is not kube-apiserver itself reads a query. */
function isProperDeleteQuery(path: string, query: Call['query']): boolean {
  const { uid, resourceVersion, propagationPolicy, ...more } = query;
  const ownGroup = /^\/(?:api\/v1|apis\/(?:[a-z]+|[a-z.]+\.k8s\.io)\/v\d)\//.test(path);
  const guarded = isSaid(uid) && isSaid(resourceVersion);
  return ownGroup && guarded && POLICIES.includes(propagationPolicy ?? '') && isEmpty(more);
}

function isSaid(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}

/** A patch changes the references or the finalizers, never both, and always names the object's uid. */
function isProperPatch(body: unknown): boolean {
  const { metadata, ...rest } = (body ?? {}) as Record<string, unknown>;
  const { uid, resourceVersion = 'any', ...changed } = (metadata ?? {}) as Record<string, unknown>;
  const named = isSaid(uid) && isSaid(resourceVersion);
  const fields = Object.keys(changed);
  const [field] = fields;
  return (
    named &&
    Object.keys(rest).length === 0 &&
    fields.length === 1 &&
    (field === 'ownerReferences' || field === 'finalizers')
  );
}
