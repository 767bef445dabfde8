/** A broken invariant of this program: never the fault of a caller's input. */
export class AssertionError extends Error {
  constructor(message: string) {
    super(`invariant broken: ${message}`);
    this.name = 'AssertionError';
  }
}

/** States an invariant the following code relies on. Throws {@link AssertionError}. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Makes the compiler prove that a union was handled completely. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected ${JSON.stringify(value)}`);
}
