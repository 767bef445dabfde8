import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';

/**
 * Sends a request to a server and returns its answer, over HTTP/2, HTTP/1.1, or a function call in the same process. A transport
 * authenticates (it adds the credentials of its kubeconfig user), keeps connections, and knows nothing about Kubernetes objects. It
 * resolves with the head of the answer; a streamed body is read as it arrives. It rejects with a {@link TransportError} if no answer came;
 * the request may then have been carried out or not. A transport that delays requests calls their `refusal` before it sends.
 */
export interface Transport {
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Ends idle connections and aborts requests in progress. */
  close(): Promise<void>;
}

/** There was no (complete) answer: refused, reset, timed out, aborted. It never says anything about the object (COL-114). */
export class TransportError extends Error {
  /** The reason why the request was not answered. */
  readonly code: 'refused' | 'reset' | 'timeout' | 'aborted' | 'tls' | 'protocol';
  constructor(code: TransportError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TransportError';
    this.code = code;
  }
}
