/** A value that its schema does not allow, so that nobody can be said to manage it. */
export class TypedValueError extends Error {
  override readonly name = 'TypedValueError';

  /** `problems` as `<path>: <text>`, at least one. */
  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? problems[0]! : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
  }
}
