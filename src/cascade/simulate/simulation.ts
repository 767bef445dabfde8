import { CUSTOM_RESOURCE_CLEANUP } from '../../api/deletion/definition-delete.ts';
import { isGarbageCollectionFinalizer } from '../../api/deletion/propagation.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import type { Graph, NodeId } from '../../collector/graph/graph.ts';
import type { CascadePolicy } from '../documents/cascade-plan.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type BodyNeed, BodyNeeds } from './body-need.ts';
import { Classes } from './classes.ts';
import { DefinitionEmptying } from './definition-emptying.ts';
import { NamespaceEmptying } from './namespace-emptying.ts';
import { type NodeActors, Nodes } from './nodes.ts';
import { ObjectNumbers } from './object-numbers.ts';
import { SimulatedCollector } from './simulated-collector.ts';
import type { SimulatedController } from './simulated-controller.ts';
import { type ServerListener, SimulatedServer } from './simulated-server.ts';
import { Trails } from './trail.ts';
import { PROTECTIONS, Volumes } from './volumes.ts';

/** The parts of the cluster that react to deletions, besides collector, namespace controller and definitions. */
export interface Actors extends NodeActors {
  /** True if the volume of a deleted claim is released, and deleted if its reclaim policy says so. */
  readonly volumeReclaim: boolean;
}

/** The parts of a cluster with nodes and storage. */
export const ALL_ACTORS: Actors = { kubelet: true, podCollection: true, volumeReclaim: true };

export interface SimulatedRoot {
  readonly uid: string;
  /** By default, the type's own policy (CAS-011). */
  readonly policy?: CascadePolicy;
}

/** A write, other than a deletion, that may make objects garbage: new owner references, or the removal of the last finalizer. */
export type SimulatedChange =
  | { readonly change: 'references'; readonly uid: string; readonly references: readonly OwnerReference[] }
  | { readonly change: 'finalize'; readonly uid: string };

export interface SimulationRequest {
  readonly roots: readonly SimulatedRoot[];
  /** Carried out after the roots are deleted. */
  readonly changes?: readonly SimulatedChange[];
  /** Whether finalizers that no simulated part removes are removed in the end, or stay (CAS-017). */
  readonly assumeFinalizers: 'kept' | 'removed';
  /** The part that acts first where both may: the collector (default), or namespaces and definitions. */
  readonly first?: 'collector' | 'controllers';
  /** `oneByOne` completes each root's cascade before the next root is deleted. Default: all roots are deleted together. */
  readonly order?: 'atOnce' | 'oneByOne';
  readonly gracePeriodSeconds?: number;
  /** True if a finished pod keeps no claim in this cluster (LIFE-155). Default: it does. */
  readonly ignoreFinishedPods?: boolean;
  readonly actors?: Actors;
}

/** The result of a simulation. `ended` means that no part can act any more, `bound` that it was stopped. */
export interface SimulationResult {
  readonly end: 'ended' | 'bound';
  readonly server: SimulatedServer;
  readonly trails: Trails;
  /** Full objects that would improve the answer: read them and simulate again. */
  readonly needs: readonly BodyNeed[];
  /** Terminating namespaces and definitions, with the remaining objects. */
  readonly held: readonly { readonly uid: string; readonly left: readonly string[]; readonly podsFirst: boolean }[];
  /**
   * Objects that a namespace or definition deletes and that the collector may also delete. The order among them, and which references they
   * lose first, is not defined.
   */
  readonly emptied: ReadonlySet<string>;
  /** Objects whose decision the collector would retry for ever. */
  readonly parked: ReadonlySet<string>;
}

/**
 * Maximum number of rounds of a simulation. Each round except the last removes a finalizer, an object or a namespace, so only an extremely
 * deep cascade needs more.
 */
const MAX_ROUNDS = 100_000;

/**
 * Deletes the roots on a copy of the snapshot, and lets collector and controllers work until none can act (CAS-010). Pure: it does not
 * change the snapshot.
 */
