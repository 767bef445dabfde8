import type { Metrics } from '../../base/metrics/metrics.ts';
import type { Interceptor } from './interceptor.ts';

/** Counts every attempt by answer code, method and host (COL-190 `rest_client_requests_total`). `<error>` means no answer. */
export function requestMetrics(metrics: Metrics, host: string): Interceptor {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    labelNames: ['code', 'method', 'host'],
  });
  return (request, next) =>
    next(request).then(
      (response) => {
        requests.inc({ code: String(response.status), method: request.method, host });
        return response;
      },
      (error: unknown) => {
        requests.inc({ code: '<error>', method: request.method, host });
        throw error;
      },
    );
}
