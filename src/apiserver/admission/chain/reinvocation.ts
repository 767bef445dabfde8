/**
 * Whether the mutating phase of one write is run a second time, because a plug-in at its end has changed what those before it have
 * seen (apiserver `ReinvocationContext`). There is no third time.
 */
export class Reinvocation {
  #round: 'first' | 'second' = 'first';
  #wanted = false;
  /** Most writes have none. */
  #state: Map<string, unknown> | undefined;

  get round(): 'first' | 'second' {
    return this.#round;
  }

  /** Asked for by a plug-in during the first round. */
  request(): void {
    this.#wanted = true;
  }

  /** True when the second round is due: it has then begun. */
  begin(): boolean {
    if (this.#round === 'second' || !this.#wanted) return false;
    this.#round = 'second';
    return true;
  }

  /** The state of a plug-in between the rounds; made on first use. */
  stateOf<T>(plugin: string, make: () => T): T {
    this.#state ??= new Map();
    let state = this.#state.get(plugin) as T | undefined;
    if (state === undefined) {
      state = make();
      this.#state.set(plugin, state);
    }
    return state;
  }
}
