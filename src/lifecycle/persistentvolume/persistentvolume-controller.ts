import type { GroupVersionResource } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { isConflict, isObjectNotFound } from '../../api/status-error.ts';
import type { Counter } from '../../base/metrics/metrics.ts';
import type { Service } from '../../base/service.ts';
import { asError } from '../../base/errors/thrown.ts';
import { EventRecorder } from '../../client/events/event-recorder.ts';
import { keyOf } from '../../client/reflector/informer.ts';
import { deleteExactly } from '../kit/delete-exactly.ts';
import { deletionCounter } from '../kit/deletion-counter.ts';
import { ReconcileLoop, type SyncOutcome } from '../kit/reconcile-loop.ts';
import type { SharedCache, SharedContext } from '../kit/shared-informers.ts';
import { eventReference } from '../pods/pod-control.ts';
import { decideClaim } from './claim-reconcile.ts';
import {
  CLAIMS,
  CLASSES,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  VOLUMES,
} from './persistent-volume.ts';
import { type StorageDeleter, VolumeInUseError } from './storage-deleter.ts';
import {
  type ClaimView,
  decideVolume,
  isStillReleased,
  type VolumeEvent,
  withoutFinalizer,
} from './volume-reconcile.ts';

const VOLUME_KIND = { apiVersion: 'v1', kind: 'PersistentVolume' };
const CLAIM_KIND = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
const SETTLED: SyncOutcome = { next: 'settled' };
const CONTROLLER = 'persistentvolume-binder-controller';
const WORKERS = 4;
/** Maximum number of writes of one sync. A binding takes four; more would be a loop between two writers. */
const MAX_STEPS = 8;
/** Back-off after the first and the last failure of a deleter (LIFE-137). */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 122_000;
/** Interval between syncs of a Failed volume without a deleter, of one that waits for an external provisioner, or whose claim is not in the cache. */
const SYNC_PERIOD_MS = 15_000;

export interface PersistentVolumeControllerOptions extends SharedContext {
  readonly deleters: readonly StorageDeleter[];
  readonly syncPeriodMs?: number;
}

/** Binds claims to volumes, and reclaims volumes whose claim is gone (`persistentvolume-binder-controller`). */
export class PersistentVolumeController implements Service {
  readonly #options: PersistentVolumeControllerOptions;
  readonly #volumes: SharedCache<PersistentVolume>;
  readonly #claims: SharedCache<PersistentVolumeClaim>;
  readonly #classes: SharedCache<StorageClass>;
  readonly #events: EventRecorder;
  readonly #loop: ReconcileLoop;
  readonly #deleters: ReadonlyMap<string, StorageDeleter>;
  readonly #names: ReadonlySet<string>;
  /** The storage state of volumes that are being reclaimed, by uid. A volume that is gone is removed. */
  readonly #storage = new Map<string, { readonly failures: number; readonly notBeforeMs: number } | 'deleted'>();
  readonly #deletions: Counter;

