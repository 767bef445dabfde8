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

interface OrphanRecordsOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly orphanedOwners: OrphanedOwners;
  /** Name of the component in Events. */
  readonly component: string;
  /** `memory`: a restarted collector does not know the records. */
  readonly keptIn: 'memory' | 'events';
}

const EVENTS = { group: '', version: 'v1', resource: 'events' };
const REASON: EventReason = 'DependentsOrphaned';
/** The namespace of Events about cluster-scoped objects. */
const DEFAULT_NAMESPACE = 'default';
const PAGE_SIZE = 500;
/** The pages hold the maximum number of remembered records (LIFE-561), because more would replace others. */
const MAX_PAGES = 200;
/** A new leader waits at most this long for earlier records, ms: for a page, and for all of them. */
const PAGE_TIMEOUT_MS = 2000;
const LOAD_TIMEOUT_MS = 10_000;
/** The wait between two attempts while the server does not answer, ms. */
const RETRY_MS = 500;
/** An Event that an earlier attempt has written is renewed if it is older than this, ms. */
const FRESH_MS = 60_000;
/** Maximum number of attempts at one Event, because other clients may write or remove it in between. */
const MAX_TRIES = 3;

const UNREAD_AT_START =
  'the Events of orphaned owners could not all be read: who refers to one of them is taken for garbage';
const UNREAD_AFTER_RESET =
  'the Events of orphaned owners could not all be read after the server went back in time: those that it does not have any more count on';

/** The fields that are read of an Event, which anybody may have written. */
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
  /** The time of the record as its writer claims it, in ms since the epoch. */
  readonly recordedAt: number;
}

/**
 * Notes which owners are deleted with policy Orphan, before they are deleted (LIFE-560). It does so in memory and as Events, which survive
 * this process and expire by themselves (LIFE-561).
 */
export class OrphanRecords {
  readonly #options: OrphanRecordsOptions;
  #unwritable: 'unknown' | 'told' = 'unknown';
  /** How often the server went back in time. */
  #resets = 0;
  /** Ends the reading that is under way. */
  #reading: AbortSignal | undefined;

  constructor(options: OrphanRecordsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the record is kept, at least in memory. `termEnded`: the next leader has to record it. Never rejects. It takes one
   * request. After an earlier attempt it takes two, or three if that was more than a minute ago. If others write the Event too, it takes at
   * most three times as many. It takes none if records are kept in memory only.
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
      // When a namespace is deleted, everything in it is deleted too, so no record is needed.
      if (!hasStatusCause(error, 'NamespaceTerminating')) this.#tell(error);
    }
    return 'recorded';
  }

  /** Reads the records of earlier collectors. Never rejects. */
  async load(signal: AbortSignal): Promise<void> {
    if (this.#options.keptIn === 'memory') return;
    await this.#read(signal, UNREAD_AT_START);
  }

  /**
   * The server went back in time: owners may exist again, and their Events may be gone. Reads the present Events, then forgets each record
   * whose Event no longer exists. Until all Events are read, and for ever if they cannot be read, all records are kept: a wrong record
   * keeps an object alive, a missing one would delete it. Does nothing if records are in memory only, because nothing shows which of them
   * are true. Restarts a reading that is in progress. Outside of a term (an aborted signal), the next reading does this. Never rejects.
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

  /** While the server does not answer at all, tries again until the deadline, which is in monotonic ms. */
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
        // This page shows a history that the server no longer has.
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

  /** Rejects if afterwards there is no Event of the owner, or only one that is out of date. */
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
   * Renews the Event that an earlier attempt has written, because the owner is deleted after this attempt (LIFE-561). `foreign`: the Event
   * there is not that one. `changed`: another client wrote or removed it meanwhile.
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

/**
 * Whether the request was not sent, or was cut off, because the time to write is over (`cli/flags/write-guard.ts`). That says nothing about
 * Events.
 */
function isGivenUp(error: unknown): boolean {
  return error instanceof TransportError && error.code === 'aborted';
}

/** The name is made of the uid, so that an owner has one Event, however often it is written. */
function nameOfEvent({ uid }: Pick<OrphanedOwner, 'uid'>): string {
  return `orphaned-${uid}`;
}

function namespaceOfEvent({ namespace }: Pick<OrphanedOwner, 'namespace'>): string {
  return namespace === '' ? DEFAULT_NAMESPACE : namespace;
}

/**
 * The record in an Event, if a collector wrote it there (LIFE-561). A user who may write only in other namespaces cannot write a record of
 * this owner.
 */
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

/** Whether the server does not answer at all, for example during a restart. Unlike a slow answer, this costs no time to find out. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TransportError && (error.code === 'refused' || error.code === 'reset');
}
