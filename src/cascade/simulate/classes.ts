import type { KubeObject } from '../../api/meta/object-meta.ts';
import { CLASS_FINALIZER, classUse, decideProtection } from '../../lifecycle/volume-protection/protection-reconcile.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type BodyNeed, bodyNeedKey, type BodyNeeds } from './body-need.ts';
import { isOfKind, type SimulatedController } from './simulated-controller.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { addTo, type Trails } from './trail.ts';

const CLAIMS: BodyNeed = { resource: 'persistentvolumeclaims' };
const VOLUMES: BodyNeed = { resource: 'persistentvolumes' };

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
    const before = this.#server.version;
    for (const uid of this.#classes) this.#protect(uid);
    return this.#server.version !== before;
  }

  #check(uid: string): void {
    this.#classes.add(uid);
    this.#needs.add(CLAIMS);
    this.#needs.add(VOLUMES);
  }

  #protect(uid: string): void {
    const object = this.#server.get(uid);
    const name = object?.metadata?.name ?? '';
    const [claims, volumes] = [this.#left(CLAIMS), this.#left(VOLUMES)];
    for (const claim of claims) this.#waitFor(uid, claim, classUse(name, { claims: [claim], volumes: [] }));
    for (const volume of volumes) this.#waitFor(uid, volume, classUse(name, { claims: [], volumes: [volume] }));
    const { verdict } = decideProtection(object, CLASS_FINALIZER, classUse(name, { claims, volumes }));
    if (verdict !== 'update') return;
    // Creates its trail: the plan names it, even if another finalizer holds it.
    this.#trails.of(uid);
    this.#server.removeFinalizer(uid, CLASS_FINALIZER);
  }

  #waitFor(uid: string, { metadata }: KubeObject, use: 'used' | 'unused'): void {
    if (use === 'used') addTo(this.#trails.of(uid), 'waitsFor', metadata?.uid ?? '');
  }

  /** The objects that are not deleted, as the server has them now. */
  #left(need: BodyNeed): KubeObject[] {
    return (this.#snapshot.bodiesOf(bodyNeedKey(need)) ?? []).flatMap(({ metadata }) => {
      const object = this.#server.get(metadata?.uid ?? '');
      return object === undefined ? [] : [object];
    });
  }
}
