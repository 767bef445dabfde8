/** A broken invariant of this program: never the fault of a caller's input. */
export class AssertionError extends Error {
  constructor(message: string) {
    super(`invariant broken: ${message}`);
    this.name = 'AssertionError';
  }
}

/** States an invariant on which the following code relies. Throws {@link AssertionError}. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Lets the compiler prove that a union was handled completely. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected ${JSON.stringify(value)}`);
}
