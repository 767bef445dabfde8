import type { KubeObject } from '../../api/meta/object-meta.ts';
import { CLASS_FINALIZER, classUse, decideProtection } from '../../lifecycle/volume-protection/protection-reconcile.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type BodyNeed, bodyNeedKey, type BodyNeeds } from './body-need.ts';
import { isOfKind, type SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trails } from './trail.ts';

const CLAIMS: BodyNeed = { resource: 'persistentvolumeclaims' };
const VOLUMES: BodyNeed = { resource: 'persistentvolumes' };

/** The claims and volumes that may name a class. */
interface ClassUsers {
  readonly claims: readonly KubeObject[];
  readonly volumes: readonly KubeObject[];
}

/** Protection of VolumeAttributesClasses that a claim or a volume names (LIFE-157). */
export class Classes implements SimulatedController {
  readonly #snapshot: Snapshot;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #needs: BodyNeeds;
  readonly #classes = new Set<string>();
  /** Classes that were already terminating; checked when a claim or volume is deleted. */
  readonly #before: readonly string[];

  constructor(snapshot: Snapshot, server: SimulatedServer, trails: Trails, needs: BodyNeeds) {
    this.#snapshot = snapshot;
    this.#server = server;
    this.#trails = trails;
    this.#needs = needs;
    this.#before = [...snapshot.terminating('storage.k8s.io/v1', 'VolumeAttributesClass')];
  }

  terminating(uid: string, object: KubeObject): void {
    if (isOfKind(object, 'storage.k8s.io/v1', 'VolumeAttributesClass')) this.#check(uid);
  }

  removed(uid: string, object: KubeObject): void {
    this.#classes.delete(uid);
    const isUser = isOfKind(object, 'v1', 'PersistentVolumeClaim') || isOfKind(object, 'v1', 'PersistentVolume');
    if (isUser) for (const each of this.#before) if (this.#server.get(each) !== undefined) this.#check(each);
  }

  work(): boolean {
    if (this.#classes.size === 0) return false;
    const before = this.#server.version;
    const left = { claims: this.#left(CLAIMS), volumes: this.#left(VOLUMES) };
    for (const uid of this.#classes) this.#protect(uid, left);
    return this.#server.version !== before;
  }

  #check(uid: string): void {
    this.#classes.add(uid);
    this.#needs.add(CLAIMS);
    this.#needs.add(VOLUMES);
  }

  #protect(uid: string, { claims, volumes }: ClassUsers): void {
    const object = this.#server.get(uid);
    const name = object?.metadata?.name ?? '';
    const users = [
      ...claims.filter((claim) => classUse(name, { claims: [claim], volumes: [] }) === 'used'),
      ...volumes.filter((volume) => classUse(name, { claims: [], volumes: [volume] }) === 'used'),
    ];
    for (const { metadata } of users) this.#trails.add(this.#trails.of(uid), 'waitsFor', metadata?.uid ?? '');
    const { verdict } = decideProtection(object, CLASS_FINALIZER, users.length > 0 ? 'used' : 'unused');
    if (verdict !== 'update') return;
    // Creates its trail: the plan names it, even if another finalizer holds it.
    this.#trails.of(uid);
    this.#server.removeFinalizer(uid, CLASS_FINALIZER);
  }

  /** The objects that are not deleted, as the server has them now. */
  #left(need: BodyNeed): KubeObject[] {
    return (this.#snapshot.bodiesOf(bodyNeedKey(need)) ?? []).flatMap(({ metadata }) => {
      const object = this.#server.get(metadata?.uid ?? '');
      return object === undefined ? [] : [object];
    });
  }
}
