import { Lru } from '../../base/collections/lru.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { ruleOfDeletion } from './deletion-rules.ts';

/** Reported deletions that are remembered, so that each is reported once. */
const REMEMBERED = 10_000;
const HEADERS = { 'content-type': 'application/json' } as const;
/** The answer to a withheld DELETE. Its reason is one that no server sends. */
const WITHHELD = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', reason: 'WithheldByDryRun' };

/** True for the answer to a DELETE of a controller that runs dry. */
export function isWithheld(answer: unknown): boolean {
  return (answer as { readonly reason?: unknown } | undefined)?.reason === WITHHELD.reason;
}

/**
 * Withholds every write of one controller, which decides as usual (LIFE-018). A deletion is logged once, with its reason and rule; other
 * writes are answered as if the server had taken them. Invariant: only reads reach the server.
 */
export function withholdWrites({
  controller,
  logger,
}: {
  readonly controller: string;
  readonly logger: Logger;
}): Interceptor {
  const reported = new Lru<string, true>({ capacity: REMEMBERED });
  const report = ({ target, body, why = '' }: HttpRequest): void => {
    const object = objectOf(target);
    const { uid } = (parsed(body) as { preconditions?: { uid?: string } } | undefined)?.preconditions ?? {};
    const key = `${target} ${uid ?? ''} ${why}`;
    if (reported.get(key) !== undefined) return;
    reported.set(key, true);
    const rule = ruleOfDeletion({ controller, reason: why, resource: object.resource });
    logger.info('would delete', { rule, reason: why, ...object, ...(uid === undefined ? {} : { uid }) });
  };
  return async (request, next) => {
    switch (request.method) {
      case 'GET':
      case 'HEAD':
        return next(request);
      case 'DELETE':
        report(request);
        return answer(200, WITHHELD);
      case 'PATCH': {
        const { 'content-type': _, ...headers } = request.headers;
        const target = pathOf(request.target).replace(/\/status$/, '');
        // The patched object is not needed exactly: nothing that a patch changes is read again in the same sync.
        return next({ method: 'GET', target, headers, signal: request.signal });
      }
      case 'POST':
        return answer(201, withName(parsed(request.body) as KubeObject));
      default:
        return answer(200, parsed(request.body));
    }
  };
}

function answer(status: number, value: unknown): HttpResponse {
  return { status, headers: HEADERS, body: Buffer.from(stringifyExactJson(value), 'utf8') };
}

function parsed(body: Uint8Array | undefined): unknown {
  return body === undefined ? undefined : parseExactJson(Buffer.from(body).toString('utf8'));
}

function withName(object: KubeObject): KubeObject {
  const { name, generateName = '' } = object.metadata ?? {};
  return name === undefined ? { ...object, metadata: { ...object.metadata, name: `${generateName}dry-run` } } : object;
}

function pathOf(target: string): string {
  return target.split('?', 1)[0]!;
}

/** Group, resource, namespace and name of a path; without a name it is a whole collection. */
function objectOf(target: string): Record<string, string> & { readonly resource: string } {
  const parts = pathOf(target).split('/').slice(1).map(decodeURIComponent);
  const group = parts[0] === 'apis' ? parts[1]! : '';
  const rest = parts.slice(group === '' ? 2 : 3);
  const namespaced = rest[0] === 'namespaces' && rest.length > 2;
  const [resource = '', name] = namespaced ? rest.slice(2) : rest;
  return {
    resource,
    ...(group === '' ? {} : { group }),
    ...(namespaced ? { namespace: rest[1]! } : {}),
    ...(name === undefined ? {} : { name }),
  };
}
