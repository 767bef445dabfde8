import { apiVersionOf } from '../api/meta/group-version-kind.ts';
import type { Clock, Timer } from '../base/time/clock.ts';
import type { Logger } from '../base/logs/logger.ts';
import type { RestClient } from '../client/rest/rest-client.ts';
import type { GraphWriter } from './graph-writer.ts';
import type { ResourceSync } from './monitors/resource-sync.ts';
import { TroubleLog } from './monitors/trouble-log.ts';
import { listVersion } from './operations/list-version.ts';
import { type ConfigurationEffect, configurationEffect } from './resources/configuration-resources.ts';
import { type OfferedResource, resourceKey } from './resources/deletable-resources.ts';
import { isServedByKubeApiserver } from './resources/served-by-kube-apiserver.ts';
import type { HeldLists } from './trust/held-lists.ts';
import type { Outages } from './trust/outages.ts';
import { ResumedWatches } from './trust/resumed-watches.ts';
import type { MonitorEvent } from './types/monitor-event.ts';

interface MonitorIntakeOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly writer: Pick<GraphWriter, 'lookAgain' | 'touched' | 'wakeAll'>;
  readonly lists: Pick<HeldLists, 'listed'>;
  readonly outages: Pick<Outages, 'watchFailed' | 'watchBroke' | 'watchRecovered' | 'historyReset'>;
  readonly resourceSync: () => Pick<ResourceSync, 'sooner'>;
}

/** Changes of admission within this time wake the waiting keys only once, ms. */
const WAKE_APART_MS = 1000;

/** Takes the events of all monitors, and passes each event to the parts that need it. */
export class MonitorIntake {
  readonly #options: MonitorIntakeOptions;
  readonly #troubles: TroubleLog;
  readonly #resumedWatches: ResumedWatches;
  /** Set while a change of admission is to wake the waiting keys. */
  #wakeTimer: Timer | undefined;

  constructor(options: MonitorIntakeOptions) {
    const { client, clock, logger } = options;
    this.#options = options;
    this.#troubles = new TroubleLog({ clock, logger });
    this.#resumedWatches = new ResumedWatches({
      clock,
      logger,
      ask: (offered, signal) => listVersion({ client, signal }, { gvr: offered }),
    });
  }

  /** Takes the events of one monitor. `changed` comes with every watch event of every object, and is cheap. */
  readonly of = (offered: OfferedResource): ((event: MonitorEvent) => void) => {
    const effect = configurationEffect(offered);
    return (event) => this.#take(offered, effect, event);
  };

  #take(offered: OfferedResource, effect: ConfigurationEffect | undefined, event: MonitorEvent): void {
    const { logger, writer, lists, outages } = this.#options;
    switch (event.type) {
      case 'changed':
        return effect === undefined ? undefined : this.#configurationChanged(effect);
      case 'touched':
        return writer.touched(event.columns);
      case 'waitingListed':
        return writer.lookAgain(event.columns);
      case 'listed':
        return lists.listed(offered);
      case 'synced':
        return logger.debug('a monitor is synced', { resource: resourceKey(offered) });
      case 'troubleChanged':
        return;
      case 'outage':
        return outages.watchFailed(offered, event.scope);
      case 'failed':
        this.#troubles.failed(resourceKey(offered), event.error);
        this.#resumedWatches.forget(offered);
        return outages.watchBroke(offered, event.error);
      case 'cut':
        this.#resumedWatches.forget(offered);
        return outages.watchBroke(offered, event.error);
      case 'answered':
        return this.#troubles.answered(resourceKey(offered));
      case 'resumed':
        return this.#resumed(offered, event.version);
      case 'recovered':
        this.#troubles.recovered(resourceKey(offered));
        this.#resumedWatches.forget(offered);
        return outages.watchRecovered();
      case 'historyReset':
        return outages.historyReset(offered, event.evidence);
      case 'stopped':
        this.#troubles.forget(resourceKey(offered));
        return this.#resumedWatches.forget(offered);
    }
  }

  async stop(): Promise<void> {
    this.#troubles.stop();
    await this.#resumedWatches.stop();
    this.#wakeTimer?.cancel();
  }

  /** Only versions of kube-apiserver itself can be compared with those of other resources. */
  #resumed(offered: OfferedResource, version: number): void {
    if (!isServedByKubeApiserver(apiVersionOf(offered))) return;
    const onOlder = (): void => this.#options.outages.historyReset(offered, 'lowerVersion');
    this.#resumedWatches.add({ offered, version, onOlder });
  }

  #configurationChanged(effect: ConfigurationEffect): void {
    const { clock, writer, resourceSync } = this.#options;
    if (effect === 'discovery') resourceSync().sooner('definitionChanged');
    // A change takes effect a little later than the object that requests it appears.
    this.#wakeTimer ??= clock.setTimer(WAKE_APART_MS, () => {
      this.#wakeTimer = undefined;
      writer.wakeAll();
    });
  }
}
