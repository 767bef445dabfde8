import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Store } from '../storage/interface.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';

export interface BootstrapKeeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The objects in the store that must not be missing for long. */
  readonly keys: readonly string[];
  /** Makes what is missing, and leaves alone what is there. */
  readonly restore: () => Promise<void>;
}

/** How often kube-apiserver looks whether its service is there. */
const AFTER_MS = 10_000;

/**
 * Brings back what belongs to every cluster when somebody has deleted it: `kubectl delete all --all` takes Service `default/kubernetes`
 * with it. Nothing is due, and no timer runs, as long as nothing is missing.
 */
export class BootstrapKeeper {
  readonly #options: BootstrapKeeperOptions;
  readonly #followers: readonly StoreFollower[];
  #due: Timer | undefined;
  #state: 'running' | 'stopped' = 'running';

  constructor(options: BootstrapKeeperOptions) {
    this.#options = options;
    const { store, clock, logger, keys } = options;
    this.#followers = keys.map(
      (key) =>
        new StoreFollower({
          store,
          clock,
          logger,
          prefix: key,
          replace: (items) => {
            if (!items.some((item) => item.key === key)) this.#arm();
          },
          observe: (events) => {
            if (events.some((event) => event.key === key && event.type === 'DELETE')) this.#arm();
          },
        }),
    );
  }

  async start(): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.start()));
  }

  stop(): void {
    this.#state = 'stopped';
    this.#due?.cancel();
    for (const follower of this.#followers) follower.stop();
  }

  #arm(): void {
    if (this.#due !== undefined || this.#state === 'stopped') return;
    const { clock, logger, restore } = this.#options;
    this.#due = clock.setTimer(AFTER_MS, () => {
      this.#due = undefined;
      restore().catch((error: unknown) => {
        logger.warn('what belongs to every cluster could not be made again', { error: String(error) });
        this.#arm();
      });
    });
  }
}
