/** Keys in the order in which they came, each at most once. */
export class KeyQueue {
  #keys: string[] = [];
  #head = 0;
  readonly #waiting = new Set<string>();

  add(key: string): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    this.#keys.push(key);
  }

  /** Takes the oldest; undefined when there is none. */
  take(): string | undefined {
    if (this.#head === this.#keys.length) {
      this.#keys = [];
      this.#head = 0;
      return undefined;
    }
    const key = this.#keys[this.#head++]!;
    this.#waiting.delete(key);
    return key;
  }
}
