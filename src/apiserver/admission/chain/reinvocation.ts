/**
 * Decides whether the mutating phase of one write runs a second time, because a late plug-in changed the object after earlier ones ran
 * (apiserver `ReinvocationContext`). There is no third run.
 */
export class Reinvocation {
  #round: 'first' | 'second' = 'first';
  #wanted = false;
  /** Undefined for most writes, which need no state. */
  #state: Map<string, unknown> | undefined;

  get round(): 'first' | 'second' {
    return this.#round;
  }

  /** Called by a plug-in during the first run. */
  request(): void {
    this.#wanted = true;
  }

  /** Begins the second run and returns true, if one is due. */
  begin(): boolean {
    if (this.#round === 'second' || !this.#wanted) return false;
    this.#round = 'second';
    return true;
  }

  /** The state of a plug-in between the runs, created on first use. */
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
