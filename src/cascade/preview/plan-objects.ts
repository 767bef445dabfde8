import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { PlannedFinalizer, PlannedObject, Via } from '../documents/cascade-plan.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import type { Trail } from '../simulate/trail.ts';
import { setterOf } from '../snapshot/finalizer-setters.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DigestedObject } from './digest.ts';
import type { Fates, Left } from './fates.ts';
import type { Judgement } from './judgement.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The elements of a plan, with their nodes. A cascade may have a million of them, so elements share equal texts and lists, and each is made
 * when its place is known.
 */
export class PlanObjects {
  /** Roots first, then in order of deletion, then objects that stay, by name. */
  readonly objects: PlannedObject[];
  /** The node of each. */
  readonly #nodes: Int32Array;
  #made = 0;
  readonly #snapshot: Snapshot;
  readonly #fates: Fates;
  /**
   * By the order of the removal: one more than the place of the element. Until the element is made, one more than the row of the trail with a
   * minus sign; 0 for a root.
   */
  readonly #removed: Int32Array;
  /** The list of one uid that was made last, and the number of its object. */
  #single: readonly string[] = [];
  #singleOf = -1;

  constructor(snapshot: Snapshot, fates: Fates) {
    this.#snapshot = snapshot;
    this.#fates = fates;
    this.#removed = new Int32Array(fates.removed + 1);
    const { trails, judgements, others } = fates;
    const roots: Trail[] = [];
    const staying: Subject[] = [];
    let removed = 0;
    for (let row = 0; row < trails.size; row++) {
      const trail = trails.at(row);
      const judgement = judgements[row];
      if (judgement === undefined || trail.node < 0) continue;
      if (trail.via === 'request') roots.push(trail);
      else if (trail.sequence === undefined) staying.push({ node: trail.node, judgement, trail });
      else {
        this.#removed[trail.sequence] = -1 - row;
        removed++;
      }
    }
    for (const [uid, judgement] of others) {
      const node = snapshot.graph.find(uid);
      if (node >= 0) staying.push({ node, judgement, trail: trails.find(uid) });
    }
    // A list that grows leaves its smaller forms behind, as garbage of its own size.
    const size = roots.length + removed + staying.length;
    this.objects = Array.from({ length: size });
    this.#nodes = new Int32Array(size);
    this.#addRoots(roots);
    this.#addRemoved();
    this.#addStaying(staying);
  }

  /** The facts of an object for the digest. */
  digestedAt(place: number): DigestedObject {
    const { ref, outcome } = this.objects[place]!;
    const { uid } = ref;
    const node = this.#nodes[place]!;
    const kept = this.#snapshot.keptMetadata(uid);
    if (kept !== undefined) {
      const { ownerReferences = [], finalizers = [] } = kept;
      const resourceVersion = ref.resourceVersion ?? kept.resourceVersion;
      return { uid, resourceVersion, references: ownerReferences, finalizers, outcome };
    }
    const { graph } = this.#snapshot;
    const references: { uid: string; controller: boolean; blockOwnerDeletion: boolean }[] = [];
    graph.forEachReference(node, (reference, owner) => {
      const ownerUid = owner < 0 ? graph.referenceAt(reference).uid : graph.uidAt(owner);
      const controller = graph.isControllerAt(reference);
      references.push({ uid: ownerUid, controller, blockOwnerDeletion: graph.isBlockingAt(reference) });
    });
    return { uid, resourceVersion: ref.resourceVersion, references, finalizers: NO_FINALIZERS, outcome };
  }

