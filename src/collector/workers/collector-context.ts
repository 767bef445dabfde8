import type { Target } from '../decide/target.ts';
import type { BoundedLog } from '../../base/logs/bounded-log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Random } from '../../base/random/random.ts';
import type { Interceptor } from '../../client/rest/interceptor.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { FactSource } from '../decide/gather-facts.ts';
import type { CollectorMetrics } from '../observation/collector-metrics.ts';
import type { HeldDeletions } from '../breaker/held-deletions.ts';
import type { AbsentOwnerCache } from '../caches/absent-owner-cache.ts';
import type { Epoch } from '../types/epoch.ts';
import type { GraphEvent } from '../types/event.ts';
import type { Graph } from '../graph/graph.ts';
import type { Identity, Uid } from '../types/identity.ts';
import type { OrphanedOwners } from '../caches/orphaned-owners.ts';
import { parseWorkKey, type WorkKey } from '../queues/work-key.ts';
import type { KindMapper } from '../resources/kind-mapper.ts';
import type { DeleteContext } from '../operations/delete-object.ts';
import type { PatchSupport } from '../operations/patch-support.ts';
import type { OnQueued, Queues } from '../queues/queues.ts';
import type { QueueReason } from '../types/reasons.ts';
import type { Trust } from '../trust/trust.ts';
import type { CarriedOut, DecisionAbout } from './decision.ts';

/** The parts that both kinds of workers use. */
export interface CollectorContext extends DeleteContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Logs failed writes. It is bounded because a server in trouble causes many of them. */
  readonly failures: BoundedLog;
  readonly graph: Graph;
  readonly absentOwners: AbsentOwnerCache;
  readonly orphanedOwners: OrphanedOwners;
  readonly kinds: KindMapper;
  readonly queues: Queues;
  readonly support: PatchSupport;
  readonly metrics: CollectorMetrics;
  /** Undefined: deletions have no limit. */
  readonly breaker: Pick<HeldDeletions, 'admit' | 'takeBack'> | undefined;
  /** `withheld`: the writes of a decision are reported and not sent. */
  readonly writes: 'allowed' | 'withheld';
  /** The one writer of the graph; see GraphWriter. */
  readonly apply: (event: GraphEvent, epoch?: Epoch) => void;
  /** Returns the client with one more interceptor, which is called after a request has waited for its place. */
  readonly through: (interceptor: Interceptor) => RestClient;
  /** Whether the graph may be believed now instead of a read. */
  readonly trust: Trust;
  /** See FactSource. */
  readonly versionFor: NonNullable<FactSource['versionFor']>;
  /** A call for this key failed, about this object. */
  readonly onCallFailed: (key: WorkKey, target: Target, error: Error) => void;
  /** A read of this object disagreed with the list or the watch of its resource, which must be relisted. */
  readonly onContradicted: (target: Target) => void;
  /** Once it is aborted, no key is taken any more, and nothing more is begun for the keys in work (COL-215). */
  readonly stopping: AbortSignal;
  /** A worker itself put a key into a queue. */
  readonly onQueued: OnQueued;
  /** Why the key that was just taken was last queued; undefined for a key that is tried again. */
  readonly whyQueued: (key: WorkKey) => QueueReason | undefined;
  /** Called with the number of late references of this object to orphaned owners that were removed (LIFE-560). */
  readonly onReleasedLate: (dependent: Identity, references: number) => void;
  /** Called with every decision after it was carried out. */
  readonly onDecision?: (decision: CarriedOut) => void;
}

/** Identifies the object of a decision. Only the uid is looked up if nobody listens for decisions. */
export function aboutToTell({ graph, onDecision, whyQueued }: CollectorContext, key: WorkKey): DecisionAbout {
  const { uid } = parseWorkKey(key);
  if (onDecision === undefined) return { uid, identity: undefined, queuedFor: undefined };
  return { uid, identity: graph.node(uid)?.identity, queuedFor: whyQueued(key) };
}

/** `unansweredAt`: when the last call for the object of the decision got no answer; undefined: it got one. See Trust. */
export function factSource(context: CollectorContext, unansweredAt?: number): FactSource {
  const { graph, absentOwners, orphanedOwners, clock, kinds, trust } = context;
  const now = clock.now();
  return {
    graph,
    absentOwners,
    wasOrphaned: (owner) => orphanedOwners.has(owner, now),
    mapping: (apiVersion, kind, resource) => kinds.mapping(apiVersion, kind, resource),
    trust: trust.answers && unansweredAt === undefined ? 'trusted' : 'untrusted',
    trusts: (apiVersion, kind) => trust.answersFor(apiVersion, kind),
    follows: (apiVersion, kind) => trust.shows(apiVersion, kind),
    holdsAbsences: (apiVersion, kind) => trust.absences.holds(apiVersion, kind),
    versionFor: context.versionFor,
    provenSince: (apiVersion) => trust.provenSince(apiVersion),
    kindsReadSince: trust.mayBelieveDiscovery(kinds.readAt, unansweredAt),
  };
}

/** Whether a working watch shows the object. Such a watch will show the deletion too, if there was one (COL-116). */
export function isShown({ graph, trust }: Pick<CollectorContext, 'graph' | 'trust'>, uid: Uid): boolean {
  const node = graph.node(uid);
  if (node?.state !== 'observed' || node.unlisted) return false;
  return trust.shows(node.identity.apiVersion, node.identity.kind);
}
