import { formatTime, parseTime } from '../../api/meta/time.ts';
import { hasStatusCause, isAlreadyExists, isConflict, isNotFound } from '../../api/status-error.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { Logger } from '../../base/logs/logger.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { TransportError } from '../../client/http/transport.ts';
import type { Target } from '../decide/target.ts';
import type { OrphanedOwner, OrphanedOwners } from '../caches/orphaned-owners.ts';
import { type EventReason, sentenceOf } from '../types/reasons.ts';

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
/** Between two attempts while the server does not answer, ms. */
const RETRY_MS = 500;
/** An Event that an attempt before has written counts from this one if it is older, ms. */
const FRESH_MS = 60_000;
/** Attempts at one Event, which others may write or remove in between. */
const MAX_TRIES = 3;

const UNREAD_AT_START =
  'the Events of orphaned owners could not all be read: who refers to one of them is taken for garbage';
const UNREAD_AFTER_RESET =
  'the Events of orphaned owners could not all be read after the server went back in time: those that it does not have any more count on';

/** What is read of an Event that anybody may have written. */
interface ForeignEvent {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly involvedObject?: Partial<OrphanedOwner>;
  readonly reason?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly lastTimestamp?: string | null;
  readonly count?: number;
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
  /** How often the server went back in time. */
  #resets = 0;
  /** What ends the reading under way. */
  #reading: AbortSignal | undefined;

  constructor(options: OrphanRecordsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the record is kept, as well as it can be; `termEnded`: who leads next has to do it. Never rejects. One request; after
   * an attempt before two, three if that was more than a minute ago, and thrice as many at most if others write the Event too; none
   * when only memory is asked for.
   */
  async record(owner: Target, signal: AbortSignal): Promise<'recorded' | 'termEnded'> {
    const { clock, logger, orphanedOwners, keptIn } = this.#options;
    orphanedOwners.record(owner, clock.now());
    logger.debug(sentenceOf(REASON), { ...owner, reason: REASON });
    if (keptIn === 'memory') return 'recorded';
    try {
      await this.#write(owner, signal);
      orphanedOwners.confirm(owner);
    } catch (error) {
      if (signal.aborted || isGivenUp(error)) return 'termEnded';
      // A namespace that is being deleted takes everything in it along.
      if (!hasStatusCause(error, 'NamespaceTerminating')) this.#tell(error);
    }
    return 'recorded';
  }

  /** Reads what a collector before this one has recorded. Never rejects. */
  async load(signal: AbortSignal): Promise<void> {
    if (this.#options.keptIn === 'memory') return;
    await this.#read(signal, UNREAD_AT_START);
  }

  /**
   * The server went back in time: owners may be back, and the Events of them gone. Reads what there is now, and then forgets what had
   * an Event and has none any more. Until all is read, and for good where it can not be, a record too many lets an object live; one
   * too few would delete one. In memory only nothing tells which are true. A reading under way begins anew; outside of a term (an
   * aborted signal) the next one begins with it. Never rejects.
   */
  async reset(signal: AbortSignal): Promise<void> {
    if (this.#options.keptIn === 'memory') return;
    this.#options.orphanedOwners.question();
    this.#resets++;
    if (signal.aborted || this.#reading?.aborted === false) return;
    await this.#read(signal, UNREAD_AFTER_RESET);
  }

  async #read(signal: AbortSignal, unread: string): Promise<void> {
    this.#reading = signal;
    let resets: number;
    do {
      resets = this.#resets;
      await this.#readOnce(signal, unread, this.#options.clock.monotonic() + LOAD_TIMEOUT_MS);
    } while (resets !== this.#resets && !signal.aborted);
    if (this.#reading === signal) this.#reading = undefined;
  }

  /** Tries again until the deadline, in monotonic ms, while the server does not answer at all. */
  async #readOnce(signal: AbortSignal, unread: string, deadline: number): Promise<void> {
    const { client, clock, orphanedOwners, component, logger } = this.#options;
    const resets = this.#resets;
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
        // Of a past that the server does not have any more.
        if (this.#resets !== resets) return;
        for (const item of items) {
          const recorded = recordIn(item, component);
          if (recorded === undefined) continue;
          orphanedOwners.record(recorded.owner, clock.now(), recorded.recordedAt);
          orphanedOwners.confirm(recorded.owner);
        }
        token = metadata.continue === '' ? undefined : metadata.continue;
      }
      orphanedOwners.forgetQuestioned();
    } catch (error) {
      if (signal.aborted || this.#resets !== resets) return;
      if (isUnreachable(error) && clock.monotonic() + RETRY_MS < deadline) {
        await sleepUnlessAborted(clock, RETRY_MS, signal);
        return this.#readOnce(signal, unread, deadline);
      }
      logger.warn(unread, { error: messageOf(error) });
    }
  }

  /** Rejects if there is no Event of the owner in the end, or only one that is out of date. */
  async #write(owner: Target, signal: AbortSignal): Promise<void> {
    const ref = { gvr: EVENTS, namespace: namespaceOfEvent(owner) };
    for (let tries = 1; ; tries++) {
      try {
        await this.#options.client.create(ref, this.#event(owner), { signal });
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const outcome = await this.#refresh(owner, signal);
        if (outcome === 'fresh') return;
        if (outcome === 'foreign' || tries === MAX_TRIES) throw error;
      }
    }
  }

  /**
   * The Event that an attempt before has written counts from now on: the owner goes after this one (LIFE-561). `foreign`: what is
   * there is not it. `changed`: somebody wrote or removed it meanwhile.
   */
  async #refresh(owner: Target, signal: AbortSignal): Promise<'fresh' | 'foreign' | 'changed'> {
    const { client, clock, component } = this.#options;
    const ref = { gvr: EVENTS, namespace: namespaceOfEvent(owner), name: nameOfEvent(owner) };
    try {
      const event = await client.get<ForeignEvent>(ref, { signal });
      const recorded = recordIn(event, component);
      if (recorded === undefined || !sameOwner(recorded.owner, owner)) return 'foreign';
      const now = clock.now();
      if (now - recorded.recordedAt <= FRESH_MS) return 'fresh';
      const { metadata: { uid, resourceVersion } = {}, count = 1 } = event;
      const body = { metadata: { uid, resourceVersion }, lastTimestamp: formatTime(now), count: count + 1 };
      await client.patch(ref, { type: 'application/merge-patch+json', body }, { signal });
      return 'fresh';
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return 'changed';
      throw error;
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

/** It was not sent, or cut off: the time to write is over (`cli/flags/write-guard.ts`). That says nothing about Events. */
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

/** The server does not answer at all, as while it is started anew: unlike a slow answer, that costs no time to find out. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TransportError && (error.code === 'refused' || error.code === 'reset');
}
