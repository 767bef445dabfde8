import { CEL_CALL_LIMIT, CEL_OBJECT_LIMIT } from '../cel/cel-budget.ts';
import type { CelOutcome } from '../cel/environment/cel-environment.ts';
import { CelBudgetExceededError } from '../cel/cel-error.ts';
import { CelOptional } from '../cel/cel-value.ts';
import { toCelValue } from '../cel/json-value.ts';
import { getKey, isJsonObject } from '../codec/json/json-value.ts';
import type { FieldError } from '../field-error.ts';
import {
  fieldDuplicate,
  fieldDuplicateWithoutValue,
  fieldForbidden,
  fieldInvalid,
  fieldInvalidWithoutValue,
  fieldRequired,
} from '../field-error.ts';
import { type CompiledRule, compileRules, ruleText } from './compiled-rule.ts';
import { child, indexed, keyed } from './field-path.ts';
import { type Correlated, correlateField, correlateItem, isUnchanged, oldItems } from './rule-correlation.ts';
import type { TypedSchema } from './schema-cel-type.ts';

export interface RuleFindings {
  readonly errors: readonly FieldError[];
  /** Violations in parts of the object that did not change (API-470). */
  readonly warnings: readonly FieldError[];
}

export interface RuleValidationOptions {
  /** The path of the value; by default the root of an object. */
  readonly path?: string;
  /** On updates, the old value. */
  readonly previous?: { readonly value: unknown };
  /** Cost units for all rules; by default `apis/cel.RuntimeCELCostBudget`. */
  readonly budget?: number;
}

/**
 * Evaluates the rules of a schema (`x-kubernetes-validations`) for values that are valid by the schema (API-471; apiextensions
 * `schema/cel.Validator`). Rules are compiled on first use; otherwise the validator has no state.
 */
export class RuleValidator {
  readonly #root: RuleNode | undefined;

  constructor(schema: TypedSchema) {
    this.#root = ruleNode(schema);
  }

  validate(value: unknown, options: RuleValidationOptions = {}): RuleFindings {
    const { path = '', previous, budget = CEL_OBJECT_LIMIT } = options;
    const run = new RuleRun(budget);
    const root = this.#root;
    if (root === undefined) return run;
    const current = previous === undefined ? undefined : { value, old: previous.value, props: root.schema.props };
    run.visit(root, { path, value, old: previous?.value, past: { current, parent: undefined } });
    return run;
  }
}

/** A schema that has rules, or that contains schemas with rules. */
interface RuleNode {
  readonly schema: TypedSchema;
  /** Compiled when first asked for. */
  readonly rules: () => readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
}

function ruleNode(schema: TypedSchema): RuleNode | undefined {
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of schema.properties) {
    const node = ruleNode(property);
    if (node !== undefined) properties.set(name, node);
  }
  const items = schema.items && ruleNode(schema.items);
  const values = schema.values && ruleNode(schema.values);
  const own = schema.type !== undefined && (schema.props['x-kubernetes-validations'] ?? []).length > 0;
  if (!own && properties.size === 0 && items === undefined && values === undefined) return undefined;
  let compiled: readonly CompiledRule[] | undefined;
  return { schema, rules: () => (compiled ??= compileRules(schema)), properties, items, values };
}

/** The old value: errors about unchanged values become warnings (ratcheting). */
interface Past {
  readonly current: Correlated | undefined;
  /** The nearest enclosing value that has an old value. */
  readonly parent: Correlated | undefined;
}

const NO_PAST: Past = { current: undefined, parent: undefined };

function fieldPast(past: Past, name: string): Past {
  const { current, parent } = past;
  if (current === undefined) return past;
  // The apiVersion never counts as changed, because both sides have been converted to one version.
  if (parent === undefined && (name === 'apiVersion' || name === 'kind')) return NO_PAST;
  return { current: correlateField(current, name), parent: current };
}

function itemPast(past: Past, index: number): Past {
  const { current } = past;
  return current === undefined ? past : { current: correlateItem(current, index), parent: current };
}

function isRatcheted({ current, parent }: Past): boolean {
  const compared = current ?? parent;
  return compared !== undefined && isUnchanged(compared);
}

interface Visit {
  /** Empty: the root. */
  readonly path: string;
  readonly value: unknown;
  /** The old value that transition rules compare with; undefined if there is none. */
  readonly old: unknown;
  readonly past: Past;
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
/** Maximum bytes of the result of a messageExpression. */
const MAX_MESSAGE = 5 * 1024;

class RuleRun implements RuleFindings {
  readonly errors: FieldError[] = [];
  readonly warnings: FieldError[] = [];
  /** If negative, nothing more is evaluated. */
  #remaining: number;

  constructor(budget: number) {
    this.#remaining = budget;
  }

  visit(node: RuleNode, visit: Visit): void {
    const { value } = visit;
    if (this.#remaining < 0 || value === null || value === undefined) return;
    this.#evaluate(node, visit);
    if (Array.isArray(value)) this.#items(node, value, visit);
    else if (isJsonObject(value)) this.#fields(node, value, visit);
  }

  #items({ schema, items }: RuleNode, list: readonly unknown[], { path, old, past }: Visit): void {
    if (items === undefined) return;
    const before = oldItems(old, schema.props);
    for (const [index, value] of list.entries()) {
      this.visit(items, { path: indexed(path, index), value, old: before(value), past: itemPast(past, index) });
    }
  }

  #fields({ properties, values }: RuleNode, object: Record<string, unknown>, { path, old, past }: Visit): void {
    for (const [name, value] of Object.entries(object)) {
      const property = properties.get(name);
      const before = isJsonObject(old) ? getKey(old, name) : undefined;
      const inner = { value, old: before, past: fieldPast(past, name) };
      if (values !== undefined) this.visit(values, { ...inner, path: keyed(path, name) });
      if (property !== undefined) this.visit(property, { ...inner, path: child(path, name) });
    }
  }

