import {
  FINALIZER_FOREGROUND,
  FINALIZER_ORPHAN,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
} from '../../src/api/meta/object-meta.ts';
import type { Store, StoreEvent, StoreWatch } from '../../src/apiserver/storage/interface.ts';
import { kindIsNamespaced } from './kinds.ts';
import type { Rig } from './rig.ts';

export interface KnownObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly metadata: ObjectMeta;
}

/**
 * What really is in the store, change by change, and who ended what. It judges each deletion at the very revision at which it
 * happened, so that nothing can change between what it sees and what was done.
 */
export class History {
  readonly #store: Store;
  readonly #objects = new Map<string, KnownObject>();
  readonly #byClient = new Set<string>();
  /** Uids that waited for their dependents at some time: whoever saw that may have acted upon it. */
  readonly #waited = new Set<string>();
  /** Uids that nobody might touch at some time (COL-113), and that nobody looked at again when that changed. */
  readonly #wasOutOfReach = new Set<string>();
  readonly wrong: string[] = [];
  #watch: StoreWatch | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async start(rig: Rig): Promise<void> {
    const startRevision = (await rig.wait(this.#store.currentRevision())) + 1;
    const onEvents = (events: readonly StoreEvent[]): void => {
      for (const event of events) this.#see(event);
    };
    this.#watch = await rig.wait(this.#store.watch('/registry/', { startRevision, onEvents }));
  }

  stop(): void {
    this.#watch?.cancel();
  }

  /** To be called before the request: from now on the end of this object may be the client's doing. */
  deletedByClient(uid: string): void {
    this.#byClient.add(uid);
  }

  /** What is there now, in the order of keys. */
  get objects(): KnownObject[] {
    return [...this.#objects].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  held(finalizer: string): KnownObject[] {
    return [...this.#objects.values()].filter(({ metadata }) => metadata.finalizers?.includes(finalizer) === true);
  }

  /** What should not be there once everything has come to rest and nobody holds anything. */
  leftovers(): string[] {
    const blocked = this.#blockedForEver();
    return [...this.#objects.values()]
      .filter(({ uid }) => !blocked.has(uid))
      .flatMap((object) => this.#leftover(object).map((why) => `${show(object)} ${why}`));
  }

  /**
   * An object that nobody may touch (COL-113) never goes, so that an owner in foreground deletion that it blocks never goes
   * either, nor what that one blocks in turn.
   */
  #blockedForEver(): ReadonlySet<string> {
    const blocked = new Set<string>();
    for (let before = -1; before < blocked.size;) {
      before = blocked.size;
      for (const object of this.#objects.values()) {
        if (!isOutOfReach(object) && !blocked.has(object.uid)) continue;
        for (const { uid, blockOwnerDeletion } of object.metadata.ownerReferences ?? []) {
          const owner = [...this.#objects.values()].find((each) => each.uid === uid);
          if (blockOwnerDeletion === true && owner !== undefined && isWaiting(owner)) blocked.add(uid);
        }
      }
    }
    return blocked;
  }

  #leftover(object: KnownObject): string[] {
    const { metadata } = object;
    const found: string[] = [];
    if (metadata.deletionTimestamp) found.push(`is still terminating (${metadata.finalizers?.join(' ')})`);
    for (const finalizer of [FINALIZER_FOREGROUND, FINALIZER_ORPHAN]) {
      if (metadata.finalizers?.includes(finalizer) === true) found.push(`still has the finalizer ${finalizer}`);
    }
    const references = metadata.ownerReferences ?? [];
    if (references.length === 0 || this.#wasOutOfReach.has(object.uid)) return found;
    const living = references.filter((reference) => this.#owner(object, reference) !== undefined);
    if (living.length === 0) found.push('has no owner left');
    else if (living.length < references.length) found.push('has a reference to nothing beside a living owner');
    return found;
  }

  #see({ type, key, value, previous }: StoreEvent): void {
    const before = this.#objects.get(key);
    const now = type === 'PUT' && value !== undefined ? parse(value) : undefined;
    if (before !== undefined && now?.uid !== before.uid) this.#ended(before);
    else if (before !== undefined && now?.metadata.deletionTimestamp && !before.metadata.deletionTimestamp) {
      this.#ended(before);
    }
    if (now === undefined) this.#objects.delete(key);
    else this.#objects.set(key, now);
    if (now !== undefined && isWaiting(now)) this.#waited.add(now.uid);
    if (now !== undefined && isOutOfReach(now)) this.#wasOutOfReach.add(now.uid);
    if (previous === undefined && before !== undefined) this.wrong.push(`the store lost ${key}`);
  }

  /** Deleted, or told to: by the collector, unless a client did (COL-002, COL-113). */
  #ended(object: KnownObject): void {
    // The second half of a deletion that was judged when it began.
    if (this.#byClient.has(object.uid) || object.metadata.deletionTimestamp || IGNORED.has(object.kind)) return;
    if (isOutOfReach(object)) this.wrong.push(`${show(object)} was deleted although an owner is out of its reach`);
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) this.wrong.push(`${show(object)} was deleted without an owner`);
    for (const reference of references) {
      const owner = this.#owner(object, reference);
      if (owner === undefined || this.#waited.has(owner.uid)) continue;
      this.wrong.push(`${show(object)} was deleted although its owner ${show(owner)} exists and never waited`);
    }
  }

  #owner(dependent: KnownObject, reference: OwnerReference): KnownObject | undefined {
    for (const object of this.#objects.values()) {
      if (object.uid !== reference.uid || object.name !== reference.name) continue;
      if (object.kind !== reference.kind || object.apiVersion !== reference.apiVersion) continue;
      if (object.namespace === '' || object.namespace === dependent.namespace) return object;
    }
    return undefined;
  }
}

/** Written by nobody that is looked at here. */
const IGNORED = new Set(['Event', 'Namespace']);

/** A cluster-scoped object with an owner of a namespaced kind is never touched (COL-113). */
function isOutOfReach({ namespace, metadata }: KnownObject): boolean {
  return namespace === '' && (metadata.ownerReferences ?? []).some(({ kind }) => kindIsNamespaced(kind));
}

function isWaiting({ metadata }: KnownObject): boolean {
  return Boolean(metadata.deletionTimestamp) && metadata.finalizers?.includes(FINALIZER_FOREGROUND) === true;
}

function parse(value: Uint8Array): KnownObject | undefined {
  const object = JSON.parse(Buffer.from(value).toString()) as KubeObject;
  const { apiVersion = '', kind = '', metadata = {} } = object;
  const { name = '', namespace = '', uid = '' } = metadata;
  return { apiVersion, kind, name, namespace, uid, metadata };
}

function show({ kind, namespace, name, uid }: KnownObject): string {
  return `${kind} ${namespace}/${name} (${uid})`;
}
