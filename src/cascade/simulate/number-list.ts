const FIRST_SIZE = 16;

/** A list of integers of 32 bits. */
export class NumberList {
  #values = new Int32Array(FIRST_SIZE);
  #length = 0;

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
