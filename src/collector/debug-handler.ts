import type { HttpHandler, HttpResponse } from '../base/http-message.ts';
import type { ConsistencyCheck } from './consistency-check.ts';
import { dumpGraph } from './graph/dump.ts';
import type { Graph } from './graph/graph.ts';
import { resourceKey } from './resources/deletable-resources.ts';

/** Where the debug graph is served: the controller's name, and the one it had before 1.28 (COL-180). */
export const DEBUG_BASES = [
  '/debug/controllers/garbage-collector-controller',
  '/debug/controllers/garbagecollector',
] as const;

const notFound: HttpResponse = { status: 404, headers: {}, body: new Uint8Array() };

export interface DebugOptions {
  readonly graph: Graph;
  readonly consistency: ConsistencyCheck;
}

/**
 * `GET <base>/graph[?uid=…]`: the ownership graph in DOT (COL-180…183). `POST <base>/consistency`: compares it with fresh lists
 * and answers with what is different. `POST <base>/rescan`: lists everything anew, and answers with what that is. Who may ask
 * is decided by the server it is mounted in (COL-18A).
 */
export function debugHandler({ graph, consistency }: DebugOptions): HttpHandler {
  return async ({ method, target }) => {
    const url = new URL(target, 'http://debug.invalid');
    const base = DEBUG_BASES.find((each) => url.pathname.startsWith(`${each}/`));
    const page = base === undefined ? '' : url.pathname.slice(base.length);
    switch (`${method} ${page}`) {
      case 'GET /graph':
        return answer(200, 'text/vnd.graphviz', dumpGraph(graph, url.searchParams.getAll('uid')));
      case 'POST /consistency': {
        // Goes on when the one who asked goes away: another one may have asked meanwhile.
        const report = await consistency.check(new AbortController().signal);
        const { differences, inconsistencies, unread } = report;
        return json(200, {
          differences: differences.map(({ resource, ...found }) => ({ resource: resourceKey(resource), ...found })),
          inconsistencies,
          unread: unread.map(resourceKey),
        });
      }
      case 'POST /rescan':
        return json(202, { listing: consistency.rescan().map(resourceKey) });
      default:
        return notFound;
    }
  };
}

function json(status: number, value: unknown): HttpResponse {
  return answer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

function answer(status: number, type: string, text: string): HttpResponse {
  const headers = { 'content-type': type, 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(text, 'utf8') };
}
