import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import type { Store } from '../storage/interface.ts';
import { StoreFollower } from '../storage/cache/store-follower.ts';

export interface BootstrapKeeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The keys of the objects that are restored. */
  readonly keys: readonly string[];
  /** Creates missing objects, and leaves existing ones unchanged. */
  readonly restore: () => Promise<void>;
}

/** The interval at which kube-apiserver checks its service. */
const AFTER_MS = 10_000;

/**
 * Restores objects of every cluster after a deletion: `kubectl delete all --all` also deletes Service `default/kubernetes`. It needs no
 * timer while nothing is missing.
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
        logger.warn('failed to restore the objects that every cluster has, will retry', { error: String(error) });
        this.#arm();
      });
    });
  }
}
