import type { Counter, Histogram, Metrics } from '../../../base/metrics/metrics.ts';
import type { AdmissionOperation } from '../chain/attributes.ts';

/** Upstream's names of the mutating and the validating phase. */
export type WebhookPhase = 'admit' | 'validating';

export interface ObservedCall {
  readonly name: string;
  readonly type: WebhookPhase;
  readonly operation: AdmissionOperation;
}

/** Metrics of webhook calls under upstream's names. Label values come from configurations, so there are few. */
export class WebhookMetrics {
  readonly #duration: Histogram;
  readonly #rejections: Counter;
  readonly #failOpen: Counter;

  constructor(metrics: Metrics) {
    this.#duration = metrics.histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time of calls to admission webhooks, by name, phase, operation and whether they rejected the request.',
      labelNames: ['name', 'type', 'operation', 'rejected'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
    });
    this.#rejections = metrics.counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests rejected by admission webhooks, by what was wrong.',
      labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    });
    this.#failOpen = metrics.counter({
      name: 'apiserver_admission_webhook_fail_open_count',
      help: 'Failed calls to admission webhooks that were passed over.',
      labelNames: ['name', 'type'],
    });
  }

  observe(call: ObservedCall, { seconds, rejected }: { readonly seconds: number; readonly rejected: boolean }): void {
    this.#duration.observe(seconds, { ...call, rejected: String(rejected) });
  }

  rejected(
    call: ObservedCall,
    errorType: 'no_error' | 'calling_webhook_error' | 'apiserver_internal_error',
    code: number,
  ): void {
    this.#rejections.inc({ ...call, error_type: errorType, rejection_code: String(code) });
  }

  failedOpen({ name, type }: ObservedCall): void {
    this.#failOpen.inc({ name, type });
  }
}
