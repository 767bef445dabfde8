import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Store } from '../../storage/interface.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import { type MatchResources, readSelectors } from '../matching/match-resources.ts';
import { WEBHOOK_RESOURCES, type Webhook, type WebhookConfiguration, type WebhookType } from './configuration.ts';

/** One webhook of one configuration, with its selectors and conditions parsed. */
export interface WebhookAccessor {
  readonly configuration: string;
  /** Stays the same for one webhook as long as its configuration is not reordered. */
  readonly uid: string;
  readonly hook: Webhook;
  readonly match: MatchResources;
}

export interface WebhookSourceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly type: WebhookType;
}

/**
 * The webhooks of all configurations in calling order: by the configuration's name, then as listed (API-355). It follows the store, so that
 * changes take effect with the next request.
 */
export class WebhookSource {
  readonly #table: LiveTable<readonly WebhookAccessor[]>;
  #ordered: readonly WebhookAccessor[] | undefined;

  constructor({ store, clock, logger, type }: WebhookSourceOptions) {
    this.#table = new LiveTable({
      store,
      clock,
      logger,
      prefix: resourcePrefix(WEBHOOK_RESOURCES[type]),
      read: (object) => accessorsOf(object as WebhookConfiguration),
      changed: () => {
        this.#ordered = undefined;
      },
    });
  }

  start(): Promise<void> {
    return this.#table.start();
  }

  stop(): void {
    this.#table.stop();
  }

  webhooks(): readonly WebhookAccessor[] {
    return (this.#ordered ??= [...this.#table.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, accessors]) => accessors));
  }
}

/** A repeated name is followed by the number of its occurrence. */
function accessorsOf({ metadata, webhooks = [] }: WebhookConfiguration): WebhookAccessor[] {
  const configuration = metadata?.name ?? '';
  const occurred = new Map<string, number>();
  return webhooks.map((hook) => {
    const times = occurred.get(hook.name) ?? 0;
    occurred.set(hook.name, times + 1);
    return {
      configuration,
      uid: `${configuration}/${hook.name}/${times}`,
      hook,
      match: { ...readSelectors(hook), rules: hook.rules ?? [], excludeRules: [] },
    };
  });
}
