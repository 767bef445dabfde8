/** The module behind `kubegc/collector`: the garbage collector as a component of a program. */
import { systemClock } from '../base/time/clock.ts';
import { type Logger, silentLogger } from '../base/logs/logger.ts';
import { type Metrics, noMetrics } from '../base/metrics/metrics.ts';
import { systemRandom } from '../base/random/random.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import { GarbageCollector } from '../collector/garbage-collector.ts';
import type { GarbageCollectorOptions } from '../collector/garbage-collector-options.ts';

/** Options of a collector; only the client is required. */
export interface CollectorOptions extends Omit<
  GarbageCollectorOptions,
  'clock' | 'random' | 'logger' | 'metrics' | 'client'
> {
  /** A client from `connectToCluster` of `kubegc/client`; its user needs the rights that docs/collect.md lists. */
  readonly client: RestClient;
  /** Silent by default. */
  readonly logger?: Logger | undefined;
  /** Counts nothing by default. */
  readonly metrics?: Metrics | undefined;
}

/**
 * A collector on the clock of this machine. From `run(signal)` on it deletes objects without an owner, so a cluster must have no other
 * collector: use a Lease where two may run.
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
