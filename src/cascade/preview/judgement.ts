import { CUSTOM_RESOURCE_CLEANUP } from '../../api/deletion/definition-delete.ts';
import { isGarbageCollectionFinalizer } from '../../api/deletion/propagation.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import { FINALIZER_FOREGROUND } from '../../api/meta/object-meta.ts';
import type { Outcome } from '../documents/cascade-plan.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import type { Trail } from '../simulate/trail.ts';
import { CLAIM_PROTECTION } from '../simulate/volumes.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { objectName } from './object-name.ts';
import type { PlanReason } from './plan-reasons.ts';

/** The outcome of one object, and its reason. */
export interface Judgement {
  readonly outcome: Outcome;
  readonly reason: PlanReason;
  /** The reason as a short text about this object. */
  readonly message: string;
}

/** Judgements that name no other object: one value each, because a cascade may have a million of them. */
const REQUESTED = judged('deleted', 'requested', 'requested');
const NAMESPACE_EMPTIED = judged('deleted', 'namespaceEmptied', 'its namespace is deleted');
const DEFINITION_DELETED = judged('deleted', 'definitionDeleted', 'its definition is deleted');
const ONLY_OWNER_GONE = judged('deleted', 'ownersAbsent', 'its only owner is gone');
const OWNER_WAITS = judged('deleted', 'ownerWaits', 'its owner waits for it');
const ALREADY_TERMINATING = judged('deleted', 'alreadyTerminating', 'it was being deleted already');

/** Maximum number of names in a message; the rest is counted. */
const MAX_NAMED = 2;

/** Derives from a finished simulation the fate of each object that the cascade touches (CAS-012). */
export class Judge {
  readonly #snapshot: Snapshot;
  readonly #result: SimulationResult;
  readonly #known = new Map<string, Judgement | undefined>();
  readonly #held: ReadonlyMap<string, SimulationResult['held'][number]>;

  constructor(snapshot: Snapshot, result: SimulationResult) {
    this.#snapshot = snapshot;
    this.#result = result;
    this.#held = new Map(result.held.map((each) => [each.uid, each]));
  }

  /** Undefined if the cascade does not touch it. */
  of(uid: string): Judgement | undefined {
    const trail = this.#result.trails.find(uid);
    return trail === undefined ? undefined : this.ofTrail(trail);
  }

  /** The judgement of the object that has this trail. */
  ofTrail(trail: Trail): Judgement | undefined {
    // Most objects go. Their judgement rests on no other, so it is not kept.
    if (trail.sequence !== undefined) return this.#removed(trail);
    const { uid } = trail;
    if (this.#known.has(uid)) return this.#known.get(uid);
    // An object that waits in a circle waits for ever.
    this.#known.set(uid, judged('stuck', 'nothingFreesIt', 'it waits for itself'));
    const judgement = this.#left(trail);
    this.#known.set(uid, judgement);
    return judgement;
  }

  #left(trail: Trail): Judgement | undefined {
    const { metadata } = this.#result.server.get(trail.uid) ?? {};
    if (metadata === undefined) return undefined;
    if (trail.refused !== undefined && !metadata.deletionTimestamp) return judged('kept', 'refused', trail.refused);
    if (metadata.deletionTimestamp) return this.#terminating(trail, metadata);
    return this.#alive(trail, metadata);
  }

