import type { OwnerReference } from '../../api/meta/object-meta.ts';

interface Answered<T> {
  readonly namespace: string;
  readonly reference: OwnerReference;
  readonly answer: T;
}

/**
 * Answers to a question about references that depends on nothing but the reference's coordinates and the namespace of its object. The last
 * answer about each owner is kept, because its dependents nearly always name it in the same way. The cluster must not change meanwhile.
 */
export class ReferenceAnswers<T> {
  readonly #ask: (namespace: string, reference: OwnerReference) => T;
  readonly #last = new Map<string, Answered<T>>();

  constructor(ask: (namespace: string, reference: OwnerReference) => T) {
    this.#ask = ask;
  }

  of(namespace: string, reference: OwnerReference): T {
    const last = this.#last.get(reference.uid);
    if (last !== undefined && last.namespace === namespace && sameCoordinates(last.reference, reference))
      return last.answer;
    const answer = this.#ask(namespace, reference);
    this.#last.set(reference.uid, { namespace, reference, answer });
    return answer;
  }
}

/** The uids are known to be equal. */
function sameCoordinates(a: OwnerReference, b: OwnerReference): boolean {
  return a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}
