import { formatTime, parseTime } from '../../api/meta/time.ts';
import { hasStatusCause, isAlreadyExists } from '../../api/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { messageOf } from '../../base/thrown.ts';
import type { RestClient } from '../../client/rest-client.ts';
import { TransportError } from '../../client/transport.ts';
import type { Target } from '../decide/target.ts';
import type { OrphanedOwner, OrphanedOwners } from '../graph/orphaned-owners.ts';
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
/** As many records as are remembered at once (LIFE-561): more would push others out. */
const MAX_PAGES = 200;
/** Who takes over does not wait longer for what was recorded before, ms: a page, and all of them. */
const PAGE_TIMEOUT_MS = 2000;
const LOAD_TIMEOUT_MS = 10_000;

/** What is read of an Event that anybody may have written. */
interface ForeignEvent {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly involvedObject?: Partial<OrphanedOwner>;
  readonly reason?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly lastTimestamp?: string | null;
}

interface RecordedOwner {
  readonly owner: OrphanedOwner;
  /** Epoch ms, as somebody says. */
  readonly recordedAt: number;
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

  /**
   * Resolves when the record is kept, as well as it can be; `termEnded`: who leads next has to do it. Never rejects. One request, two
   * after an attempt before, none when only memory is asked for.
   */
  async record(owner: Target, signal: AbortSignal): Promise<'recorded' | 'termEnded'> {
    const { clock, client, logger, orphanedOwners, keptIn } = this.#options;
    orphanedOwners.record(owner, clock.now());
    logger.debug(sentenceOf(REASON), { ...owner, reason: REASON });
    if (keptIn === 'memory') return 'recorded';
    try {
      await client.create({ gvr: EVENTS, namespace: namespaceOfEvent(owner) }, this.#event(owner), { signal });
    } catch (error) {
      if (signal.aborted || isGivenUp(error)) return 'termEnded';
      // A namespace that is being deleted takes everything in it along.
      if (hasStatusCause(error, 'NamespaceTerminating')) return 'recorded';
      const kept = isAlreadyExists(error) && (await this.#isKept(owner, signal));
      if (signal.aborted) return 'termEnded';
      if (!kept) this.#tell(error);
    }
    return 'recorded';
  }

  /** Reads what a collector before this one has recorded. Never rejects. */
  async load(signal: AbortSignal): Promise<void> {
    const { client, clock, orphanedOwners, component, keptIn, logger } = this.#options;
    if (keptIn === 'memory') return;
    const deadline = clock.monotonic() + LOAD_TIMEOUT_MS;
    try {
      let token: string | undefined;
      for (let page = 0; page === 0 || token !== undefined; page++) {
        const left = deadline - clock.monotonic();
        if (left <= 0 || page === MAX_PAGES) throw new Error(`there are more than ${page * PAGE_SIZE}`);
        const query = { fieldSelector: `reason=${REASON}`, limit: PAGE_SIZE, continue: token };
        const { items, metadata } = await client.list<ForeignEvent>(
          { gvr: EVENTS },
          { query, signal, timeoutMs: Math.min(left, PAGE_TIMEOUT_MS) },
        );
        for (const item of items) {
          const recorded = recordIn(item, component);
          if (recorded !== undefined) orphanedOwners.record(recorded.owner, clock.now(), recorded.recordedAt);
        }
        token = metadata.continue === '' ? undefined : metadata.continue;
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        'the Events of orphaned owners could not all be read: who refers to one of them is taken for garbage',
        {
          error: messageOf(error),
        },
      );
    }
  }

  /** Whether the Event that is there is that of this owner, from an attempt before. */
  async #isKept(owner: Target, signal: AbortSignal): Promise<boolean> {
    const { client, component } = this.#options;
    const ref = { gvr: EVENTS, namespace: namespaceOfEvent(owner), name: nameOfEvent(owner) };
    try {
      const recorded = recordIn(await client.get<ForeignEvent>(ref, { signal }), component);
      return recorded !== undefined && sameOwner(recorded.owner, owner);
    } catch {
      return false;
    }
  }

  #event(owner: Target): object {
    const { apiVersion, kind, namespace, name, uid } = owner;
    const { clock, component } = this.#options;
    const now = formatTime(clock.now());
    return {
      kind: 'Event',
      apiVersion: 'v1',
      metadata: { name: nameOfEvent(owner), namespace: namespaceOfEvent(owner) },
      involvedObject: { apiVersion, kind, ...(namespace === '' ? {} : { namespace }), name, uid },
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

/** It was not sent, or cut off: the time to write is over (`cli/write-guard.ts`). That says nothing about Events. */
function isGivenUp(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'aborted';
}

/** Made of the uid, so that there is one, however often it is written. */
function nameOfEvent({ uid }: Pick<OrphanedOwner, 'uid'>): string {
  return `orphaned-${uid}`;
}

function namespaceOfEvent({ namespace }: Pick<OrphanedOwner, 'namespace'>): string {
  return namespace === '' ? DEFAULT_NAMESPACE : namespace;
}

/** What an Event records, if it is as a collector writes it (LIFE-561): who may write only elsewhere has no say about this owner. */
function recordIn(event: ForeignEvent, component: string): RecordedOwner | undefined {
  const { kind, namespace = '', name, uid } = event.involvedObject ?? {};
  const recordedAt = parseTime(event.lastTimestamp ?? '');
  if (kind === undefined || name === undefined || uid === undefined || recordedAt === undefined) return undefined;
  const owner = { kind, namespace, name, uid };
  const ours =
    event.reason === REASON &&
    event.metadata?.name === nameOfEvent(owner) &&
    event.metadata.namespace === namespaceOfEvent(owner) &&
    event.source?.component === component &&
    event.reportingComponent === component;
  return ours ? { owner, recordedAt } : undefined;
}

function sameOwner(a: OrphanedOwner, b: OrphanedOwner): boolean {
  return a.uid === b.uid && a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}
