interface Node<T> {
  readonly prefix: string;
  readonly members: Set<T>;
  /** The longest other prefix in the table with which this one begins. */
  parent: Node<T> | undefined;
}

/**
 * Finds all registrations whose prefix begins a key, without a test of each one.
 *
 * In sorted order, every text between a prefix P of the key and the key begins with P. So of all registered prefixes, take the greatest at
 * or below the key: each registered P that begins the key is that one or one of its ancestors.
 */
export class PrefixTable<T> {
  #nodes: Node<T>[] = [];

  get empty(): boolean {
    return this.#nodes.length === 0;
  }

  add(prefix: string, member: T): void {
    const at = this.#upperBound(prefix);
    const found = this.#nodes[at - 1];
    if (found?.prefix === prefix) {
      found.members.add(member);
      return;
    }
    this.#nodes.splice(at, 0, { prefix, members: new Set([member]), parent: undefined });
    this.#link();
  }

  delete(prefix: string, member: T): void {
    const at = this.#upperBound(prefix) - 1;
    const found = this.#nodes[at];
    if (found?.prefix !== prefix) return;
    found.members.delete(member);
    if (found.members.size > 0) return;
    this.#nodes.splice(at, 1);
    this.#link();
  }

  forEachMatch(key: string, visit: (member: T) => void): void {
    let node = this.#nodes[this.#upperBound(key) - 1];
    for (; node !== undefined; node = node.parent) {
      if (key.startsWith(node.prefix)) node.members.forEach(visit);
    }
  }

  /** A copy, so that members may be added and removed during a loop over it. */
  members(): T[] {
    return this.#nodes.flatMap((node) => [...node.members]);
  }

  #upperBound(key: string): number {
    let low = 0;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#nodes[middle]?.prefix ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Prefixes change rarely (there is one for each watched resource), so the tree is rebuilt as a whole. */
  #link(): void {
    const open: Node<T>[] = [];
    for (const node of this.#nodes) {
      while (open.length > 0 && !node.prefix.startsWith(open.at(-1)?.prefix ?? '')) open.pop();
      node.parent = open.at(-1);
      open.push(node);
    }
  }
}