export function simulate(snapshot: Snapshot, request: SimulationRequest): SimulationResult {
  return new Simulation(snapshot, request).run();
}

class Simulation {
  readonly #request: SimulationRequest;
  readonly #server: SimulatedServer;
  readonly #trails: Trails;
  readonly #needs: BodyNeeds;
  readonly #collector: SimulatedCollector;
  readonly #namespaces: NamespaceEmptying;
  readonly #definitions: DefinitionEmptying;
  readonly #controllers: readonly SimulatedController[];
  #sequence = 0;

  constructor(snapshot: Snapshot, request: SimulationRequest) {
    this.#request = request;
    this.#needs = new BodyNeeds(snapshot.bodyKeys);
    const numbers = new ObjectNumbers(snapshot.graph, { isLarge: isLarge(snapshot, request) });
    const listener: ServerListener = {
      effects: (effects) => this.#collector.effects(effects),
      removed: (uid, object) => this.#removed(uid, object),
      terminating: (uid, object) => this.#terminating(uid, object),
    };
    const trails = new Trails(numbers);
    this.#trails = trails;
    this.#server = new SimulatedServer(snapshot, numbers, { now: snapshot.readAt, listener });
    const actors = request.actors ?? ALL_ACTORS;
    const needs = this.#needs;
    this.#collector = new SimulatedCollector(snapshot, this.#server, { numbers, trails });
    this.#namespaces = new NamespaceEmptying(snapshot, this.#server, trails, needs);
    this.#definitions = new DefinitionEmptying(snapshot, this.#server, trails);
    this.#controllers = [
      this.#namespaces,
      this.#definitions,
      new Classes(snapshot, this.#server, trails, needs),
      new Volumes(snapshot, this.#server, trails, {
        needs,
        reclaims: actors.volumeReclaim,
        ignoreFinishedPods: request.ignoreFinishedPods === true,
      }),
      new Nodes(snapshot, this.#server, trails, { needs, actors }),
    ];
  }

