import { AbsentOwnerCache } from '../../collector/caches/absent-owner-cache.ts';
import type { Coordinates, Identity } from '../../collector/types/identity.ts';
import type { OwnershipGraph } from '../../collector/graph/ownership-graph.ts';
import { ABSENT, type ObjectNumbers } from './object-numbers.ts';

/**
 * The proven absences of a simulation (COL-130), one bit for each object whose identity is that of the snapshot. Absences of other
 * identities are in a cache like the collector's.
 */
export class AbsentOwners {
  readonly #graph: OwnershipGraph;
  readonly #numbers: ObjectNumbers;
  readonly #others = new AbsentOwnerCache({ capacity: 1_000_000 });

  /** @param graph the snapshot's */
  constructor(graph: OwnershipGraph, numbers: ObjectNumbers) {
    this.#graph = graph;
    this.#numbers = numbers;
  }

  note(identity: Identity): void {
    const number = this.#numbers.of(identity.uid);
    if (this.#isAt(number, identity) && this.#graph.namespaceAt(number) === identity.namespace) {
      this.#numbers.marks.set(number, ABSENT);
    } else this.#others.note(identity);
  }

  /** Whether an object with these coordinates is absent, without a namespace or in the dependent's (COL-111). */
  has(coordinates: Coordinates, namespace: string): boolean {
    const number = this.#numbers.of(coordinates.uid);
    if (this.#numbers.marks.has(number, ABSENT) && this.#isAt(number, coordinates)) {
      const place = this.#graph.namespaceAt(number);
      if (place === '' || place === namespace) return true;
    }
    return this.#others.has(coordinates, namespace);
  }

  /** Forgets a uid that is alive (BETTER-14). */
  drop(uid: string): void {
    const number = this.#numbers.of(uid);
    if (this.#numbers.marks.has(number, ABSENT)) this.#numbers.marks.clear(number, ABSENT);
    this.#others.drop(uid);
  }

  /** True if the snapshot has the object at these coordinates. */
  #isAt(number: number, { apiVersion, kind, name }: Coordinates): boolean {
    if (number >= this.#numbers.nodes) return false;
    const type = this.#graph.typeAt(number);
    return type.kind === kind && type.apiVersion === apiVersion && this.#graph.nameAt(number) === name;
  }
}
