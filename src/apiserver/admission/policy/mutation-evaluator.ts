import { expressionOf } from './mutating-policy.ts';
import { CEL_OBJECT_LIMIT } from '../../../api/cel/cel-budget.ts';
import { toJson } from '../../../api/cel/json-value.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { applyJsonPatch, isFailedTest } from '../../../api/patch/json-patch.ts';
import { StatusError } from '../../../api/status-error.ts';
import { TypedValueError } from '../../../api/apply/typed-value-error.ts';
import { isJsonObject } from '../../../api/codec/json/json-value.ts';
import { AdmissionCompiler, type Compiled, type ExpressionPlace } from '../cel/admission-compiler.ts';
import {
  AdmissionEvaluation,
  type EvaluationSubject,
  type NamedVariable,
  OutOfBudgetError,
} from '../cel/admission-evaluation.ts';
import { type CompiledCondition, compileConditions, evaluateConditions } from '../cel/cel-match-conditions.ts';
import { messageFunctions, rewriteMessages } from '../cel/message-literals.ts';
import type { ConditionOutcome } from '../webhook/match-conditions.ts';
import type { MutatingPolicySpec } from './mutating-policy.ts';

interface CompiledMutation {
  readonly type: 'applyConfiguration' | 'jsonPatch';
  readonly expression: Compiled;
}

/** The reason why a mutation produces no object. */
export class MutationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MutationError';
  }
}

/** The compiled expressions of one mutating policy (`policy/mutating`). */
export class MutationEvaluator {
  readonly #variables: readonly NamedVariable[];
  readonly #conditions: readonly CompiledCondition[];
  readonly mutations: readonly CompiledMutation[];

  constructor(spec: MutatingPolicySpec) {
    const rewritten = new Map(
      (spec.mutations ?? []).map((mutation) => [mutation, rewriteMessages(expressionOf(mutation))]),
    );
    const types = [...rewritten.values()].flatMap((each) => [...each.types]);
    const compiler = new AdmissionCompiler({}, messageFunctions(new Set(types)));
    const place: ExpressionPlace = {
      params: spec.paramKind === undefined ? 'none' : 'declared',
      authorizer: 'declared',
    };
    this.#variables = (spec.variables ?? []).map(({ name, expression }) => ({
      name,
      expression: compiler.declareVariable(name, expression, place),
    }));
    this.#conditions = compileConditions(compiler, spec.matchConditions ?? [], place);
    this.mutations = [...rewritten].map(([mutation, { text }]) => {
      const type = mutation.patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
      return { type, expression: compiler.compile(text, type, place) };
    });
  }

  conditions(subject: EvaluationSubject): ConditionOutcome {
    if (this.#conditions.length === 0) return { outcome: 'matched' };
    return evaluateConditions(this.#conditions, subject, this.#variables);
  }

  /** The object after one mutation, not yet decoded; the same object if nothing changes. Throws a {@link MutationError}. */
  mutate(
    { type, expression }: CompiledMutation,
    subject: EvaluationSubject & { readonly object: KubeObject },
  ): KubeObject {
    const patch = this.#evaluate(expression, subject);
    return type === 'jsonPatch' ? jsonPatched(subject.object, patch) : configured(subject, patch);
  }

  #evaluate(expression: Compiled, subject: EvaluationSubject): unknown {
    try {
      const evaluated = new AdmissionEvaluation(subject, this.#variables, CEL_OBJECT_LIMIT).evaluate(expression);
      if (evaluated.outcome === 'failed') throw new MutationError(evaluated.message);
      return toJson(evaluated.value);
    } catch (error) {
      if (error instanceof OutOfBudgetError) throw new MutationError(error.message);
      throw error;
    }
  }
}

/** A failed `test` operation is not an error: the object stays unchanged. */
function jsonPatched(object: KubeObject, patch: unknown): KubeObject {
  try {
    const patched = applyJsonPatch(object, patch);
    if (isJsonObject(patched) && patched['kind'] === object.kind && patched['apiVersion'] === object.apiVersion) {
      return patched;
    }
    throw new MutationError('JSON Patch: the patch leaves no object of its kind');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (isFailedTest(error)) return object;
    throw new MutationError(`JSON Patch: ${typeof error.cause === 'string' ? error.cause : error.message}`);
  }
}

function configured(
  { attributes, invocation, object }: EvaluationSubject & { readonly object: KubeObject },
  patch: unknown,
): KubeObject {
  const { apiVersion, kind } = object;
  const configuration = {
    ...(isJsonObject(patch) ? patch : {}),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
  };
  try {
    return attributes.interfaces.merge(object, configuration, invocation.kind);
  } catch (error) {
    if (!(error instanceof TypedValueError)) throw error;
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${error.message}`);
  }
}
