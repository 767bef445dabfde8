import type { HttpHandler, HttpResponse } from '../base/http-message.ts';
import { dumpGraph } from './graph/dump.ts';
import type { Graph } from './graph/graph.ts';

/** Where the debug graph is served: the controller's name, and the one it had before 1.28 (COL-180). */
export const DEBUG_BASES = [
  '/debug/controllers/garbage-collector-controller',
  '/debug/controllers/garbagecollector',
] as const;

const notFound: HttpResponse = { status: 404, headers: {}, body: new Uint8Array() };

/**
 * `GET <base>/graph[?uid=…]`: the ownership graph in DOT (COL-180…183). Who may ask is decided by the server it is mounted in
 * (COL-18A).
 */
export function debugHandler(graph: Graph): HttpHandler {
  return (request) => {
    const url = new URL(request.target, 'http://debug.invalid');
    const known = DEBUG_BASES.some((base) => url.pathname === `${base}/graph`);
    if (!known || request.method !== 'GET') return Promise.resolve(notFound);
    const text = dumpGraph(graph, url.searchParams.getAll('uid'));
    return Promise.resolve({
      status: 200,
      headers: { 'content-type': 'text/vnd.graphviz', 'x-content-type-options': 'nosniff' },
      body: Buffer.from(text, 'utf8'),
    });
  };
}
