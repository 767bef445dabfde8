import type { HttpRequest } from '../../base/http-message.ts';

/** A request that can be asked whether it may be sent still. */
export type RefusableRequest = HttpRequest & { readonly refusal: NonNullable<HttpRequest['refusal']> };

/**
 * The same request, with one more reason for which it may not be sent: `refuse` is asked before whoever made the request, who may have
 * reasons too. The transport asks when it sends; until then a request may wait for its turn, or for its connection.
 */
export function withRefusal(request: HttpRequest, refuse: () => Error | undefined): RefusableRequest {
  const { method, target, headers, body, signal, greeting } = request;
  return { method, target, headers, body, signal, greeting, refusal: () => refuse() ?? request.refusal?.() };
}
