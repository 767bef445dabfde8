import type { KubeObject } from '../../api/meta/object-meta.ts';
import { keepsClaim } from '../../lifecycle/volume-protection/claim-users.ts';
import {
  CLAIM_FINALIZER,
  CLASS_FINALIZER,
  decideProtection,
  VOLUME_FINALIZER,
  volumeUse,
} from '../../lifecycle/volume-protection/protection-reconcile.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type BodyNeed, bodyNeedKey, type BodyNeeds } from './body-need.ts';
import { isOfKind, type SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trails } from './trail.ts';

const VOLUMES: BodyNeed = { resource: 'persistentvolumes' };

export const CLAIM_PROTECTION = CLAIM_FINALIZER;
/** Finalizers that simulated controllers remove: this one, and `classes.ts`. */
export const PROTECTIONS: ReadonlySet<string> = new Set([CLAIM_FINALIZER, VOLUME_FINALIZER, CLASS_FINALIZER]);

interface VolumeSpec {
  readonly claimRef?: { readonly uid?: string };
  readonly persistentVolumeReclaimPolicy?: string;
}

export interface VolumesOptions {
  readonly needs: BodyNeeds;
  /** False if nothing releases the volume of a deleted claim. */
  readonly reclaims: boolean;
  /** True if a finished pod keeps no claim. */
  readonly ignoreFinishedPods: boolean;
}

/**
 * Protection of claims that pods use and of bound volumes. Unless disabled, the volume of a deleted claim is released, and deleted if its
 * reclaim policy is Delete.
 */
export class Volumes implements SimulatedController {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #needs: BodyNeeds;
  readonly #reclaims: boolean;
  readonly #ignoreFinishedPods: boolean;
  readonly #claims = new Set<string>();
  readonly #volumes = new Set<string>();
  readonly #released: string[] = [];
  /** Claims that were already terminating, by namespace; checked when a pod there is deleted. */
  readonly #before = new Map<string, string[]>();

  constructor(
    snapshot: Snapshot,
    server: SimulatedServer,
    trails: Trails,
    { needs, reclaims, ignoreFinishedPods }: VolumesOptions,
  ) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#trails = trails;
    this.#needs = needs;
    this.#reclaims = reclaims;
    this.#ignoreFinishedPods = ignoreFinishedPods;
    for (const uid of snapshot.terminating('v1', 'PersistentVolumeClaim')) {
      const { namespace } = snapshot.graph.identityAt(snapshot.graph.find(uid));
      const claims = this.#before.get(namespace);
      if (claims === undefined) this.#before.set(namespace, [uid]);
      else claims.push(uid);
    }
  }

  terminating(uid: string, object: KubeObject): void {
    if (isClaim(object)) {
      this.#claims.add(uid);
      const namespace = object.metadata?.namespace ?? '';
      this.#needs.add({ resource: 'persistentvolumeclaims', namespace });
      if (object.metadata?.finalizers?.includes(CLAIM_FINALIZER)) this.#needs.add({ resource: 'pods', namespace });
    }
    if (isVolume(object)) {
      this.#volumes.add(uid);
      this.#needs.add(VOLUMES);
    }
  }

  removed(uid: string, object: KubeObject): void {
    this.#claims.delete(uid);
    this.#volumes.delete(uid);
    if (isOfKind(object, 'v1', 'Pod')) {
      for (const claim of this.#before.get(object.metadata?.namespace ?? '') ?? []) this.#claims.add(claim);
    }
    if (!isClaim(object)) return;
    this.#needs.add({ resource: 'persistentvolumeclaims', namespace: object.metadata?.namespace ?? '' });
    this.#needs.add(VOLUMES);
    if (this.#reclaims) this.#released.push(uid);
  }

  work(): boolean {
    const before = this.#server.version;
    for (const uid of this.#claims) this.#protectClaim(uid);
    for (const claim of this.#released.splice(0)) this.#release(claim);
    for (const uid of this.#volumes) this.#protectVolume(uid);
    return this.#server.version !== before;
  }

  #protectClaim(uid: string): void {
    const claim = this.#server.get(uid);
    const namespace = claim?.metadata?.namespace ?? '';
    const users = this.#usersOf(claim, namespace);
    const trail = this.#trails.of(uid);
    for (const user of users) this.#trails.add(trail, 'usedBy', user);
    for (const user of users) this.#trails.add(trail, 'waitsFor', user);
    const { verdict } = decideProtection(claim, CLAIM_FINALIZER, users.length > 0 ? 'used' : 'unused');
    if (verdict === 'update') this.#server.removeFinalizer(uid, CLAIM_FINALIZER);
  }

  #usersOf(claim: KubeObject | undefined, namespace: string): string[] {
    if (claim === undefined) return [];
    const pods = this.#snapshot.bodiesOf(bodyNeedKey({ resource: 'pods', namespace })) ?? [];
    return pods.flatMap(({ metadata }) => {
      const uid = metadata?.uid ?? '';
      const pod = this.#server.get(uid);
      const ignoreFinishedPods = this.#ignoreFinishedPods;
      return pod !== undefined && keepsClaim(pod, claim, { ignoreFinishedPods }) ? [uid] : [];
    });
  }

  #protectVolume(uid: string): void {
    const volume = this.#server.get(uid);
    const { verdict } = decideProtection(volume, VOLUME_FINALIZER, volumeUse(volume));
    if (verdict === 'update') this.#server.removeFinalizer(uid, VOLUME_FINALIZER);
  }

  #release(claim: string): void {
    for (const { metadata } of this.#snapshot.bodiesOf(bodyNeedKey(VOLUMES)) ?? []) {
      const uid = metadata?.uid ?? '';
      const volume = this.#server.get(uid);
      if (volume === undefined) continue;
      const { claimRef, persistentVolumeReclaimPolicy } = (volume['spec'] ?? {}) as VolumeSpec;
      if (claimRef?.uid !== claim) continue;
      this.#server.change(uid, { status: { ...(volume['status'] as object | undefined), phase: 'Released' } });
      if (volume.metadata?.deletionTimestamp) {
        this.#volumes.add(uid);
        // Its protection is removed now: a change, even if another finalizer holds it.
        if (volume.metadata.finalizers?.includes(VOLUME_FINALIZER))
          this.#trails.add(this.#trails.of(uid, 'volume'), 'waitsFor', claim);
      }
      if (persistentVolumeReclaimPolicy !== 'Delete') continue;
      const trail = this.#trails.of(uid, 'volume');
      trail.cause ??= 'volumeReleased';
      this.#trails.add(trail, 'waitsFor', claim);
      this.#server.delete(uid, {});
    }
  }
}

const isClaim = (object: KubeObject): boolean => isOfKind(object, 'v1', 'PersistentVolumeClaim');
const isVolume = (object: KubeObject): boolean => isOfKind(object, 'v1', 'PersistentVolume');