  #addRoots(roots: readonly Trail[]): void {
    const found = roots.map((trail) => this.#subject(trail));
    const made = found.map((subject) => ({ object: this.#make(subject), node: subject.node }));
    made.sort(({ object: a }, { object: b }) => (a.sequence ?? 0) - (b.sequence ?? 0) || byName(a, b));
    for (const { object, node } of made) this.#add(object, node);
  }

  #addRemoved(): void {
    const { trails } = this.#fates;
    for (let sequence = 1; sequence < this.#removed.length; sequence++) {
      const row = -1 - this.#removed[sequence]!;
      if (row < 0) continue;
      const subject = this.#subject(trails.at(row));
      this.#add(this.#make(subject), subject.node);
      this.#removed[sequence] = this.#made;
    }
  }

  #addStaying(staying: readonly Subject[]): void {
    const made = staying.map((subject) => ({ object: this.#make(subject), node: subject.node }));
    made.sort((a, b) => byName(a.object, b.object));
    for (const { object, node } of made) this.#add(object, node);
  }

  #add(object: PlannedObject, node: NodeId): void {
    this.objects[this.#made] = object;
    this.#nodes[this.#made++] = node;
  }

  #subject(trail: Trail): Subject {
    return { node: trail.node, judgement: this.#fates.judgements[trail.row]!, trail };
  }

  #make({ node, judgement, trail }: Subject): PlannedObject {
    const ref = this.#snapshot.referenceOf(node);
    const kept = this.#snapshot.keptMetadata(ref.uid);
    const via: Via = trail?.via ?? 'namespace';
    const sequence = trail?.sequence;
    // Nothing is left of a removed object.
    const left = sequence === undefined ? this.#fates.leftOf(ref.uid) : undefined;
    const waitsFor = trail === undefined ? NO_UIDS : this.#waitsFor(trail, ref.uid, left);
    const owners = this.#ownersOf({ ref, node, kept, via, trail });
    const { outcome, reason, message } = judgement;
    const isCommon = sequence !== undefined && waitsFor.length > 0 && owners.length > 0 && kept === undefined;
    if (isCommon && trail!.isCommon) {
      // One literal for the form that most objects have: fields that are added later take more memory.
      return { ref, outcome, reason, message, sequence, waitsFor, owners, via };
    }
    const finalizers = finalizersOf(kept, left, trail);
    const planned: Partial<Writable<PlannedObject>> = { ref, outcome, reason, message };
    if (sequence !== undefined) planned.sequence = sequence;
    if (waitsFor.length > 0) planned.waitsFor = waitsFor;
    if (trail !== undefined && trail.loses.size > 0) planned.losesReferences = [...trail.loses];
    if (finalizers.length > 0) planned.finalizers = finalizers;
    if (owners.length > 0) planned.owners = owners;
    planned.via = via;
    if (trail?.graceSeconds !== undefined) planned.graceSeconds = trail.graceSeconds;
    return planned as PlannedObject;
  }

  /**
   * Objects that are deleted before it, or that it waits for in vain: for those also the blocking dependents that are left. Objects orphaned
   * meanwhile delay nothing.
   */
  #waitsFor(trail: Trail, uid: string, left: Left | undefined): readonly string[] {
    const { trails, emptied } = this.#fates;
    const { sequence = 0, waitsForOnly } = trail;
    const isEmptied = emptied.size > 0 && emptied.has(uid) && trail.via !== 'volume';
    const precedes = (other: number): boolean => {
      const removedAs = trails.sequenceOf(other);
      return removedAs > 0 && removedAs < sequence;
    };
    if (waitsForOnly !== undefined && left === undefined && !isEmptied) {
      return precedes(waitsForOnly) ? this.#listOf(waitsForOnly, sequence) : NO_UIDS;
    }
    const { waitsFor, usedBy } = trail;
    if (waitsFor.size === 0 && left === undefined) return NO_UIDS;
    const more = left === undefined ? NO_UIDS : left.blocking.filter((other) => !waitsFor.has(other));
    return [...waitsFor, ...more].filter((other) => {
      if (isEmptied && !usedBy.has(other)) return false;
      return sequence === 0 || precedes(trails.numberOf(other));
    });
  }

  /** The parents in the tree: its owners, otherwise the origin of its deletion. */
  #ownersOf({ ref, node, kept, via, trail }: Parts): readonly string[] {
    if (via === 'request') return NO_UIDS;
    const owners = kept === undefined ? this.#ownersInGraph(node, trail?.sequence) : this.#touchedOf(kept, ref.uid);
    if (owners.length > 0) return owners;
    if (via === 'volume' || via === 'node') return [...(trail?.waitsFor ?? [])];
    if (via === 'ownerReference') return NO_UIDS;
    // The namespace or definition that waits for it.
    for (const each of this.#fates.trails.values()) {
      if (each.via === 'request' && each.waitsFor.has(ref.uid)) return [each.uid];
    }
    return NO_UIDS;
  }

  /** The owners that the cascade touches. */
  #ownersInGraph(node: NodeId, sequence = 0): readonly string[] {
    const { graph } = this.#snapshot;
    const { trails, judgements, others } = this.#fates;
    let only = -1;
    let owners: Set<string> | undefined;
    graph.forEachReference(node, (_reference, owner) => {
      if (owner < 0 || owner === node || owner === only) return;
      const isTouched = judgements[trails.rowOf(owner)] !== undefined;
      if (!isTouched && (others.size === 0 || !others.has(graph.uidAt(owner)))) return;
      if (only < 0) {
        only = owner;
        return;
      }
      owners ??= new Set([graph.uidAt(only)]);
      owners.add(graph.uidAt(owner));
    });
    if (owners !== undefined) return [...owners];
    return only < 0 ? NO_UIDS : this.#listOf(only, sequence);
  }

