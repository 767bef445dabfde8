import type { HttpHandler } from '../base/http-message.ts';

/** Page of a kubegc API server that names the controllers which run in its process. */
export const RUNNING_CONTROLLERS = '/debug/controllers/running';

/** Answers with the names as JSON, sorted. */
export function runningControllersHandler(names: Iterable<string>): HttpHandler {
  const body = Buffer.from(`${JSON.stringify({ controllers: [...names].toSorted() })}\n`);
  return async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body });
}
