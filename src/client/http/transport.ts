import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';

/**
 * How a request reaches a server and its answer comes back: http2, http/1.1, or a function call in the same process.
 *
 * A transport authenticates (it adds what its kubeconfig user needs), keeps connections, and knows nothing of
 * Kubernetes objects. It resolves with the head of the answer; a body that is a stream is read as it arrives.
 * It rejects with a {@link TransportError} when no answer came, and the request may then have been carried out or not. One that makes
 * requests wait asks their `refusal` before it sends.
 */
export interface Transport {
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Ends idle connections and aborts requests under way. */
  close(): Promise<void>;
}

/** No (complete) answer: refused, reset, timed out, aborted. Never says anything about the object (COL-114). */
export class TransportError extends Error {
  /** The reason why the request was not answered. */
  readonly code: 'refused' | 'reset' | 'timeout' | 'aborted' | 'tls' | 'protocol';
  constructor(code: TransportError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TransportError';
    this.code = code;
  }
}
