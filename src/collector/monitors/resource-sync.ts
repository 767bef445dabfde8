import { append } from '../../base/collections/append.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { RestMapper } from '../../api/meta/rest-mapper.ts';
import { exponentialBackoff, type Backoff } from '../../base/time/backoff.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { LogFields, Logger } from '../../base/logs/logger.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Random } from '../../base/random/random.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { type DiscoveredResource, type DiscoveryResult, RepeatedDiscovery } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { MonitoredResource } from '../types/event.ts';
import type { KindMapper } from '../resources/kind-mapper.ts';
import type { DiscoveryReason } from '../types/reasons.ts';
import type { Monitors, StoppedMonitor, UnstartedMonitor } from './monitors.ts';
import { configurationEffect } from '../resources/configuration-resources.ts';
import {
  defaultIgnoredResources,
  deletableResources,
  type GroupResourceName,
  type OfferedResource,
  resourceKey,
  sameName,
} from '../resources/deletable-resources.ts';
import { listLocalApiVersions } from '../operations/list-local-api-versions.ts';
import { LookPlan } from '../resources/look-plan.ts';
import { unofferedEntries } from '../resources/unoffered-entries.ts';

interface ResourceSyncOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly monitors: Monitors;
  readonly kinds: KindMapper;
  readonly syncErrors: Counter;
  readonly ignored: readonly GroupResourceName[];
  /** The interval between two passes over discovery (COL-016), ms. */
  readonly periodMs: number;
  /** Monitors were started or stopped. */
  readonly onChanged: () => void;
  /** The resource is no longer served in any version (BETTER-2). */
  readonly onVanished: (resource: MonitoredResource) => void;
  /** A pass is complete. `served` says whether any group and version serves a plural, including those that could not be read. */
  readonly onDiscovered: (served: (resource: string) => boolean) => void;
}

/** The parts of a pass that a later one needs if discovery is unchanged. */
interface SettledPass {
  readonly discovered: DiscoveryResult;
  readonly plurals: ReadonlySet<string>;
  /** Resources whose absent monitors a pass wakes. */
  readonly waitable: readonly OfferedResource[];
}

/** The shortest time before a warning is repeated, ms. */
const TELL_AGAIN_MS = 3_600_000;

const API_SERVICES = 'apiregistration.k8s.io/apiservices';

const UNWATCHABLE = 'some resources cannot be watched';
const DISCOVERY_FAILED = 'discovery failed; the monitors stay as they are';
const DISCOVERY_EMPTY = 'discovery found no resource; the monitors stay as they are';
const DISCOVERY_PARTIAL = 'discovery failed for some group versions';
const DISCOVERY_TROUBLE = [DISCOVERY_FAILED, DISCOVERY_EMPTY, DISCOVERY_PARTIAL];

/** A pass that failed is repeated sooner than after a period, and at least every half minute, as is one that could not read everything. */
const RETRY = { baseMs: 500, factor: 2, jitter: 0.2 };
const MAX_RETRY_MS = 30_000;

/** Reads discovery repeatedly, and updates kinds and monitors accordingly (COL-016...COL-024, COL-029). A failed pass changes nothing. */
export class ResourceSync {
  readonly #options: ResourceSyncOptions;
  readonly #retry: Backoff;
  readonly #incompleteMs: number;
  /** Stopped monitors whose objects other monitors show now, while not all of those have been synced. */
  readonly #superseded: StoppedMonitor[] = [];
  #resources: readonly DiscoveredResource[] = [];
  readonly #plan = new LookPlan();
  #nextPassAt = Number.POSITIVE_INFINITY;
  /** Restarts the timer of the current wait; undefined while a pass is under way. */
  #rearm: (() => void) | undefined;
  #syncTimer: Timer | undefined;
  /** Active warnings by message, with their fields and their time. At most one per message. */
  readonly #told = new Map<string, { readonly said: string; readonly at: number }>();

  readonly #discovery: RepeatedDiscovery;
  /** The last pass, if nothing was left to do after it. A pass that finds the same has nothing to do either (COL-020). */
  #settled: SettledPass | undefined;
  #ignoredServed: readonly OfferedResource[] = [];
  #localApiVersions: ReadonlySet<string> = new Set();
  /** Entries of `ignored` that were reported, and have not been offered since. */
  #unoffered: ReadonlySet<string> = new Set();

  constructor(options: ResourceSyncOptions) {
    this.#options = options;
    const { client, random, periodMs } = options;
    this.#discovery = new RepeatedDiscovery(client);
    this.#incompleteMs = Math.min(periodMs, MAX_RETRY_MS);
    this.#retry = exponentialBackoff({ ...RETRY, capMs: this.#incompleteMs, random });
  }

  /** Served resources that are not monitored only because the configuration ignores them (COL-202). */
  get ignoredServed(): readonly OfferedResource[] {
    return this.#ignoredServed;
  }

