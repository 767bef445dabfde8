import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Target } from '../decide/target.ts';
import type { HeldAbsencesEffect } from '../graph/effect.ts';
import { monitoredResourceOf, type OfferedResource, resourceKey } from '../resources/deletable-resources.ts';
import type { HeldAbsences } from './held-absences.ts';
import { KUBE_SYSTEM } from '../types/namespaces.ts';
import { Relists } from './relists.ts';

interface HeldListsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly absences: HeldAbsences;
  readonly monitors: () => {
    readonly resources: readonly OfferedResource[];
    /** Relists these resources. The history of the server is the same. */
    restart(isMeant: (resource: OfferedResource) => boolean, history: 'sameHistory'): unknown;
  };
}

/** Time after which a list that lacked too many objects is repeated, ms. */
const CONFIRM_MS = 10_000;

/** Handles lists that lacked more objects than one list can prove: holds their absences, warns, and has the lists repeated. */
export class HeldLists {
  readonly #options: HeldListsOptions;
  readonly #relists: Relists;

  constructor(options: HeldListsOptions) {
    const { clock, absences, monitors } = options;
    this.#options = options;
    this.#relists = new Relists({
      clock,
      list: (key) => {
        const offered = monitors().resources.find((each) => resourceKey(each) === key);
        if (offered !== undefined) absences.ask(monitoredResourceOf(offered));
        void monitors().restart((each) => resourceKey(each) === key, 'sameHistory');
      },
    });
  }

  /** True if no list is held, and none waits to be repeated. */
  get settled(): boolean {
    return this.#options.absences.size === 0 && this.#relists.size === 0;
  }

  /** A list lacked too many objects. Its absences are not believed until a second list, a while later, lacks the same objects. */
  readonly held = ({ resource, missing, known }: HeldAbsencesEffect): void => {
    if (this.#options.absences.begin({ resource, missing, known }) === 'goesOn') return;
    const { logger, recorder } = this.#options;
    const { apiVersion, kind, resource: plural } = resource;
    const reason = 'VanishedObjectsNotBelieved';
    const message = `${missing} of ${known} objects of ${plural} (${apiVersion}) vanished at once: nothing is deleted because of it until a second list has confirmed it`;
    logger.warn(message, { apiVersion, kind, resource: plural, missing, known, reason });
    recorder.event(KUBE_SYSTEM, { type: 'Warning', reason, message });
    const offered = this.#offeredOf(apiVersion, plural);
    if (offered !== undefined) this.#relists.ask(resourceKey(offered), CONFIRM_MS);
  };

  listed(offered: OfferedResource): void {
    const resource = monitoredResourceOf(offered);
    const end = this.#options.absences.listed(resource);
    if (end === undefined) return;
    const { apiVersion, kind, resource: plural } = resource;
    const said =
      end === 'confirmed'
        ? 'a second list has confirmed what vanished; owners are read before anything is deleted'
        : 'a later list shows the objects again that had vanished';
    this.#options.logger.info(said, { apiVersion, kind, resource: plural });
  }

  /** A read of this object disagreed with the list or the watch of its resource, which is relisted. */
  readonly contradicted = ({ apiVersion, resource }: Target): void => {
    const offered = this.#offeredOf(apiVersion, resource);
    if (offered !== undefined) this.#relists.ask(resourceKey(offered));
  };

  stop(): void {
    this.#relists.stop();
  }

  #offeredOf(apiVersion: string, resource: string): OfferedResource | undefined {
    const { resources } = this.#options.monitors();
    return resources.find((each) => each.resource === resource && apiVersionOf(each) === apiVersion);
  }
}