  #evaluate(node: RuleNode, visit: Visit): void {
    const rules = node.rules();
    if (rules.length === 0) return;
    if (this.#remaining <= 0) return this.#stop(node, visit, OUT_OF_BUDGET);
    const variables: Variables = { self: visit.value, oldSelf: visit.old ?? undefined };
    for (const rule of rules) {
      if (this.#remaining < 0) return;
      this.#apply(rule, node, { visit, variables });
    }
  }

  #apply(compiled: CompiledRule, node: RuleNode, { visit, variables }: Application): void {
    const { rule, condition, usesOldSelf } = compiled;
    if (condition === undefined) return;
    if ('problem' in condition) {
      this.errors.push(typeInvalid(node, visit, `rule compile error: ${condition.problem}`));
      return;
    }
    const optional = rule.optionalOldSelf === true;
    if (usesOldSelf && variables.oldSelf === undefined && !optional) return;
    const seen = activation(variables, { node, optional });
    const outcome = condition.program.run(seen, CEL_CALL_LIMIT);
    if (!this.#spend(outcome)) return this.#stop(node, visit, OUT_OF_BUDGET);
    if (outcome.error !== undefined) return this.#failed(compiled, node, { visit, error: outcome.error });
    if (outcome.value === true) return;
    const detail = this.#message(compiled, node, { visit, seen });
    if (detail === undefined) return;
    const path = compiled.fieldPath === '' ? visit.path : child(visit.path, compiled.fieldPath);
    const ratcheted = !usesOldSelf && isRatcheted(visit.past);
    (ratcheted ? this.warnings : this.errors).push(brokenRule(compiled, node, { path, value: visit.value, detail }));
  }

  #spend({ cost }: CelOutcome): boolean {
    if (cost > this.#remaining) return false;
    this.#remaining -= cost;
    return true;
  }

  #stop(node: RuleNode, visit: Visit, detail: string): void {
    this.errors.push(typeInvalid(node, visit, detail));
    this.#remaining = -1;
  }

  #failed(
    { rule }: CompiledRule,
    node: RuleNode,
    { visit, error }: { readonly visit: Visit; readonly error: Error },
  ): void {
    const { message } = error;
    if (error instanceof CelBudgetExceededError) {
      const why = `no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(rule)}`;
      return this.#stop(node, visit, `'${message}': ${why}`);
    }
    const detail = message.startsWith('no such overload')
      ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${ruleText(rule)}`
      : `${message} evaluating rule: ${ruleText(rule)}`;
    this.errors.push(typeInvalid(node, visit, detail));
  }

  /** Undefined if the budget ran out, which has been reported. */
  #message(
    { rule, message }: CompiledRule,
    node: RuleNode,
    { visit, seen }: { readonly visit: Visit; readonly seen: Readonly<Record<string, unknown>> },
  ): string | undefined {
    const { messageExpression = '' } = rule;
    const fixed = (rule.message ?? '') === '' ? `failed rule: ${ruleText(rule)}` : ruleText(rule);
    if (message === undefined || 'problem' in message) return fixed;
    const outcome = message.program.run(seen, CEL_CALL_LIMIT);
    if (!this.#spend(outcome)) {
      const why = 'messageExpression evaluation failed due to running out of cost budget';
      this.#stop(node, visit, `${why}, no further validation rules will be run`);
      return undefined;
    }
    if (outcome.error instanceof CelBudgetExceededError) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression';
      this.#stop(node, visit, `${why}: ${JSON.stringify(messageExpression)}`);
      return undefined;
    }
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE ? fixed : text;
  }
}

interface Variables {
  readonly self: unknown;
  /** Undefined if there was no old value. */
  readonly oldSelf: unknown;
}

interface Application {
  readonly visit: Visit;
  readonly variables: Variables;
}

/** `oldSelf` as the rule declares it: a plain value, or an optional. */
function activation(
  { self, oldSelf }: Variables,
  { node, optional }: { readonly node: RuleNode; readonly optional: boolean },
): Readonly<Record<string, unknown>> {
  if (!optional) return { self, oldSelf };
  const { type = { kind: 'dyn' } as const } = node.schema;
  return {
    self,
    // The value is converted during the evaluation, so that data that does not fit the schema becomes an error of the rule.
    get oldSelf() {
      return oldSelf === undefined ? CelOptional.none : new CelOptional(toCelValue(oldSelf, type));
    },
  };
}

/** Errors about the object as a whole have no path. */
const shownPath = (path: string): string => (path === '' ? '<nil>' : path);

/** The finding for a rule that could not be evaluated, with the type in place of the value. */
function typeInvalid({ schema }: RuleNode, { path }: Visit, detail: string): FieldError {
  return fieldInvalid(shownPath(path), schema.props.type ?? '', detail);
}

interface Broken {
  readonly path: string;
  readonly value: unknown;
  readonly detail: string;
}

/** The message does not contain objects and lists. */
function brokenRule({ rule }: CompiledRule, { schema }: RuleNode, { path, value, detail }: Broken): FieldError {
  const at = shownPath(path);
  const omitted = schema.props.type === 'object' || schema.props.type === 'array';
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return fieldForbidden(at, detail);
    case 'FieldValueRequired':
      return fieldRequired(at, detail);
    case 'FieldValueDuplicate':
      return omitted ? fieldDuplicateWithoutValue(at) : fieldDuplicate(at, value);
    default:
      return omitted ? fieldInvalidWithoutValue(at, detail) : fieldInvalid(at, value, detail);
  }
}
