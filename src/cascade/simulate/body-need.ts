/** Full objects that a rule needs, as one list (CAS-001: bodies are read only where they are needed). */
export interface BodyNeed {
  readonly resource: 'pods' | 'persistentvolumeclaims' | 'persistentvolumes' | 'namespaces';
  /** The volumes of pods and claims. */
  readonly namespace?: string;
  /** Pods of one node, of all namespaces. */
  readonly node?: string;
}

/** Objects that a simulation needed and did not have. Read it, add it to the snapshot, and simulate again. */
export class BodyNeeds {
  readonly #needs = new Map<string, BodyNeed>();
  readonly #known: ReadonlySet<string>;

  /** @param known keys of what was read before */
  constructor(known: ReadonlySet<string> = new Set()) {
    this.#known = known;
  }

  add(need: BodyNeed): void {
    const key = bodyNeedKey(need);
    if (!this.#known.has(key)) this.#needs.set(key, need);
  }

  /** Whether it was read before, so that what is not there does not exist. */
  isKnown(need: BodyNeed): boolean {
    return this.#known.has(bodyNeedKey(need));
  }

  get list(): readonly BodyNeed[] {
    return [...this.#needs.values()];
  }
}

export function bodyNeedKey({ resource, namespace = '', node = '' }: BodyNeed): string {
  return `${resource}/${namespace}/${node}`;
}
