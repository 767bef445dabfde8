import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid } from '../field-error.ts';
import { UNBOUNDED } from '../cel/size-estimate.ts';
import { type Compiled, compileRules, type CompiledRule, maxOccurrences, worstCost } from './compiled-rule.ts';
import { child, indexed, keyed } from './field-path.ts';
import { hasRules, type JsonSchemaProps, type ValidationRule } from './json-schema-props.ts';
import { RuleValidator } from './rule-validator.ts';
import { type TypedSchema, typedSchema } from './schema-cel-type.ts';

/** The maximum cost of one rule, and of all rules of a schema (apiextensions `StaticEstimatedCostLimit`, `…CRDCostLimit`). */
const RULE_LIMIT = 10_000_000;
const SCHEMA_LIMIT = 100_000_000;
/** If a schema is too expensive, at most this many of its most expensive rules are named, each with at least one percent of the cost. */
const NAMED = 4;

/**
 * Checks that the rules of a structural schema compile, are allowed at their place, and cannot cost too much (API-471; apiextensions
 * `ValidateCustomResourceDefinitionOpenAPISchema`).
 */
export function checkRules(props: JsonSchemaProps, path: string): FieldError[] {
  const checks = new RuleChecks();
  checks.visit(typedSchema(props), { path, occurrences: 1, uncorrelatable: undefined });
  return [...checks.errors, ...checks.totalErrors(path)];
}

interface Place {
  readonly path: string;
  /** The maximum number of values of the schema in one object; undefined if it is unbounded. */
  readonly occurrences: number | undefined;
  /** The outermost enclosing schema with parts that cannot be matched with their old values. */
  readonly uncorrelatable: string | undefined;
}

class RuleChecks {
  readonly errors: FieldError[] = [];
  readonly #costs: { readonly path: string; readonly cost: number }[] = [];

  /** Visits the parts before the whole. */
  visit(schema: TypedSchema, place: Place): void {
    const { props, values, items, properties } = schema;
    const { path, uncorrelatable } = place;
    const inside = { occurrences: multiply(place.occurrences, maxParts(props)), uncorrelatable };
    if (values !== undefined) this.visit(values, { ...inside, path: child(path, 'additionalProperties') });
    for (const [name, property] of properties) {
      this.visit(property, { ...inside, path: keyed(child(path, 'properties'), name) });
    }
    if (items !== undefined) {
      const isMap = props['x-kubernetes-list-type'] === 'map';
      const mark = uncorrelatable ?? (isMap ? undefined : path);
      this.visit(items, { ...inside, uncorrelatable: mark, path: child(path, 'items') });
    }
    if (props.default !== undefined && hasRules(props)) this.#default(schema, child(path, 'default'));
    for (const [index, compiled] of compileRules(schema).entries()) {
      this.#check(compiled, schema, { ...place, path: indexed(child(path, 'x-kubernetes-validations'), index) });
    }
  }

  /** Checks that a default satisfies the rules, also as an unchanged value. */
  #default(schema: TypedSchema, path: string): void {
    const value = schema.props.default;
    const { errors, warnings } = new RuleValidator(schema).validate(value, { path, previous: { value } });
    append(this.errors, errors, warnings);
  }

  #check(compiled: CompiledRule, schema: TypedSchema, place: Place): void {
    const { path, uncorrelatable } = place;
    const { rule, condition, message, usesOldSelf } = compiled;
    const at = child(path, 'rule');
    const times = place.occurrences ?? maxOccurrences(schema);
    const cost = isProgram(condition) ? (multiply(worstCost(condition.program, schema), times) ?? 0) : 0;
    this.#cost({ path: at, cost, name: 'estimated rule cost' });
    if (condition !== undefined && 'problem' in condition) {
      this.errors.push(fieldInvalid(at, shownRule(rule), condition.problem));
    }
    const messageAt = child(path, 'messageExpression');
    if (message !== undefined && 'problem' in message) {
      this.errors.push(fieldInvalid(messageAt, shownRule(rule), message.problem));
    } else if (isProgram(message)) {
      this.#cost({
        path: messageAt,
        cost: worstCost(message.program, schema),
        name: 'estimated messageExpression cost',
      });
    }
    if (usesOldSelf && uncorrelatable !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
      this.errors.push(fieldInvalid(at, rule.rule, detail));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.errors.push(fieldInvalid(child(path, 'optionalOldSelf'), rule.optionalOldSelf, detail));
    }
  }

  #cost({ path, cost, name }: { readonly path: string; readonly cost: number; readonly name: string }): void {
    if (cost > RULE_LIMIT) this.errors.push(fieldForbidden(path, costMessage(name, cost / RULE_LIMIT)));
    this.#costs.push({ path, cost });
  }

  totalErrors(path: string): FieldError[] {
    const total = this.#costs.reduce((sum, { cost }) => Math.min(sum + cost, UNBOUNDED), 0);
    if (total <= SCHEMA_LIMIT) return [];
    const expensive = this.#costs.filter(({ cost }) => cost >= SCHEMA_LIMIT / 100).toSorted((a, b) => b.cost - a.cost);
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [
      ...expensive.slice(0, NAMED).map((each) => fieldForbidden(each.path, contributed)),
      fieldForbidden(path, costMessage(name, total / SCHEMA_LIMIT)),
    ];
  }
}

function isProgram(compiled: Compiled | undefined): compiled is Extract<Compiled, { readonly program: unknown }> {
  return compiled !== undefined && 'program' in compiled;
}

function multiply(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return undefined;
  return one === 0 || other === 0 ? 0 : Math.min(one * other, UNBOUNDED);
}

/** The maximum number of parts of a value of the schema; undefined if it is unbounded. */
function maxParts({ type, additionalProperties, maxProperties, maxItems }: JsonSchemaProps): number | undefined {
  if (type === 'object' && additionalProperties !== undefined) {
    return maxProperties === undefined ? undefined : Math.max(Number(maxProperties), 0);
  }
  if (type === 'array') return maxItems === undefined ? undefined : Math.max(Number(maxItems), 0);
  return 1;
}

function costMessage(name: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${name} exceeds budget by factor of ${times} (${advice})`;
}

/** The rule with the field names of the server's internal type. */
function shownRule(rule: ValidationRule): Record<string, unknown> {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
