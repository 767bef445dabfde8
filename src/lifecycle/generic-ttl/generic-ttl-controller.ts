import { apiVersionOf, type GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isObjectNotFound, StatusError } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { isAbortError } from '../../base/time/abort-error.ts';
import { sleep } from '../../base/time/clock.ts';
import { RepeatedDiscovery } from '../../client/discovery/discovery.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { Reflector } from '../../client/reflector/reflector.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { annotatedObjects } from './annotated-objects.ts';
import { decideGenericTtl, mayHaveTtl, TTL, TTL_AFTER_CONDITION } from './generic-ttl-reconcile.ts';

const DISCOVERY_MS = 30_000;
const WORKERS = 5;
const SETTLED: SyncOutcome = { next: 'settled' };

export interface GenericTtlOptions extends ControllerContext {
  /** Kinds that are excluded unless they are listed here, as `RESOURCE` or `GROUP/RESOURCE`. */
  readonly alsoKinds: readonly string[];
}

interface Watch {
  readonly gvr: GroupVersionResource;
  readonly stop: AbortController;
  readonly running: Promise<void>;
}

/**
 * Deletes objects of any kind by their annotations `kubegc.io/ttl` and `kubegc.io/ttl-after-condition` (LIFE-090). Invariant: it keeps no
 * object, and deletes only after a live read.
 */
export class GenericTtlController implements Service {
  readonly #options: GenericTtlOptions;
  readonly #discovery: RepeatedDiscovery;
  readonly #loop: ReconcileLoop;
  readonly #deletions: Counter;
  /** One for each served resource, by {@link idOf}. */
  readonly #watches = new Map<string, Watch>();
  readonly #ended = new Set<Promise<void>>();

  constructor(options: GenericTtlOptions) {
    const { clock, logger, metrics } = options;
    this.#options = options;
    this.#discovery = new RepeatedDiscovery(options.client);
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'generic_ttl',
      clock,
      logger,
      metrics,
      caches: [],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#loop.run(signal), this.#followDiscovery(signal)]);
    for (const watch of this.#watches.values()) this.#end(watch);
    await Promise.all(this.#ended);
  }

  async #followDiscovery(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      for (;;) {
        await this.#refresh(signal).catch((error: unknown) => {
          if (isAbortError(error)) throw error;
          logger.warn('discovery failed, will retry', { error: StatusError.from(error).message });
        });
        await sleep(clock, DISCOVERY_MS, signal);
      }
    } catch (error) {
      if (!isAbortError(error)) throw error;
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { alsoKinds } = this.#options;
    const { preferred, failedGroupVersions } = await this.#discovery.read({ signal });
    const wanted = new Map(
      preferred.filter((offered) => mayHaveTtl(offered, alsoKinds)).map((gvr) => [idOf(gvr), gvr]),
    );
    for (const [id, watch] of this.#watches) {
      // A group that could not be read may still serve it.
      if (wanted.has(id) || failedGroupVersions.has(apiVersionOf(watch.gvr))) continue;
      this.#watches.delete(id);
      this.#end(watch);
    }
    for (const [id, { group, version, resource }] of wanted) {
      if (!this.#watches.has(id) && !signal.aborted) this.#watches.set(id, this.#watch({ group, version, resource }));
    }
  }

  #watch(gvr: GroupVersionResource): Watch {
    const { client, clock, random, logger } = this.#options;
    const trigger = (object: KubeObject, delayMs?: number): void =>
      this.#loop.trigger(`${idOf(gvr)} ${keyOf(object)}`, delayMs);
    const present = (object: KubeObject): void => {
      const now = clock.now();
      const decision = decideGenericTtl(object, now);
      if (decision.verdict === 'nothing' && decision.reason !== 'unreadable') return;
      trigger(object, decision.verdict === 'wait' ? decision.untilMs - now : 0);
    };
    // A deleted object is triggered, too, so that its key does not wait for the TTL.
    const sink = annotatedObjects({ present, deleted: (object) => trigger(object) });
    const reflector = new Reflector({ client, clock, random, logger, gvr, representation: 'object', sink });
    const stop = new AbortController();
    return { gvr, stop, running: reflector.run(stop.signal) };
  }

  #end({ stop, running }: Watch): void {
    stop.abort();
    const ended = running.finally(() => this.#ended.delete(ended));
    this.#ended.add(ended);
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#options;
    const [id = '', path = ''] = key.split(' ');
    const watch = this.#watches.get(id);
    // The kind is no longer served.
    if (watch === undefined) return SETTLED;
    const { gvr } = watch;
    const { resource } = gvr;
    const slash = path.indexOf('/');
    const name = path.slice(slash + 1);
    let object: KubeObject;
    try {
      object = await client.get({ gvr, name, ...(slash < 0 ? {} : { namespace: path.slice(0, slash) }) }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return SETTLED;
      throw error;
    }
    const decision = decideGenericTtl(object, clock.now());
    if (decision.reason === 'unreadable') {
      const { [TTL]: ttl, [TTL_AFTER_CONDITION]: afterCondition } = object.metadata?.annotations ?? {};
      logger.warn('a TTL is ignored, because it cannot be read', { resource, name: path, ttl, afterCondition });
    }
    if (decision.verdict === 'nothing') return SETTLED;
    if (decision.verdict === 'wait') return { next: 'later', afterMs: decision.untilMs - clock.now() };
    const result = await deleteExactly(client, {
      gvr,
      object,
      propagationPolicy: 'Foreground',
      reason: decision.reason,
      signal,
    });
    this.#deletions.inc({ controller: 'ttl-after-finished-controller', resource, reason: decision.reason, result });
    logger.info('deleted an object whose TTL is over', { resource, name: path, reason: decision.reason, result });
    return result === 'changed' ? { next: 'back-off' } : SETTLED;
  }
}

function idOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}
