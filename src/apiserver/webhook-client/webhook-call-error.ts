/**
 * Why a webhook has given no answer that could be read. `message` is the cause in Go's words, which is what Kubernetes' own texts end with.
 *  - `service`: the service it stands behind cannot be resolved;
 *  - `transport`: no connection, no TLS, or the connection broke;
 *  - `timeout`: its time, or that of the request, is over;
 *  - `status`: it answered with a failing HTTP status;
 *  - `answer`: what came is no review, or too large;
 *  - `overload`: more calls wait than may.
 */
export type WebhookCallFailure = 'service' | 'transport' | 'timeout' | 'status' | 'answer' | 'overload';

export class WebhookCallError extends Error {
  readonly failure: WebhookCallFailure;

  constructor(failure: WebhookCallFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WebhookCallError';
    this.failure = failure;
  }
}
