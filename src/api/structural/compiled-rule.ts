import { CelCompileError, CelProgramError } from '../cel/cel-error.ts';
import { type CelEnvironment, type CelProgram, createCelEnvironment } from '../cel/environment/cel-environment.ts';
import { type CelType, celTypes, optionalOf, sameType } from '../cel/cel-type.ts';
import { UNBOUNDED } from '../cel/size-estimate.ts';
import type { ValidationRule } from './json-schema-props.ts';
import { ruleFieldPath } from './rule-field-path.ts';
import { MAX_REQUEST_BYTES, type TypedSchema } from './schema-cel-type.ts';

/** A compiled expression, or the reason why it does not compile. */
export type Compiled = { readonly program: CelProgram } | { readonly problem: string };

/** One rule of `x-kubernetes-validations`, compiled (apiextensions `schema/cel.Compile`). */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined for an empty rule. */
  readonly condition: Compiled | undefined;
  readonly message: Compiled | undefined;
  /** True for a transition rule, which compares with the old value. */
  readonly usesOldSelf: boolean;
  /** The path of its errors below the value; empty for the value itself. */
  readonly fieldPath: string;
}

/** Compiles the rules of one schema, without those of schemas inside it. */
export function compileRules({ props, type }: TypedSchema): readonly CompiledRule[] {
  const rules = props['x-kubernetes-validations'] ?? [];
  if (rules.length === 0 || type === undefined) return [];
  const environments = new Map<'always' | 'optional', CelEnvironment>();
  const environmentOf = (rule: ValidationRule): CelEnvironment => {
    const oldSelf = rule.optionalOldSelf === true ? 'optional' : 'always';
    const known = environments.get(oldSelf);
    if (known !== undefined) return known;
    const variables = { self: type, oldSelf: oldSelf === 'optional' ? optionalOf(type) : type };
    const environment = createCelEnvironment({ variables });
    environments.set(oldSelf, environment);
    return environment;
  };
  return rules.map((rule) => {
    const { messageExpression = '', fieldPath = '' } = rule;
    const condition = rule.rule.trim() === '' ? undefined : compile(environmentOf(rule), rule.rule, CONDITION);
    const failed = condition === undefined || 'problem' in condition;
    return {
      rule,
      condition,
      message:
        failed || messageExpression === '' ? undefined : compile(environmentOf(rule), messageExpression, MESSAGE),
      usesOldSelf: !failed && condition.program.variables.has('oldSelf'),
      fieldPath: failed || fieldPath === '' ? '' : (ruleFieldPath(fieldPath, props) ?? ''),
    };
  });
}

interface Purpose {
  readonly type: CelType;
  readonly subject: string;
  readonly wrongType: string;
}

const CONDITION: Purpose = {
  type: celTypes.bool,
  subject: '',
  wrongType: 'cel expression must evaluate to a bool',
};
const MESSAGE: Purpose = {
  type: celTypes.string,
  subject: 'messageExpression ',
  wrongType: 'messageExpression must evaluate to a string',
};

function compile(environment: CelEnvironment, expression: string, { type, subject, wrongType }: Purpose): Compiled {
  try {
    const program = environment.compile(expression);
    return sameType(program.outputType, type) ? { program } : { problem: wrongType };
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    const stage =
      error instanceof CelProgramError ? (subject === '' ? 'program instantiation' : 'instantiation') : 'compilation';
    return { problem: `${subject}${stage} failed: ${error.message}` };
  }
}

/** The maximum cost of an expression, for data within the bounds of the schema. */
export function worstCost(program: CelProgram, { type }: TypedSchema): number {
  return type === undefined ? UNBOUNDED : program.estimateCost(type).max;
}

/** The maximum number of values of this schema in one request. */
export function maxOccurrences({ minSize }: TypedSchema): number {
  return Math.floor(MAX_REQUEST_BYTES / (minSize + 1));
}

/** The text of a rule's expression in messages. */
export function ruleText({ rule, message = '' }: ValidationRule): string {
  return message === '' ? rule.trim() : message.trim();
}
