import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { sameLists } from '../../api/quota/resource-list.ts';
import { changesVolumeAttributesClass } from '../../api/quota/scopes.ts';
import { usageOf } from '../../api/quota/usage.ts';
import { isConflict, isNotFound, isObjectNotFound } from '../../api/status-error.ts';
import type { Service } from '../../base/service.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { Informer, keyOf } from '../../client/reflector/informer.ts';
import type { ControllerContext } from '../kit/object-per-namespace.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import { type Content, type CountedKind, countedKinds, decideQuotaStatus } from './quota-status.ts';

const QUOTAS: GroupVersionResource = { group: '', version: 'v1', resource: 'resourcequotas' };
const WORKERS = 5;
/** Interval of a full count, independent of events. */
const RESYNC_MS = 5 * 60_000;
/**
 * Delay after admission has charged a quota. By then the admitted objects are stored and counted, or were refused later, and their charge
 * is removed. An immediate count could miss objects in progress.
 */
const SETTLING_MS = 2000;
const SETTLED: SyncOutcome = { next: 'settled' };

/**
 * Maintains the usage of quotas (API-361). Admission adds to it; this controller counts it again for a new or changed quota, and when an
 * object is deleted or shrinks. A resource is watched once the first quota counts it.
 */
export class ResourceQuotaController implements Service {
  readonly #context: ControllerContext;
  readonly #quotas: Informer;
  readonly #watched = new Map<string, Promise<void>>();
  readonly #loop: ReconcileLoop;

  constructor(context: ControllerContext) {
    const { client, clock, random, logger, metrics } = context;
    this.#context = context;
    this.#quotas = new Informer({ client, clock, random, logger, gvr: QUOTAS });
    this.#loop = new ReconcileLoop({
      name: 'resourcequota',
      clock,
      logger,
      metrics,
      caches: [this.#quotas],
      workers: WORKERS,
      sync: (key, stop) => this.#sync(key, stop),
      resync: { everyMs: RESYNC_MS, keys: () => this.#quotas.list().map(keyOf) },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const look = (quota: KubeObject): void => this.#loop.trigger(keyOf(quota));
    this.#quotas.addHandler({
      added: look,
      updated: (previous, quota) => {
        if (JSON.stringify(previous['spec']) !== JSON.stringify(quota['spec'])) look(quota);
        else this.#loop.trigger(keyOf(quota), SETTLING_MS);
      },
    });
    await this.#loop.run(signal);
    await Promise.all(this.#watched.values());
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const [namespace = '', name = ''] = key.split('/');
    const { client, clock } = this.#context;
    const ref = { gvr: QUOTAS, namespace, name };
    try {
      // The quota is read before the count, so that the write below fails if admission changes it meanwhile.
      const quota = await client.get(ref, { signal });
      const contents = await this.#contents(quota, namespace, signal);
      const decision = decideQuotaStatus(quota, contents, clock.now());
      if (decision.verdict === 'nothing') return SETTLED;
      await client.update({ ...ref, subresource: 'status' }, decision.object, { signal });
      return SETTLED;
    } catch (error) {
      if (isObjectNotFound(error, name)) return SETTLED;
      if (isConflict(error)) return { next: 'back-off' };
      throw error;
    }
  }

  async #contents(quota: KubeObject, namespace: string, signal: AbortSignal): Promise<readonly Content[]> {
    const contents: Content[] = [];
    for (const { kind, gvr } of await this.#resolve(countedKinds(quota), signal)) {
      const objects = await this.#list(gvr, namespace, signal);
      if (objects === undefined) continue;
      contents.push({ kind, objects });
      this.#watch(kind, gvr, signal);
    }
    return contents;
  }

  /** Undefined for a resource that is not served, which has no objects. */
  async #list(
    gvr: GroupVersionResource,
    namespace: string,
    signal: AbortSignal,
  ): Promise<readonly KubeObject[] | undefined> {
    try {
      return (await this.#context.client.list({ gvr, namespace }, { signal })).items;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The resources with their served versions; others cannot be counted. */
  async #resolve(kinds: readonly CountedKind[], signal: AbortSignal) {
    const core = kinds.filter(({ group }) => group === '');
    const others = kinds.filter(({ group }) => group !== '');
    const resolved = core.map((kind) => ({ kind, gvr: { ...kind, version: 'v1' } }));
    if (others.length === 0) return resolved;
    const { preferred } = await discover(this.#context.client, { signal });
    for (const kind of others) {
      const found = preferred.find(({ group, resource }) => group === kind.group && resource === kind.resource);
      if (found !== undefined) resolved.push({ kind, gvr: { ...kind, version: found.version } });
    }
    return resolved;
  }

  /** Admission has counted new objects; a deleted or smaller object reduces the usage. */
  #watch(kind: CountedKind, gvr: GroupVersionResource, signal: AbortSignal): void {
    const id = `${gvr.group}/${gvr.version}/${gvr.resource}`;
    if (this.#watched.has(id)) return;
    const { client, clock, random, logger } = this.#context;
    const objects = new Informer({ client, clock, random, logger, gvr });
    const look = ({ metadata }: KubeObject): void => {
      const { namespace = '' } = metadata ?? {};
      for (const quota of this.#quotas.list()) {
        if (quota.metadata?.namespace === namespace) this.#loop.trigger(keyOf(quota));
      }
    };
    objects.addHandler({
      updated: (previous, next) => {
        const now = clock.now();
        const moved = kind.resource === 'persistentvolumeclaims' && changesVolumeAttributesClass(previous, next);
        if (moved || !sameLists(usageOf(kind, previous, now), usageOf(kind, next, now))) look(next);
      },
      deleted: look,
    });
    this.#watched.set(id, objects.run(signal));
    // Finds objects that were deleted between the count and the first list. Nothing is to be done if the cache stops before that list.
    objects.waitForSync(signal).then(
      () => this.#quotas.list().forEach((quota) => this.#loop.trigger(keyOf(quota))),
      () => undefined,
    );
  }
}