  constructor(options: PersistentVolumeControllerOptions) {
    const { client, clock, random, logger, metrics, informers, deleters } = options;
    this.#options = options;
    this.#volumes = informers.of<PersistentVolume>(VOLUMES);
    this.#claims = informers.of<PersistentVolumeClaim>(CLAIMS);
    this.#classes = informers.of<StorageClass>(CLASSES);
    this.#events = new EventRecorder({ client, clock, random, logger, component: 'persistentvolume-controller' });
    this.#deleters = new Map(deleters.map((deleter) => [deleter.name, deleter]));
    this.#names = new Set(this.#deleters.keys());
    this.#deletions = deletionCounter(metrics);
    this.#loop = new ReconcileLoop({
      name: 'persistentvolume_binder',
      clock,
      logger,
      metrics,
      caches: [this.#volumes, this.#claims, this.#classes],
      workers: WORKERS,
      sync: (key, signal) => this.#sync(key, signal),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const volume = (object: PersistentVolume): void => this.#loop.trigger(`v/${keyOf(object)}`);
    const claim = (object: PersistentVolumeClaim): void => this.#loop.trigger(`c/${keyOf(object)}`);
    // A new or released volume may serve a waiting claim.
    const waiting = (): void =>
      this.#claims.list().forEach((object) => (object.status?.phase === 'Bound' ? undefined : claim(object)));
    const claimOf = ({ spec }: PersistentVolume): void => {
      const { namespace = '', name = '' } = spec?.claimRef ?? {};
      if (name !== '') this.#loop.trigger(`c/${namespace}/${name}`);
    };
    const volumeOf = ({ spec, metadata }: PersistentVolumeClaim): void => {
      if ((spec?.volumeName ?? '') !== '') this.#loop.trigger(`v/${spec?.volumeName ?? ''}`);
      for (const object of this.#volumes.list()) {
        const ref = object.spec?.claimRef;
        if (ref?.name === metadata?.name && ref?.namespace === metadata?.namespace) volume(object);
      }
    };
    const stops = [
      this.#volumes.addHandler({
        added: (object) => {
          volume(object);
          waiting();
        },
        updated: (_, object) => {
          volume(object);
          claimOf(object);
          if (object.status?.phase === 'Available') waiting();
        },
        deleted: (object) => {
          this.#storage.delete(object.metadata?.uid ?? '');
          claimOf(object);
        },
      }),
      this.#claims.addHandler({
        added: claim,
        updated: (_, object) => {
          claim(object);
          volumeOf(object);
        },
        deleted: volumeOf,
      }),
      this.#classes.addHandler({ added: waiting, updated: waiting }),
    ];
    await Promise.all([this.#loop.run(signal), this.#events.run(signal)]);
    for (const stop of stops) stop();
  }

  async #sync(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    const name = key.slice(2);
    try {
      return await (key.startsWith('v/') ? this.#syncVolume(name, signal) : this.#syncClaim(name, signal));
    } catch (error) {
      // Another client was faster, so the watch will trigger a new decision.
      if (isConflict(error)) return { next: 'back-off' };
      if (isObjectNotFound(error, name.slice(name.indexOf('/') + 1))) return SETTLED;
      throw error;
    }
  }

  async #syncVolume(name: string, signal: AbortSignal): Promise<SyncOutcome> {
    let volume = this.#volumes.get(name);
    let claim: ClaimView | undefined;
    const again: SyncOutcome = { next: 'later', afterMs: this.#options.syncPeriodMs ?? SYNC_PERIOD_MS };
    // A claim that the cache does not show yet may go without an event, so the volume is synced again (LIFE-821).
    let isOnlyLive = false;
    for (let step = 0; volume !== undefined && step < MAX_STEPS; step++) {
      claim ??= this.#claimInCache(volume);
      const decision = decideVolume(volume, claim, this.#names);
      if (decision.verdict === 'nothing') {
        return volume.status?.phase === 'Failed' || isOnlyLive ? again : SETTLED;
      }
      if (decision.verdict === 'readClaim') {
        const live = await this.#liveClaim(volume, signal);
        claim = live === undefined ? { found: 'missing' } : { found: 'claim', claim: live };
        isOnlyLive = live?.metadata?.uid === volume.spec?.claimRef?.uid;
        continue;
      }
      if (decision.verdict === 'syncClaim') {
        const { namespace = '', name: claimName = '' } = volume.spec?.claimRef ?? {};
        if (decision.event !== undefined) this.#tell(VOLUME_KIND, volume, decision.event);
        this.#loop.trigger(`c/${namespace}/${claimName}`);
        return isOnlyLive ? again : SETTLED;
      }
      if (decision.verdict === 'deleteStorage') return this.#reclaim(volume, decision.plugin.name, signal);
      if (decision.verdict === 'update') {
        volume = await this.#write(VOLUMES, decision.volume, signal);
      } else {
        const { phase, message } = decision;
        volume = await this.#setVolumeStatus(volume, { phase, ...(message === undefined ? {} : { message }) }, signal);
        if (decision.event !== undefined) this.#tell(VOLUME_KIND, volume, decision.event);
      }
    }
    return SETTLED;
  }

  #claimInCache({ spec }: PersistentVolume): ClaimView {
    const { namespace = '', name = '', uid = '' } = spec?.claimRef ?? {};
    if (uid === '') return { found: 'notAsked' };
    const claim = this.#claims.get(`${namespace}/${name}`);
    return claim?.metadata?.uid === uid ? { found: 'claim', claim } : { found: 'unsure' };
  }

  async #liveClaim({ spec }: PersistentVolume, signal: AbortSignal): Promise<PersistentVolumeClaim | undefined> {
    const { namespace = '', name = '' } = spec?.claimRef ?? {};
    try {
      return await this.#options.client.get<PersistentVolumeClaim>({ gvr: CLAIMS, namespace, name }, { signal });
    } catch (error) {
      if (isObjectNotFound(error, name)) return undefined;
      throw error;
    }
  }

  /** The storage is deleted before the object, because only the object refers to it (LIFE-138). */
  async #reclaim(known: PersistentVolume, plugin: string, signal: AbortSignal): Promise<SyncOutcome> {
    const { client, clock, logger } = this.#options;
    const { name = '', uid = '' } = known.metadata ?? {};
    const before = this.#storage.get(uid);
    // The controller's own writes trigger the volume too, but must not shorten the wait.
    const waitMs = before === 'deleted' || before === undefined ? 0 : before.notBeforeMs - clock.now();
    if (waitMs > 0) return { next: 'later', afterMs: waitMs };
    let volume = await client.get<PersistentVolume>({ gvr: VOLUMES, name }, { signal });
    if (volume.metadata?.uid !== uid) return SETTLED;
    if (before !== 'deleted') {
      if (!isStillReleased(volume, await this.#liveClaim(volume, signal))) return SETTLED;
      const afterMs = await this.#deleteStorage(volume, plugin, signal);
      if (afterMs !== undefined) return { next: 'later', afterMs };
      this.#storage.set(uid, 'deleted');
    }
    const freed = withoutFinalizer(volume);
    if (freed.metadata?.finalizers?.length !== volume.metadata?.finalizers?.length) {
      volume = await this.#write(VOLUMES, freed, signal);
    }
    if (volume.metadata?.deletionTimestamp) return SETTLED;
    const result = await deleteExactly(client, {
      gvr: VOLUMES,
      object: volume,
      content: 'irrelevant',
      reason: 'released',
      signal,
    });
    this.#deletions.inc({ controller: CONTROLLER, resource: 'persistentvolumes', reason: 'released', result });
    logger.info('deleted a released volume and its storage', { name, plugin, result });
    return SETTLED;
  }

  /** Undefined if the storage is gone, otherwise the milliseconds until the next attempt. */
  async #deleteStorage(volume: PersistentVolume, plugin: string, signal: AbortSignal): Promise<number | undefined> {
    const { uid = '' } = volume.metadata ?? {};
    try {
      await this.#deleters.get(plugin)?.delete(volume, signal);
      return undefined;
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const { message } = asError(thrown);
      const before = this.#storage.get(uid);
      const failures = before === undefined || before === 'deleted' ? 0 : before.failures;
      const afterMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
      this.#storage.set(uid, { failures: failures + 1, notBeforeMs: this.#options.clock.now() + afterMs });
      if (thrown instanceof VolumeInUseError) {
        this.#tell(VOLUME_KIND, volume, { type: 'Normal', reason: 'VolumeDelete', message });
        return afterMs;
      }
      this.#tell(VOLUME_KIND, volume, { type: 'Warning', reason: 'VolumeFailedDelete', message });
      if (volume.status?.phase !== 'Failed' || volume.status.message !== message) {
        await this.#setVolumeStatus(volume, { phase: 'Failed', message }, signal);
      }
      return afterMs;
    }
  }

  async #syncClaim(key: string, signal: AbortSignal): Promise<SyncOutcome> {
    let claim = this.#claims.get(key);
    // A volume that this sync wrote is newer than the cache.
    let written: PersistentVolume | undefined;
    for (let step = 0; claim !== undefined && step < MAX_STEPS; step++) {
      const volumes: PersistentVolume[] = this.#volumes
        .list()
        .map((volume) => (volume.metadata?.name === written?.metadata?.name ? (written ?? volume) : volume));
      const decision = decideClaim(claim, { volumes, classes: this.#classes.list() });
      if ('event' in decision && decision.event !== undefined) this.#tell(CLAIM_KIND, claim, decision.event);
      if (decision.verdict === 'nothing') return SETTLED;
      if (decision.verdict === 'updateVolume') written = await this.#write(VOLUMES, decision.volume, signal);
      else if (decision.verdict === 'setVolumeBound') {
        written = await this.#setVolumeStatus(decision.volume, { phase: 'Bound' }, signal);
      } else if (decision.verdict === 'updateClaim') claim = await this.#write(CLAIMS, decision.claim, signal);
      else claim = await this.#write(CLAIMS, { ...claim, status: decision.status }, signal, 'status');
    }
    return SETTLED;
  }

  #setVolumeStatus(
    volume: PersistentVolume,
    status: NonNullable<PersistentVolume['status']>,
    signal: AbortSignal,
  ): Promise<PersistentVolume> {
    return this.#write(VOLUMES, { ...volume, status }, signal, 'status');
  }

  /** Writes at the resource version on which the decision rests, so that no unseen change is overwritten. */
  #write<T extends KubeObject>(
    gvr: GroupVersionResource,
    object: T,
    signal: AbortSignal,
    subresource?: string,
  ): Promise<T> {
    const { namespace, name = '' } = object.metadata ?? {};
    const ref = { gvr, name, ...(namespace === undefined ? {} : { namespace }) };
    return this.#options.client.update<T>(subresource === undefined ? ref : { ...ref, subresource }, object, {
      signal,
    });
  }

  #tell(kind: { readonly apiVersion: string; readonly kind: string }, object: KubeObject, event: VolumeEvent): void {
    this.#events.event(eventReference(kind, object), event);
  }
}
