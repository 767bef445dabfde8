import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { NodeId } from '../../collector/graph/graph.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';

interface Answered<T> {
  readonly namespace: string;
  /** Undefined for a reference that has the coordinates of its owner's node. */
  readonly reference: OwnerReference | undefined;
  readonly answer: T;
}

/**
 * Answers to a question about references that depends on nothing but the reference's coordinates and the namespace of its object. The last
 * answer about each owner is kept, because its dependents nearly always name it in the same way. The graph must not change meanwhile.
 */
export class ReferenceAnswers<T> {
  readonly #graph: OwnershipGraph;
  readonly #ask: (namespace: string, reference: OwnerReference) => T;
  /** By owner. */
  readonly #byNode = new Map<NodeId, Answered<T>>();
  /** By uid, for owners without a node. */
  readonly #byUid = new Map<string, Answered<T>>();

  constructor(graph: OwnershipGraph, ask: (namespace: string, reference: OwnerReference) => T) {
    this.#graph = graph;
    this.#ask = ask;
  }

  /**
   * @param namespace that of the dependent
   * @param number of the reference, from `forEachReference`
   * @param owner the owner's node, -1 if it has none
   */
  of(namespace: string, number: number, owner: NodeId): T {
    const graph = this.#graph;
    const last = owner < 0 ? undefined : this.#byNode.get(owner);
    if (
      last !== undefined &&
      last.namespace === namespace &&
      last.reference === undefined &&
      graph.namesItsOwner(number)
    )
      return last.answer;
    const reference = graph.referenceAt(number);
    const known = owner < 0 ? this.#byUid.get(reference.uid) : last;
    if (
      known !== undefined &&
      known.namespace === namespace &&
      known.reference !== undefined &&
      sameCoordinates(known.reference, reference)
    )
      return known.answer;
    const answer = this.#ask(namespace, reference);
    if (owner < 0) this.#byUid.set(reference.uid, { namespace, reference, answer });
    else this.#byNode.set(owner, { namespace, reference: graph.namesItsOwner(number) ? undefined : reference, answer });
    return answer;
  }
}

/** The uids are known to be equal. */
function sameCoordinates(a: OwnerReference, b: OwnerReference): boolean {
  return a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}
