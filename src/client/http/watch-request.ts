import type { HttpRequest } from '../../base/http-message.ts';

/** True for a watch, whose answer continues for minutes. */
export function isWatch(request: HttpRequest): boolean {
  return request.method === 'GET' && /[?&]watch=(true|1)(&|$)/.test(request.target);
}
