import type { DeletionLimits } from './breaker/circuit-breaker.ts';
import type { ClusterIdentity } from './trust/cluster-identity.ts';
import type { Clock } from '../base/time/clock.ts';
import type { Logger } from '../base/logs/logger.ts';
import type { Metrics } from '../base/metrics/metrics.ts';
import type { Random } from '../base/random/random.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import type { RetryOptions } from './queues/queues.ts';
import type { UnservedVersions } from './resources/kind-mapper.ts';
import type { GroupResourceName } from './resources/deletable-resources.ts';
import type { VanishLimit } from './types/event.ts';
import type { CarriedOut } from './workers/decision.ts';

/** The parts and settings of a collector. */
export interface GarbageCollectorOptions {
  /** Reads and writes the cluster. */
  readonly client: RestClient;
  /**
   * Restricts the collector's requests to one cluster. Default: a new identity. Other requests of the program, such as those of an
   * election, may share it. `certain`: the client cannot reach another cluster, as within one process.
   */
  readonly identity?: ClusterIdentity | 'certain' | undefined;
  /** Its source of time. */
  readonly clock: Clock;
  /** Spreads its retries. */
  readonly random: Random;
  /** Receives failures, and each decision at level debug. */
  readonly logger: Logger;
  /** Counts the collector's work. */
  readonly metrics: Metrics;
  /** Workers of each of the two queues (COL-084). */
  readonly concurrentGcSyncs?: number;
  /** Maximum number of concurrent calls at the start. Slow answers do not reduce the limit below it (BETTER-19). Default 8. */
  readonly fewCalls?: number;
  /** Interval between discovery refreshes (COL-016, COL-201), ms. */
  readonly syncPeriodMs?: number;
  /** The time that workers wait for the first lists at start (COL-210, COL-201), ms. */
  readonly initialSyncTimeoutMs?: number;
  /**
   * The place where the collector remembers owners that were deleted with policy Orphan (LIFE-561). Default `memory`. With `events` each
   * owner costs one request, and a collector that is started later knows them too.
   */
  readonly orphanRecords?: 'memory' | 'events';
  /** The time for which such an owner is remembered, ms. Default 1 h. Its Event may expire sooner; then a later collector does not know it. */
  readonly orphanRecordLifetimeMs?: number;
  /** Interval between two comparisons of the graph with fresh lists, ms. Default: compares only when asked. */
  readonly selfCheckPeriodMs?: number | undefined;
  /** The longest back-off of a key (BETTER-8), ms. */
  readonly retryCapMs?: number;
  /** How attempts at one key are spread. */
  readonly retry?: RetryOptions;
  /** Maximum number of remembered identities that are proven absent (COL-132). */
  readonly absentOwners?: number;
  /** Resources that are not watched, so their objects are never collected. Default: Events. */
  readonly ignoredResources?: readonly GroupResourceName[];
  /** Whether fresh lists are searched for unknown dependents before an orphaned owner is deleted (BETTER-13). Default `on`. */
  readonly orphanBarrier?: 'on' | 'off';
  /** Maximum time that an orphaned owner waits for these lists, ms. Default 2 s. */
  readonly orphanBarrierTimeoutMs?: number;
  /**
   * The part of a resource that may be missing from one list. If more is missing, nothing is deleted because of it until a second list
   * confirms it. Default: 50 objects, and a share of 0.2.
   */
  readonly vanishLimit?: VanishLimit | undefined;
  /**
   * Maximum number of objects that are deleted within a minute, per cause and overall. Further deletions are held until the annotation
   * `kubegc.io/resume-deletions` of Namespace kube-system names the trip. Default: no limit.
   */
  readonly deletionLimits?: DeletionLimits | undefined;
  /** Default `unresolved` (BETTER-12). */
  readonly unservedVersions?: UnservedVersions;
  /**
   * `whenLeading`: everything is watched and kept ready, but the collector decides and writes only within `GarbageCollector.lead` (COL-214,
   * BETTER-23). Default `always`.
   */
  readonly workers?: 'always' | 'whenLeading';
  /**
   * `withheld`: the collector decides and reads, but sends no write. The results of a decision list the writes that it would send as
   * `withheld`. Another collector does the work, and its writes come back as watch events. Default `allowed`.
   */
  readonly writes?: 'allowed' | 'withheld';
  /**
   * `reported`: also logs one line about each cascade that has passed, and one line about each object that has terminated for 30 s. The
   * latter says what holds the object and who set its finalizers, and costs one GET. Default `counted`: in metrics only.
   */
  readonly terminatingObjects?: 'counted' | 'reported';
  /** Called with every decision after its actions were carried out. */
  readonly onDecision?: (decision: CarriedOut) => void;
}

export const DEFAULTS = {
  concurrentGcSyncs: 20,
  syncPeriodMs: 30_000,
  initialSyncTimeoutMs: 30_000,
  retryCapMs: 60_000,
} as const;
