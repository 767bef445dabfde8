import type { Authorizer } from '../../authorization/authorizer.ts';
import type { MatchCondition } from '../webhook/configuration.ts';
import type { ConditionOutcome, ConditionSubject, MatchConditions } from '../webhook/match-conditions.ts';
import { AdmissionCompiler, type Compiled, type ExpressionPlace } from './admission-compiler.ts';
import {
  AdmissionEvaluation,
  type EvaluationSubject,
  type NamedVariable,
  OutOfBudgetError,
} from './admission-evaluation.ts';

/** The budget of all conditions of a webhook or policy together (`apis/cel.RuntimeCELCostBudgetMatchConditions`). */
const CONDITIONS_BUDGET = 2_500_000;

export const CONDITION_PLACE: ExpressionPlace = { params: 'none', authorizer: 'declared' };

/** A compiled condition. */
export interface CompiledCondition {
  readonly name: string;
  readonly expression: Compiled;
}

export function compileConditions(
  compiler: AdmissionCompiler,
  conditions: readonly MatchCondition[],
  place: ExpressionPlace,
): readonly CompiledCondition[] {
  return conditions.map(({ name, expression }) => ({
    name,
    expression: compiler.compile(expression, 'condition', place),
  }));
}

/**
 * One false condition excludes the request, whatever the others are. An error counts only if no condition is false
 * (`webhook/matchconditions`).
 */
export function evaluateConditions(
  conditions: readonly CompiledCondition[],
  subject: EvaluationSubject,
  variables: readonly NamedVariable[] = [],
): ConditionOutcome {
  const evaluation = new AdmissionEvaluation(subject, variables, CONDITIONS_BUDGET);
  const problems: string[] = [];
  try {
    for (const { name, expression } of conditions) {
      const evaluated = evaluation.evaluate(expression);
      if (evaluated.outcome === 'failed') problems.push(evaluated.message);
      else if (evaluated.value === false) return { outcome: 'excluded', condition: name };
    }
  } catch (error) {
    if (!(error instanceof OutOfBudgetError)) throw error;
    return { outcome: 'failed', message: error.message };
  }
  if (problems.length === 0) return { outcome: 'matched' };
  return { outcome: 'failed', message: problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]` };
}

/** `matchConditions` of webhooks, compiled on first use and cached as long as their configuration. */
export class CelMatchConditions implements MatchConditions {
  readonly #authorizer: Authorizer;
  readonly #compiled = new WeakMap<readonly MatchCondition[], readonly CompiledCondition[]>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  async evaluate(conditions: readonly MatchCondition[], subject: ConditionSubject): Promise<ConditionOutcome> {
    let compiled = this.#compiled.get(conditions);
    if (compiled === undefined) {
      compiled = compileConditions(new AdmissionCompiler(), conditions, CONDITION_PLACE);
      this.#compiled.set(conditions, compiled);
    }
    return evaluateConditions(compiled, { ...subject, authorizer: this.#authorizer });
  }
}
