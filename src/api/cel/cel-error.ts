/** One complaint about an expression. `offset` counts UTF-16 units from its start. */
export interface CelIssue {
  readonly offset: number;
  readonly message: string;
}

/** Source lines longer than this are not repeated in messages (cel-go `common/error.go`). */
const MAX_SNIPPET = 16_384;
/** Further issues are only counted. */
const MAX_ISSUES = 100;

/** An expression that does not parse or does not fit its types. The message shows every issue at its place, as cel-go does. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[];

  constructor(expression: string, issues: readonly CelIssue[]) {
    super(displayIssues(expression, issues));
    this.name = 'CelCompileError';
    this.issues = issues;
  }
}

/** A valid expression for which no program can be built; upstream distinguishes this case. Its issues have no position. */
export class CelProgramError extends CelCompileError {
  constructor(message: string) {
    super('', []);
    this.name = 'CelProgramError';
    this.message = message;
  }
}

/** `ERROR: <input>:1:6: undefined field 'x'` and below it the line with a mark, for each issue in the order of the source. */
function displayIssues(expression: string, issues: readonly CelIssue[]): string {
  const shown = issues
    .map((issue) => ({ ...locate(expression, issue.offset), message: issue.message }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .slice(0, MAX_ISSUES)
    .map(({ line, column, text, message }) => {
      const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
      return text.length > MAX_SNIPPET ? head : `${head}\n | ${text.replaceAll('\t', ' ')}\n | ${mark(text, column)}`;
    });
  if (issues.length > MAX_ISSUES) shown.push(`${issues.length - MAX_ISSUES} more errors were truncated`);
  return shown.join('\n');
}

function locate(expression: string, offset: number): { line: number; column: number; text: string } {
  const before = expression.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  const end = expression.indexOf('\n', offset);
  return {
    line: before.split('\n').length,
    column: Array.from(expression.slice(start, offset)).length,
    text: expression.slice(start, end === -1 ? undefined : end),
  };
}

/** Characters outside ASCII count as wide, and the mark uses wide characters for them. */
function mark(text: string, column: number): string {
  const characters = [...text];
  const dots = characters.slice(0, column).map((character) => (character > '\u007f' ? '\uff0e' : '.'));
  return `${dots.join('')}${(characters[column] ?? '') > '\u007f' ? '\uff3e' : '^'}`;
}

/** An evaluation error, such as `no such key: x` or `division by zero`. Logical operators may absorb it. */
export class CelEvaluationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelEvaluationError';
  }
}

/** cel-go's words for arguments that no overload takes. */
export function noSuchOverload(): CelEvaluationError {
  return new CelEvaluationError('no such overload');
}

/** The exhausted budget: the budget of one expression, or of all expressions for one object. */
export type CelBudgetScope = 'call' | 'object';

const BUDGET_TEXT: Readonly<Record<CelBudgetScope, string>> = {
  call: 'operation cancelled: actual cost limit exceeded',
  object: 'validation failed due to running out of cost budget, no further validation rules will be run',
};

/** An evaluation that stopped because its cost exceeded the budget. No operator absorbs it. */
export class CelBudgetExceededError extends Error {
  readonly scope: CelBudgetScope;

  constructor(scope: CelBudgetScope) {
    super(BUDGET_TEXT[scope]);
    this.name = 'CelBudgetExceededError';
    this.scope = scope;
  }
}
