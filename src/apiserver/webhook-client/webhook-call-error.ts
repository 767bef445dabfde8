/**
 * The reason why a webhook gave no readable answer. `message` is the cause in Go's words; Kubernetes' own texts end with it.
 * - `service`: the service of the webhook cannot be resolved;
 * - `transport`: no connection, no TLS, or the connection broke;
 * - `timeout`: the timeout of the call or of the request has expired;
 * - `status`: it answered with a failing HTTP status;
 * - `answer`: the answer is no review, or too large;
 * - `overload`: more calls wait than are allowed.
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
