import { PROTECT } from '../../api/meta/annotations.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** `"false"` on a protected object: its dependents are not protected by it. */
export const PROTECT_DEPENDENTS = 'kubegc.io/protect-dependents';
/** An approved plan beyond the budget: `<digest>.<seconds since the epoch>`. */
export const APPROVED_PLAN = 'kubegc.io/approved-plan';

/** Maximum number of owners above an object that are followed; real chains are shorter. */
const MOST_ANCESTORS = 10_000;

export interface Protection {
  /** The object that has the annotation. */
  readonly uid: string;
  readonly reason: string;
}

/** The reason for which metadata protect an object; undefined when they do not. An empty reason protects, too. */
export function protectionOf(metadata: ObjectMeta | undefined): string | undefined {
  const value = metadata?.annotations?.[PROTECT];
  return value === undefined ? undefined : value.trim() || 'no reason given';
}

/** Whether the dependents of an object are protected with it. */
export function protectsDependents(metadata: ObjectMeta | undefined): boolean {
  return protectionOf(metadata) !== undefined && metadata?.annotations?.[PROTECT_DEPENDENTS] !== 'false';
}

/** Whether an update removes or weakens protection. A changed reason does not. */
export function unprotects(before: ObjectMeta | undefined, after: ObjectMeta | undefined): boolean {
  if (protectionOf(before) === undefined) return false;
  return protectionOf(after) === undefined || (protectsDependents(before) && !protectsDependents(after));
}

/** The protections of objects of one snapshot: their own, and those of all owners above them (CAS-071). Pure. */
export class Protections {
  readonly #snapshot: Snapshot;
  /** Metadata from the request itself, which are newer than the snapshot. */
  readonly #newer: ReadonlyMap<string, ObjectMeta>;

  constructor(snapshot: Snapshot, newer: ReadonlyMap<string, ObjectMeta> = new Map()) {
    this.#snapshot = snapshot;
    this.#newer = newer;
  }

  /** Whether anything at all is protected. */
  get any(): boolean {
    for (const metadata of this.#newer.values()) if (protectionOf(metadata) !== undefined) return true;
    return this.#snapshot.protectedUids.length > 0;
  }

  /** All protections of an object, its own first. Walks cycles once. */
  of(uid: string): readonly Protection[] {
    const found: Protection[] = [];
    const own = protectionOf(this.#metadata(uid));
    if (own !== undefined && !this.#isCopied(uid)) found.push({ uid, reason: own });
    const seen = new Set([uid]);
    const open = this.#owners(uid);
    while (open.length > 0 && seen.size < MOST_ANCESTORS) {
      const owner = open.pop()!;
      if (seen.has(owner)) continue;
      seen.add(owner);
      const metadata = this.#metadata(owner);
      const reason = protectsDependents(metadata) && !this.#isCopied(owner) ? protectionOf(metadata) : undefined;
      if (reason !== undefined) found.push({ uid: owner, reason });
      for (const next of this.#owners(owner)) open.push(next);
    }
    return found;
  }

  /**
   * A Deployment's controller copies annotations to its ReplicaSets and never removes them, so the Deployment's own annotation counts
   * there.
   */
  #isCopied(uid: string): boolean {
    const { graph } = this.#snapshot;
    const id = graph.find(uid);
    if (id < 0 || graph.typeAt(id).kind !== 'ReplicaSet') return false;
    let copied = false;
    graph.forEachOwner(id, (owner) => {
      if (graph.isObserved(owner) && graph.typeAt(owner).kind === 'Deployment') copied = true;
    });
    return copied;
  }

  #metadata(uid: string): ObjectMeta | undefined {
    const newer = this.#newer.get(uid);
    if (newer !== undefined) return newer;
    const id = this.#snapshot.graph.find(uid);
    return id < 0 || !this.#snapshot.graph.isObserved(id) ? undefined : this.#snapshot.metadataOf(id);
  }

  #owners(uid: string): string[] {
    const newer = this.#newer.get(uid);
    if (newer !== undefined) return (newer.ownerReferences ?? []).map((reference) => reference.uid);
    const { graph } = this.#snapshot;
    const id = graph.find(uid);
    const owners: string[] = [];
    if (id >= 0) graph.forEachOwner(id, (owner: NodeId) => void owners.push(graph.uidAt(owner)));
    return owners;
  }
}
