import type { CelBudget } from '../cel-budget.ts';
import { CelBudgetExceededError, CelCompileError, CelEvaluationError, CelProgramError } from '../cel-error.ts';
import { type CelType, formatType, sameType } from '../cel-type.ts';
import type { CelValue } from '../cel-value.ts';
import { estimateCost } from '../cost-estimator.ts';
import { type CelFunctions, mergeFunctions } from '../function-declaration.ts';
import { type Frame, planExpression, type Step } from '../interpreter.ts';
import { toCelValue, toJson } from '../json-value.ts';
import { kubernetesFunctions, kubernetesTypeNames } from './kubernetes-libraries.ts';
import { patternProblem, validateLiterals } from '../literal-validation.ts';
import { parseExpression } from '../parse-expression.ts';
import type { Estimate } from '../size-estimate.ts';
import { type CheckedExpression, checkExpression } from '../type-checker.ts';

export interface CelEnvironmentOptions {
  /** The variables that expressions can use. */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Functions in addition to Kubernetes' own. */
  readonly functions?: CelFunctions;
}

/** The environment of expressions at one place: its variables, and all functions of kube-apiserver. It has no state. */
export function createCelEnvironment({ variables, functions }: CelEnvironmentOptions): CelEnvironment {
  return new CelEnvironment(
    variables,
    functions === undefined ? kubernetesFunctions : mergeFunctions([kubernetesFunctions, functions]),
  );
}

export class CelEnvironment {
  readonly #variables: Readonly<Record<string, CelType>>;
  readonly #functions: CelFunctions;

  constructor(variables: Readonly<Record<string, CelType>>, functions: CelFunctions) {
    this.#variables = variables;
    this.#functions = functions;
  }

  /**
   * Parses and checks an expression. With `expected`, its value must be of that type (`dyn` takes any).
   * Throws {@link CelCompileError}, whose message shows positions as cel-go does, or its subclass {@link CelProgramError}.
   */
  compile(expression: string, expected?: CelType): CelProgram {
    const checked = checkExpression(parseExpression(expression), {
      variables: this.#variables,
      functions: this.#functions,
      typeNames: kubernetesTypeNames,
    });
    const issues = checked.issues.length > 0 ? checked.issues : validateLiterals(checked);
    if (issues.length > 0) throw new CelCompileError(expression, issues);
    const problem = patternProblem(checked.root);
    if (problem !== undefined) throw new CelProgramError(problem);
    const program = new CelProgram(expression, checked, this.#variables);
    if (expected !== undefined && expected.kind !== 'dyn' && !sameType(program.outputType, expected)) {
      throw new CelCompileError(expression, [{ offset: 0, message: `must evaluate to ${formatType(expected)}` }]);
    }
    return program;
  }
}

export interface CelEvaluationOptions {
  readonly budget: CelBudget;
}

/** The value or the error, and the cost in units. */
export type CelOutcome = { readonly cost: number } & (
  | { readonly value: CelValue; readonly error?: never }
  | { readonly value?: never; readonly error: CelEvaluationError | CelBudgetExceededError }
);

/** A compiled expression. It can be evaluated any number of times. */
export class CelProgram {
  readonly expression: string;
  /** The variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
  readonly outputType: CelType;
  readonly #checked: CheckedExpression;
  readonly #types: Readonly<Record<string, CelType>>;
  #step: Step | undefined;

  constructor(expression: string, checked: CheckedExpression, types: Readonly<Record<string, CelType>>) {
    this.expression = expression;
    this.variables = checked.variables;
    this.#checked = checked;
    this.#types = types;
    this.outputType = checked.types.get(checked.root.id) ?? { kind: 'dyn' };
  }

  /** The best and worst cost in units. `sized` is the type with the maximum sizes of the variables' data, if a schema limits them. */
  estimateCost(sized?: CelType): Estimate {
    return estimateCost(this.#checked, sized);
  }

  /**
   * Values are plain JSON, or CEL values for types that JSON lacks. A getter is called only when the expression reads its property. Throws
   * {@link CelEvaluationError}, or {@link CelBudgetExceededError} when the cost of the call or the remaining budget is exceeded.
   */
  evaluate(variables: Readonly<Record<string, unknown>>, { budget }: CelEvaluationOptions): unknown {
    const { value, error, cost } = this.run(variables, budget.perCall);
    if (!budget.spend(cost)) throw new CelBudgetExceededError('object');
    if (error !== undefined) throw error;
    return toJson(value);
  }

  /** Evaluates within `limit` cost units. */
  run(variables: Readonly<Record<string, unknown>>, limit: number): CelOutcome {
    const values = new Map<string, CelValue>();
    const frame: Frame = {
      slots: [],
      cost: 0,
      limit,
      variable: (name) => {
        const known = values.get(name);
        if (known !== undefined) return known;
        const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
        if (given === undefined) throw new CelEvaluationError(`no such attribute(s): ${name}`);
        const value = toCelValue(given, this.#types[name] ?? { kind: 'dyn' });
        values.set(name, value);
        return value;
      },
    };
    try {
      this.#step ??= planExpression(this.#checked);
      return { value: this.#step(frame), cost: frame.cost };
    } catch (error) {
      if (error instanceof CelEvaluationError || error instanceof CelBudgetExceededError) {
        return { error, cost: frame.cost };
      }
      // A text or list that exceeds the memory of the machine.
      if (error instanceof RangeError) return { error: new CelBudgetExceededError('call'), cost: frame.cost };
      throw error;
    }
  }
}
