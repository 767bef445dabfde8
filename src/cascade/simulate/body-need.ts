/** Full objects that a rule needs, as one list (CAS-001: bodies are read only if needed). */
export interface BodyNeed {
  readonly resource: 'pods' | 'persistentvolumeclaims' | 'persistentvolumes' | 'namespaces';
  /** The volumes of pods and claims. */
  readonly namespace?: string;
  /** Pods of one node, in all namespaces. */
  readonly node?: string;
}

/** The kind of the objects in each list; all are in `v1`. */
export const KIND_OF_NEED: Readonly<Record<BodyNeed['resource'], string>> = {
  pods: 'Pod',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  persistentvolumes: 'PersistentVolume',
  namespaces: 'Namespace',
};

/** Objects that a simulation needed but did not have. The caller reads them, adds them to the snapshot, and simulates again. */
export class BodyNeeds {
  readonly #needs = new Map<string, BodyNeed>();
  readonly #known: ReadonlySet<string>;

  /** @param known keys of lists that were already read */
  constructor(known: ReadonlySet<string> = new Set()) {
    this.#known = known;
  }

  add(need: BodyNeed): void {
    const key = bodyNeedKey(need);
    if (!this.#known.has(key)) this.#needs.set(key, need);
  }

  /** True if it was already read, so that a missing object does not exist. */
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
