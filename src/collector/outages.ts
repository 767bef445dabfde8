import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import type { Clock } from '../base/time/clock.ts';
import type { Logger } from '../base/logs/logger.ts';
import type { AbsentOwnerCache } from './caches/absent-owner-cache.ts';
import type { GraphWriter } from './graph-writer.ts';
import { HistoryScopes } from './monitors/history-scopes.ts';
import type { Monitors } from './monitors/monitors.ts';
import type { OnQueued, Queues } from './queues/queues.ts';
import { workKey } from './queues/work-key.ts';
import { type OfferedResource, resourceKey } from './resources/deletable-resources.ts';
import { isServedByKubeApiserver } from './resources/served-by-kube-apiserver.ts';
import { SettledDoubts } from './settled-doubts.ts';
import type { HistoryEvidence, InDoubt } from './types/monitor-event.ts';
import type { AcceptedEnds } from './workers/accepted-ends.ts';
import type { AwaitedNews } from './workers/awaited-news.ts';
import type { OrphanRecords } from './workers/orphan-records.ts';
import type { WorkGate } from './workers/work-gate.ts';

export interface OutagesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Pick<GraphWriter, 'apply'>;
  readonly monitors: () => Pick<Monitors, 'restart'>;
  readonly absentOwners: AbsentOwnerCache;
  readonly acceptedEnds: AcceptedEnds;
  readonly awaitedNews: AwaitedNews;
  readonly orphanRecords: OrphanRecords;
  readonly queues: Queues;
  readonly onQueued: OnQueued;
  readonly gate: WorkGate;
}

/** What follows for caches, queues and monitors when a server was away, or went back in time. */
export class Outages {
  readonly #options: OutagesOptions;
  readonly #historyScopes: HistoryScopes;
  readonly #settledDoubts: SettledDoubts;
  #doubtsOfServer = 0;

  constructor(options: OutagesOptions) {
    this.#options = options;
    this.#historyScopes = new HistoryScopes(options.clock);
    this.#settledDoubts = new SettledDoubts(options.clock);
  }

  /** How many doubts there were with the last one that was about kube-apiserver itself. */
  get doubtsOfServer(): number {
    return this.#doubtsOfServer;
  }

  /** How many doubts are so old that discovery can be believed again. */
  get settledDoubts(): number {
    return this.#settledDoubts.count;
  }

  /** The server of this resource is away, or was. Another server than kube-apiserver says nothing about kube-apiserver. */
  watchFailed(offered: OfferedResource, about: InDoubt): void {
    const doubts = this.doubt(about);
    // One kind says nothing about the events of others; its own are queued when it has recovered.
    if (about === 'all') this.queueAwaited();
    if (isServedByKubeApiserver(apiVersionOf(offered))) this.#doubtsOfServer = doubts;
  }

  /** Answers how many there have been (AbsentOwnerCache). */
  doubt(about: InDoubt): number {
    const doubts = this.#options.absentOwners.doubt(about);
    this.#settledDoubts.note(doubts);
    return doubts;
  }

  /** Queues what waits for a watch event that may never come: the server that is back may not have the writes that were accepted. */
  queueAwaited(): void {
    const { acceptedEnds, awaitedNews, onQueued, queues } = this.#options;
    acceptedEnds.forgetAll();
    for (const uid of awaitedNews.take()) {
      onQueued({ queue: 'attemptToDelete', uid, as: 'observed' }, 'newsInDoubt');
      queues.attemptToDelete.add(workKey(uid, 'observed'));
    }
  }

  /** The server forgot what it had shown: uids that went may be alive again, so that every absence is a question. */
  historyReset(offered: OfferedResource, evidence: HistoryEvidence): void {
    const { logger, absentOwners, acceptedEnds, writer, monitors, orphanRecords, gate } = this.#options;
    const resource = resourceKey(offered);
    const scope = this.#historyScopes.of(offered, evidence);
    const said =
      evidence === 'lowerVersion' ? 'the resource version went backwards' : 'the server took a deletion back';
    logger.warn(scope === 'server' ? `${said}; everything is listed anew` : said, { resource });
    absentOwners.clear();
    acceptedEnds.forgetAll();
    writer.apply(scope === 'server' ? { type: 'historyReset' } : { type: 'historyReset', of: 'serverBeside' });
    if (scope === 'asListed') return;
    if (scope === 'resource') return void monitors().restart((each) => resourceKey(each) === resource);
    void orphanRecords.reset(gate.term.stopping);
    void monitors().restart();
  }
}