  #removed(trail: Trail): Judgement {
    const { assumed, usedBy } = trail;
    if (assumed.size > 0) return judged('waits', 'finalizer', finalizerWords([...assumed]));
    if (usedBy.size > 0)
      return judged('waits', 'usedByPods', `${CLAIM_PROTECTION}: used by ${this.#names([...usedBy])}`);
    if (this.#isUnreadContent(trail)) {
      return judged('unknown', 'resourceUnread', `what could not be read may hold it: ${this.#unread()}`);
    }
    return this.#deleted(trail);
  }

  #deleted(trail: Trail): Judgement {
    switch (trail.cause) {
      case 'requested':
        return REQUESTED;
      case 'namespaceEmptied':
        return NAMESPACE_EMPTIED;
      case 'definitionDeleted':
        return DEFINITION_DELETED;
      case 'volumeReleased':
        return judged(
          'deleted',
          'volumeReleased',
          `its claim is gone (reclaim policy Delete): ${this.#names([...trail.waitsFor])}`,
        );
      case 'nodeRemoved':
        return judged('deleted', 'nodeRemoved', `its node is gone: ${this.#names([...trail.waitsFor])}`);
      case 'collected': {
        if (trail.decided !== 'ownersAbsent') return OWNER_WAITS;
        const owners = this.#ownerCount(trail);
        return owners > 1 ? judged('deleted', 'ownersAbsent', `all ${owners} of its owners are gone`) : ONLY_OWNER_GONE;
      }
      default:
        return ALREADY_TERMINATING;
    }
  }

  #terminating(trail: Trail, metadata: ObjectMeta): Judgement | undefined {
    const { uid } = trail;
    const { finalizers = [] } = metadata;
    if (finalizers.includes(CLAIM_PROTECTION) && trail.usedBy.size > 0) {
      return judged('waits', 'usedByPods', `${CLAIM_PROTECTION}: used by ${this.#names([...trail.usedBy])}`);
    }
    const foreign = finalizers.filter(
      (name) => !isGarbageCollectionFinalizer(name) && name !== CUSTOM_RESOURCE_CLEANUP,
    );
    if (foreign.length > 0) return judged('waits', 'finalizer', finalizerWords(foreign));
    if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) {
      return judged('waits', 'gracePeriod', `its node shuts it down within ${metadata.deletionGracePeriodSeconds}s`);
    }
    const held = this.#held.get(uid);
    if (held !== undefined) return this.#holding(held);
    if (finalizers.includes(FINALIZER_FOREGROUND)) return this.#blocked(uid);
    return judged('stuck', 'nothingFreesIt', 'nothing that is known will free it');
  }

  #holding({ left }: SimulationResult['held'][number]): Judgement {
    const failing = [...this.#snapshot.catalogue.discovery.failedGroupVersions.keys()];
    if (left.length === 0) {
      return judged('stuck', 'discoveryFails', `the server cannot say what it serves in ${failing.join(', ')}`);
    }
    const worst = this.#worstOf(left);
    return judged(worst, 'contentRemains', `waits for ${this.#names(left)}`);
  }

  #blocked(uid: string): Judgement {
    const { graph } = this.#result.server;
    const blocking: string[] = [];
    const id = graph.find(uid);
    if (id >= 0) graph.forEachBlockingDependent(id, (dependent) => void blocking.push(graph.uidAt(dependent)));
    if (blocking.length === 0) return judged('stuck', 'nothingFreesIt', 'nothing that is known will free it');
    return judged(this.#worstOf(blocking), 'blockedByDependents', `waits for ${this.#names(blocking)}`);
  }

  /**
   * The worst outcome: `unknown` if any object has it; `waits` if each of them is deleted or waits for another program; otherwise `stuck`.
   */
  #worstOf(uids: readonly string[]): 'waits' | 'unknown' | 'stuck' {
    const outcomes = uids.map((uid) => this.of(uid)?.outcome ?? this.#untouched(uid));
    if (outcomes.includes('unknown')) return 'unknown';
    return outcomes.every((outcome) => outcome === 'waits' || outcome === 'deleted') ? 'waits' : 'stuck';
  }

  /** An object that was terminating before, and that the cascade does not touch. */
  #untouched(uid: string): Outcome {
    const finalizers = this.#result.server.get(uid)?.metadata?.finalizers ?? [];
    return finalizers.some((name) => !isGarbageCollectionFinalizer(name)) ? 'waits' : 'stuck';
  }

  #alive(trail: Trail, { ownerReferences = [] }: ObjectMeta): Judgement | undefined {
    const { uid, loses, orphaned, decided, cause } = trail;
    const { removed } = this.#result.server;
    if (orphaned) {
      return judged(
        'orphaned',
        'ownerOrphaned',
        `loses its owner ${this.#names([...loses])}, which is deleted with policy Orphan`,
      );
    }
    if (loses.size > 0)
      return judged('kept', 'otherOwner', `also owned by ${this.#names(ownerReferences.map((each) => each.uid))}`);
    if (cause === 'namespaceEmptied' || cause === 'definitionDeleted') {
      return judged('stuck', 'nothingFreesIt', 'nothing that is known will delete it');
    }
    if (!ownerReferences.some((reference) => removed.has(reference.uid))) return undefined;
    switch (decided) {
      case 'namespacedOwnerOfClusterScoped':
        return judged('kept', 'referenceInvalid', 'it is cluster-scoped, and its owner is of a namespaced kind');
      case 'ownerKindUnknown': {
        const unserved = ownerReferences.filter(
          ({ apiVersion, kind }) => this.#snapshot.catalogue.mapping(apiVersion, kind) === undefined,
        );
        const names = unserved.map(({ apiVersion, kind }) => `${kind} in ${apiVersion}`).join(', ');
        const isUnread = unserved.some(({ apiVersion }) => this.#snapshot.catalogue.isUnread(apiVersion));
        return judged(
          isUnread ? 'unknown' : 'kept',
          'ownerKindUnknown',
          `the server does not serve the kind of an owner: ${names}`,
        );
      }
      case 'ownerUnreadable':
        return judged('unknown', 'ownerUnreadable', `an owner could not be read: ${this.#unread()}`);
      case 'solidOwner':
        return judged(
          'kept',
          'otherOwner',
          `also owned by ${this.#names(
            this.#livingOwners(
              uid,
              ownerReferences.map((each) => each.uid),
            ),
          )}`,
        );
      default:
        return judged('kept', 'referenceInvalid', 'its reference does not name the owner that goes');
    }
  }

  #livingOwners(uid: string, owners: readonly string[]): string[] {
    const { removed } = this.#result.server;
    return owners.filter((owner) => owner !== uid && !removed.has(owner));
  }

  #ownerCount({ node: id }: Trail): number {
    const { graph } = this.#snapshot;
    if (id < 0) return 0;
    let references = 0;
    graph.forEachReference(id, () => void references++);
    // Most objects have one reference. Several may name one owner.
    return references < 2 ? references : new Set(graph.ownerReferencesAt(id).map((reference) => reference.uid)).size;
  }

  /** True for a namespace with a kind that could not be read, or a definition whose objects could not be read. */
  #isUnreadContent({ node: id }: Trail): boolean {
    const { graph, catalogue } = this.#snapshot;
    if (this.#snapshot.incomplete.length === 0) return false;
    if (id < 0) return false;
    const { kind, name, apiVersion } = graph.identityAt(id);
    if (kind === 'CustomResourceDefinition') return this.#snapshot.incomplete.some(({ resource }) => resource === name);
    if (kind !== 'Namespace' || apiVersion !== 'v1') return false;
    return catalogue.deletable.some((resource) => resource.namespaced && this.#snapshot.isIncomplete(resource));
  }

  #unread(): string {
    return this.#snapshot.incomplete.map(({ resource }) => resource).join(', ');
  }

  #names(uids: readonly string[]): string {
    const { graph } = this.#snapshot;
    const named = uids.slice(0, MAX_NAMED).map((uid) => {
      const id = graph.find(uid);
      return id < 0 ? `the object ${uid}` : objectName(graph.identityAt(id));
    });
    const more = uids.length - named.length;
    return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(' and ');
  }
}

function judged(outcome: Outcome, reason: PlanReason, message: string): Judgement {
  return { outcome, reason, message };
}

function finalizerWords(finalizers: readonly string[]): string {
  return `finalizer ${finalizers.join(', ')}`;
}
