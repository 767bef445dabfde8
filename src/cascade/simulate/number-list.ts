const FIRST_SIZE = 16;

/** A list of integers of 32 bits, whose room doubles. */
export class NumberList {
  #values: Int32Array;
  #length = 0;

  /** @param expected the length for which there is room at once */
  constructor(expected: number) {
    this.#values = new Int32Array(Math.max(expected, FIRST_SIZE));
  }

  get length(): number {
    return this.#length;
  }

  get(at: number): number {
    return this.#values[at]!;
  }

  set(at: number, value: number): void {
    this.#values[at] = value;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }
}
