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
import type { GraphEvent } from '../types/event.ts';
import type { InDoubt } from '../types/monitor-event.ts';
import type { Graph } from '../graph/graph.ts';
import type { Identity, Uid } from '../types/identity.ts';
import type { OrphanedOwners } from '../caches/orphaned-owners.ts';
import { parseWorkKey, type WorkKey } from '../queues/work-key.ts';
import type { KindMapper } from '../resources/kind-mapper.ts';
import type { DeleteContext } from '../operations/delete-object.ts';
import type { PatchSupport } from '../operations/patch-support.ts';
import type { OnQueued, Queues } from '../queues/queues.ts';
import type { QueueReason } from '../types/reasons.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { AcceptedEnds } from './accepted-ends.ts';
import type { AwaitedNews } from './awaited-news.ts';
import type { CarriedOut, DecisionAbout } from './decision.ts';

/** What both kinds of workers stand on. */
export interface CollectorContext extends DeleteContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** For writes that did not happen: a server in trouble makes many of them. */
  readonly failures: BoundedLog;
  readonly graph: Graph;
  readonly absentOwners: AbsentOwnerCache;
  readonly orphanedOwners: OrphanedOwners;
  readonly acceptedEnds: AcceptedEnds;
  readonly awaitedNews: AwaitedNews;
  readonly kinds: KindMapper;
  readonly queues: Queues;
  readonly support: PatchSupport;
  readonly metrics: CollectorMetrics;
  /** Undefined: deletions have no limit. */
  readonly breaker: Pick<HeldDeletions, 'admit' | 'takeBack'> | undefined;
  /** `withheld`: what a decision wants written is reported and not sent. */
  readonly writes: 'allowed' | 'withheld';
  /** The one writer of the graph; see GraphWriter. */
  readonly apply: (event: GraphEvent, doubts?: number) => void;
  /** The client with one interceptor more, which is asked when a request has waited for its place. */
  readonly through: (interceptor: Interceptor) => RestClient;
  /** Whether the graph may answer instead of the server, as of now. */
  readonly trust: () => FactSource['trust'];
  /** See FactSource. */
  readonly trusts: NonNullable<FactSource['trusts']>;
  readonly follows: NonNullable<FactSource['follows']>;
  readonly holdsAbsences: NonNullable<FactSource['holdsAbsences']>;
  readonly versionFor: NonNullable<FactSource['versionFor']>;
  /** A read of this object said something else than the list or the watch of its resource, which is to be listed anew. */
  readonly onContradicted: (target: Target) => void;
  /** A call got no answer: whoever is asked next may be another one. Answers how many doubts there have been (AbsentOwnerCache). */
  readonly doubt: (about: InDoubt) => number;
  /** How many doubts there had been, with the last time that kube-apiserver was away for a watch of its own (AbsentOwnerCache). */
  readonly doubtsOfServer: () => number;
  /** No key is taken any more, and of the keys in work no more is begun (COL-215). */
  readonly stopping: AbortSignal;
  /** A worker itself put a key into a queue. */
  readonly onQueued: OnQueued;
  /** Why the key that was just taken had been queued last; undefined for one that is tried again. */
  readonly whyQueued: (key: WorkKey) => QueueReason | undefined;
  /** So many references of this object to orphaned owners, which had come late, were removed (LIFE-560). */
  readonly onReleasedLate: (dependent: Identity, references: number) => void;
  /** Told of every decision after it was carried out. */
  readonly onDecision?: (decision: CarriedOut) => void;
}

/** What a decision is about; nothing but the uid is looked up while nobody wants to know. */
export function aboutToTell({ graph, onDecision, whyQueued }: CollectorContext, key: WorkKey): DecisionAbout {
  const { uid } = parseWorkKey(key);
  if (onDecision === undefined) return { uid, identity: undefined, queuedFor: undefined };
  return { uid, identity: graph.node(uid)?.identity, queuedFor: whyQueued(key) };
}

/** `inDoubtSince`: how many doubts there had been when the last call for what is decided about got no answer; undefined: none did. */
export function factSource(context: CollectorContext, inDoubtSince?: number): FactSource {
  const { graph, absentOwners, orphanedOwners, clock, kinds } = context;
  const now = clock.now();
  return {
    graph,
    absentOwners,
    wasOrphaned: (owner) => orphanedOwners.has(owner, now),
    mapping: (apiVersion, kind, resource) => kinds.mapping(apiVersion, kind, resource),
    trust: inDoubtSince === undefined ? context.trust() : 'untrusted',
    trusts: context.trusts,
    follows: context.follows,
    holdsAbsences: context.holdsAbsences,
    versionFor: context.versionFor,
    isOfKubeApiserver: isServedByKubeApiserver,
    kindsReadSince: kinds.doubts >= Math.max(context.doubtsOfServer(), inDoubtSince ?? 0),
  };
}

/** A watch that works shows the object: it will show its deletion, if there was one (COL-116). */
export function isShown({ graph, follows }: Pick<CollectorContext, 'graph' | 'follows'>, uid: Uid): boolean {
  const node = graph.node(uid);
  if (node?.state !== 'observed' || node.unlisted) return false;
  return follows(node.identity.apiVersion, node.identity.kind);
}
