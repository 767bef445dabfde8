import type { Clock } from '../../base/time/clock.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import { RestClient, type RestClientOptions } from '../../client/rest/rest-client.ts';
import type { ClusterIdentity } from '../../collector/trust/cluster-identity.ts';
import { requestRate } from '../flags/request-rate.ts';
import { writeGuard } from '../flags/write-guard.ts';
import { jsonOnly } from './collect-content-type.ts';
import type { CollectSettings } from './collect-settings.ts';

/** Settings and layers of the clients that do the work of `kubegc collect`. */
export interface WorkClientsOptions extends Pick<CollectSettings, 'rate' | 'contentType'> {
  readonly common: Omit<RestClientOptions, 'interceptors'>;
  readonly clock: Clock;
  readonly identity: Pick<ClusterIdentity, 'intercept'>;
  readonly mayWrite: () => boolean;
  /** Counts each request that is sent. */
  readonly counted: Interceptor;
}

/** One client for the collector, and one for the controllers beside it. Both share the rate, the write guard and the content type. */
export function workClients(options: WorkClientsOptions): {
  readonly forCollector: RestClient;
  readonly forControllers: RestClient;
} {
  const { common, clock, identity, mayWrite, counted, rate, contentType } = options;
  const forCollector = new RestClient({
    ...common,
    interceptors: [
      ...(rate === undefined ? [] : [requestRate(rate, clock)]),
      writeGuard(mayWrite),
      ...(contentType === 'application/json' ? [jsonOnly] : []),
      counted,
    ],
  });
  // The collector itself checks which cluster answers. For the other controllers, their client checks it.
  return { forCollector, forControllers: forCollector.through(identity.intercept) };
}
