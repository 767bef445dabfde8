import { CEL_OBJECT_LIMIT } from '../../../api/cel/cel-budget.ts';
import { AdmissionCompiler, type Compiled, type ExpressionPlace } from '../cel/admission-compiler.ts';
import {
  AdmissionEvaluation,
  type Evaluated,
  type EvaluationSubject,
  type NamedVariable,
  OutOfBudgetError,
} from '../cel/admission-evaluation.ts';
import { type CompiledCondition, compileConditions, evaluateConditions } from '../cel/cel-match-conditions.ts';
import type { PolicySpec, PolicyValidation } from './validating-policy.ts';

/** The result of a policy's validation for one request. */
export type PolicyDecision =
  | { readonly action: 'admit' }
  | {
      readonly action: 'deny';
      readonly message: string;
      readonly reason: string;
      /** `configuration` means that the policy cannot be applied, which denies the request whatever the binding's actions are. */
      readonly cause: 'validation' | 'configuration';
    };

export interface PolicyOutcome {
  /** One for each validation, and one for each audit annotation that failed. */
  readonly decisions: readonly PolicyDecision[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
}

/** Longer results of message expressions are not used (`apis/cel.MaxEvaluatedMessageExpressionSizeBytes`). */
const MAX_MESSAGE_BYTES = 5 * 1024;

interface CompiledValidation {
  readonly validation: PolicyValidation;
  readonly expression: Compiled;
  readonly message: Compiled | undefined;
}

/** The compiled expressions of one policy (`policy/validating/validator.go`). */
export class PolicyEvaluator {
  readonly #spec: PolicySpec;
  readonly #variables: readonly NamedVariable[];
  readonly #conditions: readonly CompiledCondition[];
  readonly #validations: readonly CompiledValidation[];
  readonly #annotations: readonly { readonly key: string; readonly expression: Compiled }[];

  constructor(spec: PolicySpec) {
    this.#spec = spec;
    const compiler = new AdmissionCompiler();
    const params = spec.paramKind === undefined ? 'none' : 'declared';
    const place: ExpressionPlace = { params, authorizer: 'declared' };
    this.#variables = (spec.variables ?? []).map(({ name, expression }) => ({
      name,
      expression: compiler.declareVariable(name, expression, place),
    }));
    this.#conditions = compileConditions(compiler, spec.matchConditions ?? [], place);
    this.#validations = (spec.validations ?? []).map((validation) => ({
      validation,
      expression: compiler.compile(validation.expression, 'condition', place),
      message:
        (validation.messageExpression ?? '') === ''
          ? undefined
          : compiler.compile(validation.messageExpression ?? '', 'message', { params, authorizer: 'none' }),
    }));
    this.#annotations = (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compiler.compile(valueExpression, 'auditAnnotation', place),
    }));
  }

  /** Empty if the conditions exclude the request. */
  evaluate(subject: EvaluationSubject): PolicyOutcome {
    if (this.#conditions.length > 0) {
      const conditions = evaluateConditions(this.#conditions, subject, this.#variables);
      if (conditions.outcome === 'failed') return only(this.#failed(conditions.message));
      if (conditions.outcome === 'excluded') return { decisions: [], annotations: [] };
    }
    try {
      const evaluation = new AdmissionEvaluation(subject, this.#variables, CEL_OBJECT_LIMIT);
      const decisions = this.#validations.map((validation) => this.#decide(validation, evaluation));
      const noted = this.#annotate(new AdmissionEvaluation(subject, this.#variables, CEL_OBJECT_LIMIT));
      return { decisions: [...decisions, ...noted.decisions], annotations: noted.annotations };
    } catch (error) {
      if (!(error instanceof OutOfBudgetError)) throw error;
      return only(this.#failed(error.message));
    }
  }

  #decide({ validation, expression, message }: CompiledValidation, evaluation: AdmissionEvaluation): PolicyDecision {
    const evaluated = evaluation.evaluate(expression);
    if (evaluated.outcome === 'failed') return this.#failed(evaluated.message);
    if (evaluated.value === true) return { action: 'admit' };
    const said = message === undefined ? '' : messageOf(evaluation.evaluate(message));
    const own = (validation.message ?? '').trim();
    const text = said !== '' ? said : own !== '' ? own : `failed expression: ${validation.expression.trim()}`;
    return { action: 'deny', message: text, reason: validation.reason ?? 'Invalid', cause: 'validation' };
  }

  /** A failed annotation is a failure, like a failed validation. Null and blank texts add no annotation. */
  #annotate(evaluation: AdmissionEvaluation): PolicyOutcome {
    const decisions: PolicyDecision[] = [];
    const annotations: { key: string; value: string }[] = [];
    for (const { key, expression } of this.#annotations) {
      const evaluated = evaluation.evaluate(expression);
      if (evaluated.outcome === 'failed') decisions.push(this.#failed(evaluated.message));
      else if (typeof evaluated.value === 'string' && evaluated.value.trim() !== '') {
        annotations.push({ key, value: evaluated.value.trim() });
      }
    }
    return { decisions, annotations };
  }

  #failed(message: string): PolicyDecision {
    return failedDecision(this.#spec, message, 'validation');
  }
}

function only(decision: PolicyDecision): PolicyOutcome {
  return { decisions: [decision], annotations: [] };
}

/** The effect of a failure: a denial, unless the failure policy is Ignore. */
export function failedDecision(
  { failurePolicy }: PolicySpec,
  message: string,
  cause: 'validation' | 'configuration',
): PolicyDecision {
  return failurePolicy === 'Ignore' ? { action: 'admit' } : { action: 'deny', message, reason: 'Invalid', cause };
}

/** Empty if the expression gives no message; then the message of the validation is used. */
function messageOf(evaluated: Evaluated): string {
  if (evaluated.outcome === 'failed' || typeof evaluated.value !== 'string') return '';
  const text = evaluated.value.trim();
  return Buffer.byteLength(text) > MAX_MESSAGE_BYTES || text.includes('\n') ? '' : text;
}
