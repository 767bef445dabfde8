import { CelCompileError, type CelIssue } from './cel-error.ts';
import { ACCUMULATOR, type CelComprehension, type CelExpression, UNUSED_VARIABLE } from './cel-expression.ts';
import type { CelValue } from './cel-value.ts';

/** Maximum number of nodes. Macros may repeat their target, and targets nest, so a short source can expand to a large expression. */
const MAX_NODES = 50_000;

/** Creates the nodes of one expression, each with a unique id. Throws {@link CelCompileError} beyond the maximum number of nodes. */
export class ExpressionBuilder {
  readonly issues: CelIssue[] = [];
  readonly #source: string;
  #nextId = 1;

  constructor(source: string) {
    this.#source = source;
  }

  report(offset: number, message: string): void {
    this.issues.push({ offset, message });
  }

  literal(offset: number, value: CelValue): CelExpression {
    return { kind: 'literal', value, ...this.#node(offset) };
  }

  ident(offset: number, name: string): CelExpression {
    return { kind: 'ident', name, ...this.#node(offset) };
  }

  accumulator(offset: number): CelExpression {
    return this.ident(offset, ACCUMULATOR);
  }

  select(offset: number, operand: CelExpression, field: string): CelExpression {
    return { kind: 'select', operand, field, testOnly: false, ...this.#node(offset) };
  }

  presenceTest(offset: number, operand: CelExpression, field: string): CelExpression {
    return { kind: 'select', operand, field, testOnly: true, ...this.#node(offset) };
  }

  call(offset: number, name: string, args: readonly CelExpression[]): CelExpression {
    return { kind: 'call', function: name, target: undefined, args, ...this.#node(offset) };
  }

  memberCall(offset: number, name: string, operands: readonly [CelExpression, ...CelExpression[]]): CelExpression {
    const [target, ...args] = operands;
    return { kind: 'call', function: name, target, args, ...this.#node(offset) };
  }

  list(offset: number, elements: readonly CelExpression[]): CelExpression {
    return { kind: 'list', elements, ...this.#node(offset) };
  }

  map(offset: number, entries: readonly { key: CelExpression; value: CelExpression }[]): CelExpression {
    return { kind: 'map', entries, ...this.#node(offset) };
  }

  comprehension(offset: number, parts: Omit<CelComprehension, 'kind'>): CelExpression {
    return { kind: 'comprehension', ...parts, ...this.#node(offset) };
  }

  /** Binds `name` to `value` in `result`. */
  binding(
    offset: number,
    { name, value, result }: { readonly name: string; readonly value: CelExpression; readonly result: CelExpression },
  ): CelExpression {
    return this.comprehension(offset, {
      range: this.list(offset, []),
      variable: UNUSED_VARIABLE,
      variable2: undefined,
      accumulator: name,
      init: value,
      condition: this.literal(offset, false),
      step: this.ident(offset, name),
      result,
    });
  }

  #node(offset: number): { readonly id: number; readonly offset: number } {
    if (this.#nextId > MAX_NODES) {
      throw new CelCompileError(this.#source, [{ offset, message: `expression of more than ${MAX_NODES} parts` }]);
    }
    return { id: this.#nextId++, offset };
  }
}
