import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { AbsentOwnerCache } from '../caches/absent-owner-cache.ts';
import type { Target } from '../decide/target.ts';
import type { OnQueued, Queues } from '../queues/queues.ts';
import { type WorkKey, workKey } from '../queues/work-key.ts';
import { type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import type { GraphEvent } from '../types/event.ts';
import type { Uid } from '../types/identity.ts';
import type { HistoryEvidence, OutageScope } from '../types/monitor-event.ts';
import { breakageOf, outageOfCall } from './outage-scope.ts';
import type { ReopenedWatches } from './reopened-watches.ts';
import type { Trust } from './trust.ts';

type ResourceName = Pick<Target, 'apiVersion' | 'resource'>;

interface OutagesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly trust: Trust;
  /** The one writer of the graph. */
  readonly apply: (event: GraphEvent) => void;
  /** Relists these resources. */
  readonly restart: (isMeant?: (resource: OfferedResource) => boolean) => void;
  /** Opens watches anew after an outage of the server. */
  readonly reopened: Pick<ReopenedWatches, 'suspect'>;
  /** Reads the records of orphaned owners again. */
  readonly resetRecords: () => void;
  readonly absentOwners: Pick<AbsentOwnerCache, 'clear'>;
  readonly queues: Pick<Queues, 'attemptToDelete'>;
  readonly onQueued: OnQueued;
}

/** Updates the graph, the queues and the monitors after a server was away or went back in time. Keeps no state. */
export class Outages {
  readonly #options: OutagesOptions;

  constructor(options: OutagesOptions) {
    this.#options = options;
  }

  /** A list or watch of this resource failed. */
  watchFailed(offered: OfferedResource, scope: OutageScope): void {
    const { clock, trust } = this.#options;
    this.#lookAgain(trust.watchFailed(offered, scope, clock.monotonic()));
  }

  /** A list or watch of this resource failed, or the connection of its watch was cut. */
  watchBroke(offered: OfferedResource, error: Error): void {
    this.#broke({ apiVersion: apiVersionOf(offered), resource: offered.resource }, error);
  }

  /** A call for this key failed, about an object of this resource. */
  callFailed(key: WorkKey, about: ResourceName, error: Error): void {
    const { clock, trust } = this.#options;
    const scope = outageOfCall(error, about.apiVersion);
    if (scope === undefined) return;
    trust.callUnanswered(key, scope, clock.monotonic());
    this.#broke(about, error);
  }

  /** A list or watch that had failed works again. */
  watchRecovered(): void {
    this.#lookAgain(this.#options.trust.watchRecovered());
  }

  /** The server forgot the state that it had shown. Deleted uids may exist again, so every absence must be proven again. */
  historyReset(offered: OfferedResource, evidence: HistoryEvidence): void {
    const { clock, logger, trust, absentOwners, apply, restart, resetRecords } = this.#options;
    const resource = resourceKey(offered);
    const scope = trust.historyReplaced(offered, evidence, clock.monotonic());
    const said =
      evidence === 'lowerVersion' ? 'the resource version went backwards' : 'the server took a deletion back';
    logger.warn(scope === 'server' ? `${said}; everything is listed anew` : said, { resource });
    absentOwners.clear();
    apply(scope === 'server' ? { type: 'historyReset' } : { type: 'historyReset', of: 'serverBeside' });
    if (scope === 'asListed') return;
    if (scope === 'resource') return restart((each) => resourceKey(each) === resource);
    resetRecords();
    restart();
  }

  /** If the server was away, all watches are opened anew. */
  #broke({ apiVersion, resource }: ResourceName, error: Error): void {
    const { clock, trust, reopened } = this.#options;
    const how = breakageOf(error, apiVersion);
    const uids = how && trust.requestBroke(`${apiVersion} ${resource}`, how, clock.monotonic());
    if (uids === undefined) return;
    reopened.suspect();
    this.#lookAgain(uids);
  }

  #lookAgain(uids: readonly Uid[]): void {
    const { onQueued, queues } = this.#options;
    for (const uid of uids) {
      onQueued({ queue: 'attemptToDelete', uid, as: 'observed' }, 'newsInDoubt');
      queues.attemptToDelete.add(workKey(uid, 'observed'));
    }
  }
}