  #touchedOf({ ownerReferences = [] }: ObjectMeta, own: string): string[] {
    const owners = new Set<string>();
    for (const { uid } of ownerReferences) if (uid !== own && this.#fates.has(uid)) owners.add(uid);
    return [...owners];
  }

  /** A list of one uid, which dependents of one owner share. Its text is that of the object's element, if this is made already. */
  #listOf(number: number, sequence: number): readonly string[] {
    if (number === this.#singleOf) return this.#single;
    const { trails } = this.#fates;
    const removedAs = trails.sequenceOf(number);
    const place = removedAs > 0 && removedAs < sequence ? this.#removed[removedAs]! : 0;
    this.#single = [place > 0 ? this.objects[place - 1]!.ref.uid : trails.uidOf(number)];
    this.#singleOf = number;
    return this.#single;
  }
}

/** An object of the plan before its element is made. */
interface Subject {
  readonly node: NodeId;
  readonly judgement: Judgement;
  readonly trail: Trail | undefined;
}

interface Parts {
  readonly ref: ObjectReference;
  readonly node: NodeId;
  /** Metadata from before the cascade; undefined if the graph has all of it. */
  readonly kept: ObjectMeta | undefined;
  readonly via: Via;
  readonly trail: Trail | undefined;
}

const NO_UIDS: readonly string[] = [];
const NO_FINALIZERS: readonly string[] = [];

function finalizersOf(
  kept: ObjectMeta | undefined,
  left: Left | undefined,
  trail: Trail | undefined,
): readonly PlannedFinalizer[] {
  const own = kept?.finalizers ?? NO_FINALIZERS;
  const now = left?.finalizers ?? NO_FINALIZERS;
  const assumed = trail?.assumed;
  if (own.length === 0 && now.length === 0 && (assumed === undefined || assumed.size === 0)) return [];
  return [...new Set([...own, ...now, ...(assumed ?? [])])].map((name) => ({ name, ...setterOf(kept ?? {}, name) }));
}

function byName({ ref: a }: PlannedObject, { ref: b }: PlannedObject): number {
  return nameOf(a) < nameOf(b) ? -1 : 1;
}

function nameOf({ namespace, kind, name }: ObjectReference): string {
  return `${namespace ?? ''}/${kind}/${name}`;
}
