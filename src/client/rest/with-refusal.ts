import type { HttpRequest } from '../../base/http-message.ts';

/** A request with a check whether it may still be sent. */
export type RefusableRequest = HttpRequest & { readonly refusal: NonNullable<HttpRequest['refusal']> };

/**
 * The request with one more check: `refuse` is called before the check of the request itself. The transport calls it when it sends; until
 * then a request may wait for its turn, or for its connection.
 */
export function withRefusal(request: HttpRequest, refuse: () => Error | undefined): RefusableRequest {
  const { method, target, headers, body, signal, greeting } = request;
  return { method, target, headers, body, signal, greeting, refusal: () => refuse() ?? request.refusal?.() };
}
