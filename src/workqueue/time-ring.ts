/**
 * Times in their order of arrival, in eight bytes each; a `Ring` would have an object for each. It doubles and has no bound of its own: its
 * user adds no more times than items to the bounded ring beside it.
 */
export class TimeRing {
  #slots = new Float64Array(8);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  pushBack(time: number): void {
    if (this.#length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = time;
    this.#length++;
  }

  /** NaN if it is empty. */
  popFront(): number {
    if (this.#length === 0) return Number.NaN;
    const time = this.#slots[this.#head]!;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    return time;
  }

  #grow(): void {
    const slots = this.#slots;
    const grown = new Float64Array(slots.length * 2);
    grown.set(slots.subarray(this.#head));
    grown.set(slots.subarray(0, this.#head), slots.length - this.#head);
    this.#slots = grown;
    this.#head = 0;
  }
}
