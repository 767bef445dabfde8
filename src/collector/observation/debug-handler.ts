import { isAbortError } from '../../base/time/abort-error.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { type ConsistencyCheck, NotRunningError } from './consistency-check.ts';
import { dumpGraph, viewGraph } from '../graph/dump.ts';
import { graphAsJson, graphAsMermaid, graphAsTree } from '../graph/dump-people.ts';
import type { Graph } from '../graph/graph.ts';
import { resourceKey } from '../resources/deletable-resources.ts';

/** Paths of the debug graph: with the controller's name, and with its name before 1.28 (COL-180). */
export const DEBUG_BASES = [
  '/debug/controllers/garbage-collector-controller',
  '/debug/controllers/garbagecollector',
] as const;

/** The pages, for an index of the server that mounts them. */
export const debugPages = [
  {
    method: 'GET',
    path: `${DEBUG_BASES[0]}/graph`,
    shows: 'the ownership graph; ?format=tree|json|mermaid, else DOT; ?uid=UID: what belongs to one object',
  },
  { method: 'POST', path: `${DEBUG_BASES[0]}/consistency`, shows: 'the differences between the graph and fresh lists' },
  { method: 'POST', path: `${DEBUG_BASES[0]}/rescan`, shows: 'the kinds that are listed anew because of this request' },
] as const;

const PLAIN = 'text/plain; charset=utf-8';
const notFound: HttpResponse = { status: 404, headers: {}, body: new Uint8Array() };

export interface DebugOptions {
  readonly graph: Graph;
  readonly consistency: ConsistencyCheck;
}

/**
 * `GET <base>/`: the pages, one line each. `GET <base>/graph[?uid=…]`: the ownership graph in DOT (COL-180…183). `POST <base>/consistency`:
 * compares the graph with fresh lists, and answers with the differences. `POST <base>/rescan`: relists everything, and answers with the
 * resources. Both answer 503 before the collector runs and when it stops, and 405 to other methods. The server that mounts this handler
 * decides who may ask (COL-18A).
 */
export function debugHandler({ graph, consistency }: DebugOptions): HttpHandler {
  const answerTo = async ({ method, target, signal }: HttpRequest): Promise<HttpResponse> => {
    const url = new URL(target, 'http://debug.invalid');
    const base = DEBUG_BASES.find((each) => url.pathname.startsWith(`${each}/`));
    const page = base === undefined ? '' : url.pathname.slice(base.length);
    switch (`${method} ${page}`) {
      case 'GET /':
        return answer(
          200,
          PLAIN,
          debugPages.map(({ method, path, shows }) => `${method} ${path}  ${shows}\n`).join(''),
        );
      case 'GET /graph':
        return graphPage(graph, url.searchParams);
      case 'POST /consistency': {
        const { differences, inconsistencies, unread, complete } = await consistency.check(signal);
        return json(200, {
          complete,
          differences: differences.map(({ resource, ...found }) => ({ resource: resourceKey(resource), ...found })),
          inconsistencies,
          unread: unread.map(resourceKey),
        });
      }
      case 'POST /rescan':
        return json(202, { listing: consistency.rescan().map(resourceKey) });
      default:
        return page === '/consistency' || page === '/rescan' ? onlyPost(page) : notFound;
    }
  };
  return (request) => answerTo(request).catch(unavailable);
}

/** `?format=dot|tree|json|mermaid`, DOT unless given. `?uid=…`, once or more often: the connected components around these objects. */
function graphPage(graph: Graph, query: URLSearchParams): HttpResponse {
  const uids = query.getAll('uid');
  const format = query.get('format') ?? 'dot';
  switch (format) {
    case 'dot':
      return answer(200, 'text/vnd.graphviz', dumpGraph(graph, uids));
    case 'tree':
      return answer(200, PLAIN, graphAsTree(viewGraph(graph, uids)));
    case 'json':
      return answer(200, 'application/json', graphAsJson(viewGraph(graph, uids)));
    case 'mermaid':
      return answer(200, PLAIN, graphAsMermaid(viewGraph(graph, uids)));
    default:
      return answer(400, PLAIN, `unknown format ${JSON.stringify(format)}: give dot, tree, json or mermaid\n`);
  }
}

function unavailable(error: unknown): HttpResponse {
  if (error instanceof NotRunningError) return answer(503, PLAIN, `${error.message}\n`);
  // The time of the request may be over while the client still reads the answer.
  if (isAbortError(error)) return answer(503, PLAIN, 'the request was given up; the comparison goes on\n');
  throw error;
}

function onlyPost(page: string): HttpResponse {
  const { headers, ...rest } = answer(405, PLAIN, `${page} is asked for with POST\n`);
  return { ...rest, headers: { ...headers, allow: 'POST' } };
}

function json(status: number, value: unknown): HttpResponse {
  return answer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

function answer(status: number, type: string, text: string): HttpResponse {
  const headers = { 'content-type': type, 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(text, 'utf8') };
}
