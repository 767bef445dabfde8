import { CEL_CALL_LIMIT } from '../../../api/cel/cel-budget.ts';
import { CelBudgetExceededError, CelEvaluationError } from '../../../api/cel/cel-error.ts';
import type { CelValue } from '../../../api/cel/cel-value.ts';
import { authorizerValue, resourceCheckValue } from '../../../api/cel/library/authorizer.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { Invocation } from '../matching/match-resources.ts';
import { admissionRequest, type VersionedObjects } from '../webhook/admission-review.ts';
import type { Compiled } from './admission-compiler.ts';
import { RequestAuthorizer } from './request-authorizer.ts';

/** The input of expressions. */
export interface EvaluationSubject extends VersionedObjects {
  readonly attributes: AdmissionAttributes;
  readonly invocation: Invocation;
  /** Null if the binding names no parameters. */
  readonly params?: KubeObject | null;
  /** Null for cluster-scoped objects. */
  readonly namespaceObject?: KubeObject | null;
  readonly authorizer: Authorizer;
}

export interface NamedVariable {
  readonly name: string;
  readonly expression: Compiled;
}

/** `failed` means that there is no value, and gives the reason. */
export type Evaluated =
  | { readonly outcome: 'value'; readonly value: CelValue }
  | { readonly outcome: 'failed'; readonly message: string };

/** The expressions about one object have exhausted their budget, and no more are evaluated. */
export class OutOfBudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
    this.name = 'OutOfBudgetError';
  }
}

/** Evaluates the expressions for one request within one budget. A variable is evaluated on first use. */
export class AdmissionEvaluation {
  readonly #values: Readonly<Record<string, unknown>>;
  #remaining: number;
  /** The cost of variables since the start of the current expression. */
  #variableCost = 0;

  /** `budget` is in cost units for all expressions. */
  constructor(subject: EvaluationSubject, variables: readonly NamedVariable[], budget: number) {
    this.#remaining = budget;
    this.#values = { ...valuesOf(subject), variables: this.#lazily(variables) };
  }

  /** Throws {@link OutOfBudgetError}. */
  evaluate(expression: Compiled): Evaluated {
    if (expression.outcome === 'problem') {
      return { outcome: 'failed', message: `compilation error: ${expression.message}` };
    }
    const { program } = expression;
    this.#variableCost = 0;
    const outcome = program.run(this.#values, CEL_CALL_LIMIT);
    this.#remaining -= this.#variableCost + outcome.cost;
    if (this.#remaining < 0) throw new OutOfBudgetError();
    if (outcome.error === undefined) return { outcome: 'value', value: outcome.value };
    const message = `expression '${program.expression}' resulted in error: ${outcome.error.message}`;
    return { outcome: 'failed', message };
  }

  #lazily(variables: readonly NamedVariable[]): object {
    const lazy = {};
    for (const { name, expression } of variables) {
      let known: CelValue | undefined;
      Object.defineProperty(lazy, name, {
        enumerable: true,
        get: () => (known ??= this.#variable(name, expression)),
      });
    }
    return lazy;
  }

  #variable(name: string, expression: Compiled): CelValue {
    if (expression.outcome === 'problem') {
      throw new CelEvaluationError(`composited variable "${name}" fails to compile: ${expression.message}`);
    }
    const { value, error, cost } = expression.program.run(this.#values, CEL_CALL_LIMIT);
    this.#variableCost += cost;
    if (error instanceof CelBudgetExceededError) throw error;
    if (error !== undefined) {
      throw new CelEvaluationError(`composited variable "${name}" fails to evaluate: ${error.message}`);
    }
    return value;
  }
}

function valuesOf(subject: EvaluationSubject): Record<string, unknown> {
  const { attributes, invocation, object = null, oldObject = null, params = null, namespaceObject = null } = subject;
  const {
    uid: _uid,
    object: _object,
    oldObject: _old,
    ...request
  } = admissionRequest({ uid: '', attributes, invocation });
  const { user, name, namespace } = attributes;
  const authorizer = new RequestAuthorizer(subject.authorizer, user);
  const { group, resource } = invocation.resource;
  const asked = { group, resource, subresource: invocation.subresource, namespace, name };
  return {
    object,
    oldObject,
    request,
    params,
    namespaceObject,
    authorizer: authorizerValue(authorizer),
    'authorizer.requestResource': resourceCheckValue(authorizer, asked),
  };
}
