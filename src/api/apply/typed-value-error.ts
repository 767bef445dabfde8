/** A value that does not fit its schema, so that it cannot have managers. */
export class TypedValueError extends Error {
  override readonly name = 'TypedValueError';

  /** `problems` as `<path>: <text>`, at least one. */
  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? problems[0]! : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
  }
}
