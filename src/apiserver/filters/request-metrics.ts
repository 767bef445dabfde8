import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { Counter, Histogram, Metrics } from '../../base/metrics/metrics.ts';
import type { RequestContext } from '../endpoints/request/request-context.ts';
import type { RequestInfo } from '../endpoints/request/request-info.ts';
import type { MaxInFlight } from './max-in-flight.ts';

const COMPONENT = 'apiserver';

const methodVerbs: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT' };

/** Over HTTP/2 a method can be any word; upstream reports unknown ones as `other` too. */
const namedMethods: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);

/**
 * Counts answers under upstream's metric names. Label values come only from the served resources, never from requests, so their number is
 * bounded.
 */
export class RequestMetrics {
  readonly #total: Counter;
  readonly #duration: Histogram;

  constructor(metrics: Metrics, inFlight: MaxInFlight) {
    this.#total = metrics.counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by verb, resource and HTTP status.',
      labelNames: ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'code'],
    });
    this.#duration = metrics.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time until the head of the answer, by verb and resource; watches do not count.',
      labelNames: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'],
      buckets: [0.001, 0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 5, 15, 30, 60],
    });
    metrics.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being answered right now, watches and those of this program not counted.',
      labelNames: ['request_kind'],
      collect: (gauge) => {
        gauge.set(inFlight.reads, { request_kind: 'readOnly' });
        gauge.set(inFlight.writes, { request_kind: 'mutating' });
      },
    });
  }

  /** Removes the series of a resource that is no longer served. Later answers for it are not `served`, so no series returns. */
  forget({ group, version, resource }: GroupVersionResource): void {
    for (const metric of [this.#total, this.#duration]) metric.deletePartialMatch({ group, version, resource });
  }

  /** `served` means that the path is that of an existing resource or subresource, so its names may become labels. */
  observe(
    context: RequestContext,
    answered: { readonly code: number; readonly seconds: number; readonly served: boolean },
  ): void {
    const dryRun = context.query.size > 0 && context.query.get('dryRun') === 'All' ? 'All' : '';
    const labels = labelsOf(context.info, answered.served, { dry_run: dryRun, code: String(answered.code) });
    this.#total.inc(labels);
    if (labels.verb !== 'WATCH') this.#duration.observe(answered.seconds, labels);
  }
}

interface RequestLabels extends Record<string, string> {
  readonly verb: string;
  readonly dry_run: string;
  readonly code: string;
}

/** Creates one object literal for each request; see `base/http-message.ts`. */
function labelsOf(
  info: RequestInfo,
  served: boolean,
  { dry_run, code }: Pick<RequestLabels, 'dry_run' | 'code'>,
): RequestLabels {
  if (info.type === 'nonResource' || !served) {
    const verb = info.type === 'nonResource' ? methodLabel(info.verb.toUpperCase()) : verbLabel(info.verb);
    return {
      verb,
      dry_run,
      group: '',
      version: '',
      resource: '',
      subresource: '',
      scope: '',
      component: COMPONENT,
      code,
    };
  }
  const { verb, group, version, resource, subresource } = info;
  const scope = scopeOf(info);
  return { verb: verbLabel(verb), dry_run, group, version, resource, subresource, scope, component: COMPONENT, code };
}

function verbLabel(verb: string): string {
  return methodVerbs[verb] ?? verb.toUpperCase();
}

function methodLabel(method: string): string {
  return namedMethods.has(method) ? method : 'other';
}

function scopeOf(info: { readonly name: string; readonly namespace: string }): string {
  if (info.name !== '') return 'resource';
  return info.namespace === '' ? 'cluster' : 'namespace';
}
