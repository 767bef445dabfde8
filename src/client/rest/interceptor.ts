import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Transport } from '../http/transport.ts';

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** A layer between client and transport that sees each exchange: metrics, limits, faults. It calls `next` or answers itself. */
export type Interceptor = (request: HttpRequest, next: Send) => Promise<HttpResponse>;

/** A transport with interceptors; the first of them is the outermost. */
export function intercept(transport: Transport, ...interceptors: readonly Interceptor[]): Transport {
  if (interceptors.length === 0) return transport;
  const send = interceptors.reduceRight<Send>(
    (next, interceptor) => (request) => interceptor(request, next),
    (request) => transport.send(request),
  );
  return { send, close: () => transport.close() };
}
