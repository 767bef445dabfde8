import { hostname } from 'node:os';
import type { Random } from '../../base/random/random.ts';
import type { Service } from '../../base/service.ts';
import { LeaderElector } from '../../client/election/leader-elector.ts';
import type { LeaseTimes } from '../../client/election/leader-election.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { buildCollector, buildControllers, type ControllersOptions } from '../../assembly/build-controllers.ts';

/** The server that holds this lease runs the controllers of the store. */
export const CONTROLLERS_LEASE = { namespace: 'kube-system', name: 'kubegc-controllers' } as const;

export interface LedControllersOptions extends ControllersOptions {
  /** Makes the identity of this process in the lease. */
  readonly random: Random;
  /** The client of the lease. The lease must not guard its writes. */
  readonly leaseClient: RestClient;
  readonly times: LeaseTimes;
}

/**
 * The controllers of one of several servers, which work while it leads. The collector watches all the time, so that it continues with a
 * complete graph when another server has died; the other controllers are small and start again.
 */
export class LedControllers implements Service {
  readonly #options: LedControllersOptions;
  readonly #elector: LeaderElector;

  constructor(options: LedControllersOptions) {
    this.#options = options;
    const { leaseClient, clock, random, logger, metrics, times } = options;
    this.#elector = new LeaderElector({
      ...CONTROLLERS_LEASE,
      client: leaseClient,
      clock,
      random,
      logger,
      metrics,
      times,
      identity: `${hostname()}_${random.uuid()}`,
    });
  }

  /** True while this server leads. Check this directly before each write of a controller. */
  get mayWrite(): boolean {
    return this.#elector.leading;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { selected } = this.#options;
    const collects = selected.has('garbage-collector-controller');
    const collector = collects ? await buildCollector(this.#options, 'whenLeading') : undefined;
    const others = new Set([...selected].filter((name) => name !== 'garbage-collector-controller'));
    // The collector's watches end after its last term.
    const watching = new AbortController();
    const collecting = collector?.run(watching.signal);
    const leading = this.#elector
      .run(signal, async (term) => {
        const { services } = await buildControllers({ ...this.#options, selected: others });
        await Promise.all([collector?.lead(term), ...services.map((service) => service.run(term))]);
      })
      .finally(() => watching.abort());
    await Promise.all([collecting, leading]);
  }
}