  run(): SimulationResult {
    for (const root of this.#request.roots) {
      this.#deleteRoot(root);
      if (this.#request.order === 'oneByOne') this.#toRest();
    }
    for (const change of this.#request.changes ?? []) this.#change(change);
    let end: SimulationResult['end'] = 'bound';
    for (let round = 0; round < MAX_ROUNDS; round++) {
      this.#toRest();
      if (this.#request.assumeFinalizers === 'removed' && this.#removeForeignFinalizers()) continue;
      end = 'ended';
      break;
    }
    return {
      end,
      server: this.#server,
      trails: this.#trails,
      needs: this.#needs.list,
      held: [
        ...this.#namespaces.remaining(),
        ...[...this.#definitions.remaining()].map((each) => ({ ...each, podsFirst: false })),
      ],
      emptied: new Set([...this.#namespaces.content, ...this.#definitions.content]),
      parked: new Set(this.#collector.parked),
    };
  }

  #deleteRoot({ uid, policy }: SimulatedRoot): void {
    const trail = this.#trails.of(uid, 'request');
    trail.via = 'request';
    trail.cause = 'requested';
    const { gracePeriodSeconds } = this.#request;
    // Its deletion, which began before the snapshot, is under way. Whoever carries that out is in the middle of it.
    const object = this.#server.get(uid);
    if (object?.metadata?.deletionTimestamp) {
      this.#terminating(uid, object);
      this.#collector.look(uid);
    }
    const sent = this.#server.delete(uid, {
      ...(policy === undefined ? {} : { propagationPolicy: policy }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      preconditions: { uid },
    });
    if (sent.answer === 'refused') trail.refused = sent.message;
  }

  #change(change: SimulatedChange): void {
    if (change.change === 'references') {
      this.#server.replaceReferences(change.uid, change.references);
      this.#collector.look(change.uid);
      return;
    }
    for (const finalizer of this.#server.get(change.uid)?.metadata?.finalizers ?? []) {
      this.#server.removeFinalizer(change.uid, finalizer);
    }
  }

  /** Runs until neither collector nor controllers can act. The collector's keys are retried after each change. */
  #toRest(): void {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = this.#server.version;
      if (this.#request.first === 'collector') this.#collector.work();
      for (const controller of this.#controllers) {
        controller.work();
        this.#collector.work();
      }
      if (this.#server.version !== before) continue;
      if (!this.#collector.retry()) return;
      this.#collector.work();
      if (this.#server.version === before) return;
    }
  }

  #removed(uid: string, object: KubeObject): void {
    this.#trails.of(uid).sequence = ++this.#sequence;
    for (const controller of this.#controllers) controller.removed?.(uid, object);
  }

  #terminating(uid: string, object: KubeObject): void {
    const { graph } = this.#server;
    const id = graph.find(uid);
    if (id >= 0 && graph.isWaiting(id)) {
      const trail = this.#trails.of(uid);
      trail.noteWaited();
      graph.forEachBlockingDependent(id, (dependent) => {
        const blocking = graph.uidAt(dependent);
        // The collector removes a reference instead of deleting its object only if the object has another owner.
        const released = ownersCount(graph, dependent) > 1 && this.#collector.ownersReleasedNow(blocking).includes(uid);
        if (!released) this.#trails.add(trail, 'waitsFor', blocking);
      });
    }
    for (const controller of this.#controllers) controller.terminating?.(uid, object);
  }

  /** Returns whether there were any. Removes all together, because their owners work in parallel. */
  #removeForeignFinalizers(): boolean {
    let removed = false;
    for (const uid of this.#heldObjects()) {
      const { metadata } = this.#server.get(uid) ?? {};
      if (!metadata?.deletionTimestamp) continue;
      for (const finalizer of (metadata.finalizers ?? []).filter((name) => this.#isForeign(name))) {
        this.#trails.add(this.#trails.of(uid), 'assumed', finalizer);
        this.#server.removeFinalizer(uid, finalizer);
        removed = true;
      }
    }
    return removed;
  }

  /** The written objects, the objects they wait for, and the rest of namespaces and definitions. */
  #heldObjects(): ReadonlySet<string> {
    const { graph } = this.#server;
    const found = new Set<string>(this.#server.written.keys());
    for (const uid of found) {
      const id = graph.find(uid);
      if (id < 0 || !graph.isDeletingDependents(id)) continue;
      // The set grows during the loop, which includes the new members.
      graph.forEachBlockingDependent(id, (dependent) => void found.add(graph.uidAt(dependent)));
    }
    for (const { left } of this.#namespaces.remaining()) for (const uid of left) found.add(uid);
    for (const { left } of this.#definitions.remaining()) for (const uid of left) found.add(uid);
    return found;
  }

  #isForeign(finalizer: string): boolean {
    if (isGarbageCollectionFinalizer(finalizer) || finalizer === CUSTOM_RESOURCE_CLEANUP) return false;
    return !PROTECTIONS.has(finalizer);
  }
}

/** Objects below the roots that never make a simulation large. */
const FEW = 1000;
/** The share of all objects from which on the graph is copied whole, because a branch would copy most of its pages of 64 nodes anyway. */
const LARGE_SHARE = 1 / 64;

/** True if owner references lead from the roots to so many objects that most of the graph will be written. */
function isLarge({ graph }: Snapshot, { roots }: SimulationRequest): boolean {
  const bound = Math.max(FEW, graph.capacity * LARGE_SHARE);
  const found = new Set(roots.map(({ uid }) => graph.find(uid)).filter((id) => id >= 0));
  // The set grows during the loop, which includes the new members.
  for (const id of found) {
    graph.forEachDependent(id, (dependent) => found.add(dependent).size <= bound);
    if (found.size > bound) return true;
  }
  return false;
}

function ownersCount(graph: Graph, id: NodeId): number {
  let count = 0;
  graph.forEachOwner(id, () => void count++);
  return count;
}
