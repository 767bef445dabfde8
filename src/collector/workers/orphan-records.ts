import { formatTime, parseTime } from '../../api/meta/time.ts';
import { isAlreadyExists, isForbidden } from '../../api/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { messageOf } from '../../base/thrown.ts';
import type { RestClient } from '../../client/rest-client.ts';
import type { Target } from '../decide/target.ts';
import type { OrphanedOwners } from '../graph/orphaned-owners.ts';
import { type EventReason, sentenceOf } from '../reasons.ts';

export interface OrphanRecordsOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly orphanedOwners: OrphanedOwners;
  /** Name of the component in Events. */
  readonly component: string;
  /** `memory`: a collector that is started anew does not know them. */
  readonly keptIn: 'memory' | 'events';
}

const EVENTS = { group: '', version: 'v1', resource: 'events' };
const REASON: EventReason = 'DependentsOrphaned';
/** Where Events about cluster-scoped objects lie. */
const DEFAULT_NAMESPACE = 'default';
const PAGE_SIZE = 500;
/** Who takes over does not wait longer for what was recorded before, ms (BETTER-23). */
const LOAD_TIMEOUT_MS = 2000;

interface RecordedEvent {
  readonly involvedObject?: { readonly uid?: string };
  readonly lastTimestamp?: string | null;
}

/**
 * Notes which owners went with policy Orphan, before they go (LIFE-560), in memory and as Events, which survive this process and
 * expire by themselves (LIFE-561).
 */
export class OrphanRecords {
  readonly #options: OrphanRecordsOptions;
  #unwritable: 'unknown' | 'told' = 'unknown';

  constructor(options: OrphanRecordsOptions) {
    this.#options = options;
  }

  /** Resolves when the record is kept, as well as it can be; never rejects. One request, none when only memory is asked for. */
  async record(owner: Target, signal: AbortSignal): Promise<void> {
    const { clock, client, orphanedOwners, keptIn } = this.#options;
    orphanedOwners.record(owner.uid, clock.now());
    if (keptIn === 'memory') return;
    const namespace = owner.namespace === '' ? DEFAULT_NAMESPACE : owner.namespace;
    try {
      await client.create({ gvr: EVENTS, namespace }, this.#event(owner, namespace), { signal });
    } catch (error) {
      // There from an attempt before; or its namespace is being deleted, with everything in it.
      if (!isAlreadyExists(error) && !isForbidden(error)) this.#tell(error);
    }
  }

  /** Reads what a collector before this one has recorded. Never rejects. */
  async load(signal: AbortSignal): Promise<void> {
    const { client, clock, orphanedOwners, keptIn, logger } = this.#options;
    if (keptIn === 'memory') return;
    try {
      let token: string | undefined;
      do {
        const query = { fieldSelector: `reason=${REASON}`, limit: PAGE_SIZE, continue: token };
        const { items, metadata } = await client.list<RecordedEvent>(
          { gvr: EVENTS },
          { query, signal, timeoutMs: LOAD_TIMEOUT_MS },
        );
        for (const { involvedObject, lastTimestamp } of items) {
          const at = parseTime(lastTimestamp ?? '') ?? clock.now();
          if (involvedObject?.uid !== undefined) orphanedOwners.record(involvedObject.uid, at);
        }
        token = metadata.continue === '' ? undefined : metadata.continue;
      } while (token !== undefined);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn('the Events of orphaned owners could not be read: who refers to one of them is taken for garbage', {
        error: messageOf(error),
      });
    }
  }

  /** Its name is made of the uid, so that there is one, however often it is written. */
  #event({ apiVersion, kind, namespace: ownerNamespace, name, uid }: Target, namespace: string): object {
    const { clock, component } = this.#options;
    const now = formatTime(clock.now());
    return {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: `orphaned-${uid}`, namespace },
      involvedObject: { apiVersion, kind, ...(ownerNamespace === '' ? {} : { namespace: ownerNamespace }), name, uid },
      reason: REASON,
      message: sentenceOf(REASON),
      type: 'Normal',
      source: { component },
      reportingComponent: component,
      reportingInstance: '',
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
  }

  #tell(error: unknown): void {
    if (this.#unwritable === 'told') return;
    this.#unwritable = 'told';
    this.#options.logger.warn('an orphaned owner is remembered in memory only: the Event of it could not be written', {
      error: messageOf(error),
    });
  }
}
