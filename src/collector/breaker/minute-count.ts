const SECONDS = 60;

/** Counts events of the last minute, in steps of one second. Takes 240 bytes. */
export class MinuteCount {
  readonly #seconds = new Uint32Array(SECONDS);
  #latest = 0;
  #sum = 0;

  /** @param now milliseconds of a monotonic clock */
  at(now: number): number {
    const second = Math.floor(now / 1000);
    const passed = Math.min(second - this.#latest, SECONDS);
    for (let i = 1; i <= passed; i++) {
      const index = (this.#latest + i) % SECONDS;
      this.#sum -= this.#seconds[index]!;
      this.#seconds[index] = 0;
    }
    if (second > this.#latest) this.#latest = second;
    // Every slot up to the latest second is clear, even after a gap of more than a minute.
    return this.#sum;
  }

  add(now: number): void {
    this.at(now);
    this.#seconds[this.#latest % SECONDS]!++;
    this.#sum++;
  }

  /** Takes back one event that was added at this time, if it still counts. */
  takeBack(added: number, now: number): void {
    this.at(now);
    const second = Math.floor(added / 1000);
    const index = second % SECONDS;
    if (this.#latest - second >= SECONDS || this.#seconds[index] === 0) return;
    this.#seconds[index]!--;
    this.#sum--;
  }
}
