import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import type { Graph } from '../../collector/graph/graph.ts';
import type { SimulationResult } from '../simulate/simulation.ts';
import type { Trail, Trails } from '../simulate/trail.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { Judge, type Judgement } from './judgement.ts';

/** The state of an object that is left in the end. */
export interface Left {
  /** Blocking dependents for which it waits. */
  readonly blocking: readonly string[];
  readonly finalizers: readonly string[];
}

const NOTHING_LEFT: Left = { blocking: [], finalizers: [] };

/**
 * The fates of all objects that a cascade touches: everything that its plan needs of the simulation. It holds neither the server of the
 * simulation nor its graph, so that their memory is free while the plan is made.
 */
export class Fates {
  readonly trails: Trails;
  /** See `SimulationResult.emptied`. */
  readonly emptied: ReadonlySet<string>;
  /** The number of removed objects. */
  readonly removed: number;
  /** By the row of the trail; undefined if the cascade does not touch the object after all. */
  readonly judgements: readonly (Judgement | undefined)[];
  /** The judgements of objects without a trail. */
  readonly others: ReadonlyMap<string, Judgement>;
  readonly #left: ReadonlyMap<string, Left>;

  constructor(snapshot: Snapshot, result: SimulationResult) {
    const { trails, emptied, server } = result;
    this.trails = trails;
    this.emptied = emptied;
    this.removed = server.removed.size;
    const judge = new Judge(snapshot, result);
    const judgements: (Judgement | undefined)[] = Array.from({ length: trails.size });
    const left = new Map<string, Left>();
    for (let row = 0; row < trails.size; row++) {
      const trail = trails.at(row);
      judgements[row] = judge.ofTrail(trail);
      if (trail.sequence === undefined) noteLeft(left, trail, result);
    }
    this.judgements = judgements;
    this.others = podsFirst(result, judgements);
    for (const uid of this.others.keys()) {
      const finalizers = finalizersOf(server.written.get(uid)?.metadata);
      if (finalizers.length > 0) left.set(uid, { blocking: [], finalizers });
    }
    this.#left = left;
  }

  /** True if the cascade touches the object. */
  has(uid: string): boolean {
    const { trails } = this;
    return this.judgements[trails.rowOf(trails.numberOf(uid))] !== undefined || this.others.has(uid);
  }

  leftOf(uid: string): Left {
    return this.#left.get(uid) ?? NOTHING_LEFT;
  }
}

function noteLeft(left: Map<string, Left>, { uid, waited }: Trail, { server }: SimulationResult): void {
  const blocking = waited ? blockingDependents(server.graph, uid) : [];
  const finalizers = finalizersOf(server.written.get(uid)?.metadata);
  if (blocking.length > 0 || finalizers.length > 0) left.set(uid, { blocking, finalizers });
}

const finalizersOf = (metadata: ObjectMeta | undefined): readonly string[] => metadata?.finalizers ?? [];

function blockingDependents(graph: Graph, uid: string): string[] {
  const found: string[] = [];
  const id = graph.find(uid);
  if (id >= 0) graph.forEachBlockingDependent(id, (dependent) => void found.push(graph.uidAt(dependent)));
  return found;
}

/** Objects of a namespace that its controller did not reach. */
function podsFirst(
  { held, server, trails }: SimulationResult,
  judgements: readonly (Judgement | undefined)[],
): Map<string, Judgement> {
  const found = new Map<string, Judgement>();
  for (const { left, podsFirst: isWaiting } of held) {
    if (!isWaiting) continue;
    for (const uid of left) {
      const isJudged = judgements[trails.rowOf(trails.numberOf(uid))] !== undefined;
      if (isJudged || found.has(uid) || server.get(uid)?.metadata?.deletionTimestamp) continue;
      found.set(uid, {
        outcome: 'waits',
        reason: 'podsFirst',
        message: 'it is deleted when the pods of its namespace are gone',
      });
    }
  }
  return found;
}