  /** The apiVersions that kube-apiserver is known to serve from its own storage; none where the APIServices cannot be listed. */
  get localApiVersions(): ReadonlySet<string> {
    return this.#localApiVersions;
  }

  /** Requests a pass before its time. Cheap. A request during a pass is for the next pass. */
  sooner(reason: DiscoveryReason): void {
    const { clock, logger } = this.#options;
    logger.debug('discovery is read sooner', { reason });
    this.#passAt(this.#plan.sooner(reason, clock.monotonic()));
  }

  /** Runs passes until aborted; the first one at once. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, monitors, periodMs } = this.#options;
    const stopListening = monitors.onSynced(() => this.#settleSuperseded());
    try {
      while (!signal.aborted) {
        this.#nextPassAt = Number.POSITIVE_INFINITY;
        this.#plan.began(clock.monotonic());
        const outcome = await this.#pass(signal);
        // This comes after the start of the monitors, so that an APIServices list that hangs delays none of them.
        const isListed = outcome === 'failed' || (await this.#readLocalApiVersions(signal));
        const now = clock.monotonic();
        if (outcome === 'failed') this.#passAt(now + this.#retry.next());
        else {
          this.#retry.reset();
          const isWhole = outcome === 'done' && isListed;
          this.#passAt(Math.min(now + (isWhole ? periodMs : this.#incompleteMs), this.#plan.succeeded(now)));
        }
        await this.#untilNextPass(signal);
      }
    } finally {
      stopListening();
      this.#syncTimer?.cancel();
    }
  }

  #passAt(time: number): void {
    if (time >= this.#nextPassAt) return;
    this.#nextPassAt = time;
    this.#rearm?.();
  }

  #untilNextPass(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const end = (): void => {
        timer?.cancel();
        this.#rearm = undefined;
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#rearm = () => {
        timer?.cancel();
        timer = clock.setTimer(this.#nextPassAt - clock.monotonic(), end);
      };
      this.#rearm();
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted) end();
    });
  }

  /** `incomplete`: some group versions could not be read, or some monitors could not be started. */
  async #pass(signal: AbortSignal): Promise<'done' | 'incomplete' | 'failed'> {
    const { kinds, monitors, ignored, syncErrors, onChanged } = this.#options;
    const readAt = this.#options.clock.monotonic();
    const discovered = await this.#discover(signal);
    if (signal.aborted) return 'failed';
    if (discovered !== undefined && discovered === this.#settled?.discovered) {
      kinds.confirm(readAt);
      this.#concluded(this.#settled);
      return 'done';
    }
    this.#settled = undefined;
    const wanted = discovered === undefined ? [] : deletableResources(discovered.preferred, ignored);
    if (discovered === undefined || wanted.length === 0) {
      if (discovered !== undefined) this.#tell('discovery found no deletable resource; the monitors stay as they are');
      syncErrors.inc();
      return 'failed';
    }
    const failed: ReadonlySet<string> = new Set(discovered.failedGroupVersions.keys());
    // Resources that could not be read this time count as still served (COL-019).
    const unread = this.#resources.filter((resource) => failed.has(apiVersionOf(resource)));
    this.#resources = [...discovered.resources, ...unread];
    kinds.replace(new RestMapper(this.#resources), readAt);
    // The server puts no finalizer on Events.
    this.#ignoredServed = deletableResources(discovered.preferred, defaultIgnoredResources).filter((resource) =>
      ignored.some((entry) => sameName(entry, resource)),
    );
    this.#tellUnoffered(failed);
    const { added, restarted, removed, failed: unstarted } = await monitors.sync(wanted, failed);
    this.#tellSkipped(discovered.withoutKind, unstarted);
    const pass = {
      discovered,
      plurals: new Set(this.#resources.map(({ resource }) => resource)),
      // Lists of definitions themselves request a discovery pass. If a pass woke them, the two would repeat forever.
      waitable: wanted.filter((resource) => configurationEffect(resource) !== 'discovery'),
    };
    this.#concluded(pass);
    const outcome = failed.size + unstarted.length === 0 ? 'done' : 'incomplete';
    if (outcome === 'done' && discovered.withoutKind.length === 0) this.#settled = pass;
    if (added + restarted === 0 && removed.length === 0) return outcome;
    append(this.#superseded, removed);
    this.#settleSuperseded();
    if (added + restarted > 0) this.#expectSync();
    onChanged();
    return outcome;
  }

  /** The end of each pass that did not fail. */
  #concluded({ plurals, waitable }: SettledPass): void {
    const { monitors, logger, onDiscovered } = this.#options;
    onDiscovered((resource) => plurals.has(resource));
    const woken = monitors.wake(waitable, this.#plan.expectsChange ? 'anew' : 'asBefore');
    if (woken > 0) logger.debug('woke monitors of resources that discovery offers', { monitors: woken });
  }

  /** Reports all resources that could not be watched in one line (COL-022). The others are watched, and the next pass tries these again. */
  #tellSkipped(withoutKind: readonly string[], unstarted: readonly UnstartedMonitor[]): void {
    if (withoutKind.length + unstarted.length === 0) return void this.#told.delete(UNWATCHABLE);
    this.#options.syncErrors.inc();
    this.#tell(UNWATCHABLE, {
      resources: [
        ...withoutKind.map((resource) => `${resource}: without a kind`),
        ...unstarted.map(({ resource, error }) => `${resourceKey(resource)}: ${error.message}`),
      ].join('; '),
    });
  }

  /** Warns about entries of `ignored` that have no effect (COL-014). Not an error: the definition may come later. */
  #tellUnoffered(failed: ReadonlySet<string>): void {
    const { ignored, logger } = this.#options;
    const told = this.#unoffered;
    const unoffered = unofferedEntries(ignored, this.#resources, failed);
    for (const { entry, meant } of unoffered) {
      if (told.has(entry)) continue;
      const fields = { resource: entry, ...(meant.length > 0 && { meant: meant.join(', ') }) };
      logger.warn(
        'the server does not offer a resource that is to be ignored, so nothing is left alone for it',
        fields,
      );
    }
    this.#unoffered = new Set(unoffered.map(({ entry }) => entry));
  }

  /** A pass that fails in the same way as the last one is reported at most once an hour. */
  #tell(message: string, fields: LogFields = {}): void {
    const { clock, logger } = this.#options;
    const said = JSON.stringify(fields);
    const last = this.#told.get(message);
    if (last?.said === said && clock.monotonic() - last.at < TELL_AGAIN_MS) return logger.debug(message, fields);
    this.#told.set(message, { said, at: clock.monotonic() });
    logger.warn(message, fields);
  }

  /** Reports that discovery is complete. */
  #tellComplete(): void {
    const wasTold = DISCOVERY_TROUBLE.map((message) => this.#told.delete(message));
    if (wasTold.includes(true)) this.#options.logger.info('discovery is complete again');
  }

  /** Returns whether the APIServices could be listed. */
  async #readLocalApiVersions(signal: AbortSignal): Promise<boolean> {
    const { client, logger } = this.#options;
    const gvr = this.#resources.find(({ group, resource }) => `${group}/${resource}` === API_SERVICES);
    try {
      this.#localApiVersions = gvr === undefined ? new Set() : await listLocalApiVersions({ client, signal }, gvr);
      return true;
    } catch (error) {
      this.#localApiVersions = new Set();
      logger.debug('APIServices could not be listed', { error: messageOf(error) });
      return false;
    }
  }

  async #discover(signal: AbortSignal): Promise<DiscoveryResult | undefined> {
    try {
      const found = await this.#discovery.read({ signal });
      if (found.failedGroupVersions.size > 0) {
        this.#tell(DISCOVERY_PARTIAL, {
          groupVersions: [...found.failedGroupVersions].map(([each, error]) => `${each}: ${error.message}`).join('; '),
        });
      } else if (found.resources.length > 0) this.#tellComplete();
      if (found.resources.length > 0) return found;
      this.#tell(DISCOVERY_EMPTY);
    } catch (error) {
      if (!signal.aborted) {
        this.#tell(DISCOVERY_FAILED, {
          error: messageOf(error),
        });
      }
    }
    return undefined;
  }

  /**
   * Checks whether all monitors are synced, a period but at most 30 s after some were added (COL-024). Monitors that are added meanwhile do
   * not postpone this check, and get their own time after it.
   */
  #expectSync(): void {
    const { clock, monitors, logger, syncErrors } = this.#options;
    if (this.#syncTimer !== undefined) return;
    const expected = new Set(monitors.unsynced.map(resourceKey));
    this.#syncTimer = clock.setTimer(this.#incompleteMs, () => {
      this.#syncTimer = undefined;
      const late = monitors.unsynced.map(resourceKey);
      const unsynced = late.filter((key) => expected.has(key));
      if (unsynced.length > 0) {
        syncErrors.inc();
        logger.warn('timed out waiting for dependency graph builder sync during GC sync', { unsynced });
      }
      if (unsynced.length < late.length) this.#expectSync();
    });
  }

  /**
   * When only the version of a resource changed, or another group also serves its kind, its objects may still exist (BETTER-2). The old
   * version or group gives them up only after the monitors that may have them are synced (COL-05A, COL-015).
   */
  #settleSuperseded(): void {
    const { monitors, onVanished } = this.#options;
    const waiting = this.#superseded.splice(0);
    for (const stopped of waiting) {
      const heirs = monitors.heirsOf(stopped.offered);
      if (heirs.some(({ resource }) => sameResource(resource, stopped.resource))) continue;
      if (heirs.every(({ synced }) => synced)) onVanished(stopped.resource);
      else this.#superseded.push(stopped);
    }
  }
}

/** True if the resource came back unchanged: its new list then shows which objects are left. */
function sameResource(a: MonitoredResource, b: MonitoredResource): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.resource === b.resource;
}
