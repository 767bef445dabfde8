import type { HttpRequest } from '../../base/http-message.ts';

/** Its answer goes on for minutes. */
export function isWatch(request: HttpRequest): boolean {
  return request.method === 'GET' && /[?&]watch=(true|1)(&|$)/.test(request.target);
}
