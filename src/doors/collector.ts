/** The module behind `kubegc/collector`: the garbage collector as a component of a program. */
import { systemClock } from '../base/time/clock.ts';
import { type Logger, silentLogger } from '../base/logs/logger.ts';
import { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
import { systemRandom } from '../base/random/random.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import { GarbageCollector } from '../collector/garbage-collector.ts';
import type { GarbageCollectorOptions } from '../collector/garbage-collector-options.ts';

/** How a collector works; only the client has to be given. */
export interface CollectorOptions extends Omit<
  GarbageCollectorOptions,
  'clock' | 'random' | 'logger' | 'metrics' | 'client'
> {
  /** As `connectToCluster` of `kubegc/client` makes it; its user needs the rights that docs/collect.md lists. */
  readonly client: RestClient;
  /** Silent unless given. */
  readonly logger?: Logger | undefined;
  /** Counts nothing unless given. */
  readonly metrics?: Metrics | undefined;
}

/**
 * A collector on the clock of this machine. It deletes what has no owner any more as soon as `run(signal)` is called, so a cluster must
 * have no other one: use a Lease where two may run.
 */
export function createCollector(options: CollectorOptions): GarbageCollector {
  const { logger = silentLogger, metrics = noMetrics } = options;
  return new GarbageCollector({ ...options, logger, metrics, clock: systemClock, random: systemRandom });
}

export { GarbageCollector } from '../collector/garbage-collector.ts';
export type { GarbageCollectorOptions } from '../collector/garbage-collector-options.ts';
export {
  ClusterIdentity,
  type ClusterIdentityOptions,
  ForeignClusterError,
} from '../collector/trust/cluster-identity.ts';
export { type Reason, sentenceOf } from '../collector/types/reasons.ts';
export type { CarriedOut } from '../collector/workers/decision.ts';
export { type LogFields, type Logger, silentLogger } from '../base/logs/logger.ts';
export { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
export type { RestClient } from '../client/rest/rest-client.ts';
