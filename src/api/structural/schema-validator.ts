import { type Int64, stringifyExactJson } from '../../base/json/exact-json.ts';
import { equalJson, isJsonObject } from '../codec/json/json-value.ts';
import type { FieldError } from '../field-error.ts';
import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from '../field-error.ts';
import { compileGoRegexp, type GoRegexp } from '../cel/go-regexp.ts';
import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';
import { Findings } from './schema-findings.ts';
import { stringFormat } from '../formats/string-formats.ts';

type Json = Record<string, unknown>;

export interface ValidationOptions {
  /** The position of the value in the object, as a prefix of every path. */
  readonly path?: string;
  /** Ratcheting (API-470): findings about parts that equal those of this value are not reported. */
  readonly previous?: { readonly value: unknown };
}

/**
 * Validates values by an OpenAPI v3 schema with kube-apiserver's messages and paths (API-460; kube-openapi `pkg/validation/validate`).
 * Compiled once, without state.
 */
export class SchemaValidator {
  readonly #root: SchemaNode;

  /** Throws GoRegexpError for a pattern that Go refuses. */
  constructor(schema: JsonSchemaProps) {
    this.#root = compile(schema);
  }

  validate(value: unknown, { path = '', previous }: ValidationOptions = {}): readonly FieldError[] {
    return checkNode(this.#root, { value, name: '', prefix: path, previous }).errors;
  }
}

interface SchemaNode {
  readonly types: readonly string[];
  readonly nullable: boolean;
  /** Empty if the format does not apply to the type. */
  readonly format: string;
  readonly checkFormat: ((text: string) => boolean) | undefined;
  readonly pattern: GoRegexp | undefined;
  readonly props: JsonSchemaProps;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly values: SchemaNode | undefined;
  readonly items: SchemaNode | undefined;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}

function compile(props: JsonSchemaProps): SchemaNode {
  const types = props['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : props.type ? [props.type] : [];
  const format = meaningfulFormat(props.format ?? '', types);
  const values = valueSchema(props);
  const items = itemSchema(props);
  return {
    types,
    nullable: props.nullable ?? false,
    format,
    checkFormat: format === '' ? undefined : stringFormat(format),
    pattern: props.pattern === undefined ? undefined : compileGoRegexp(props.pattern),
    props,
    properties: new Map(Object.entries(props.properties ?? {}).map(([name, inner]) => [name, compile(inner)])),
    values: values === undefined ? undefined : compile(values),
    items: items === undefined ? undefined : compile(items),
    allOf: (props.allOf ?? []).map(compile),
    anyOf: (props.anyOf ?? []).map(compile),
    oneOf: (props.oneOf ?? []).map(compile),
    not: props.not === undefined ? undefined : compile(props.not),
  };
}

/** Formats that are unknown, or that do not apply to the type, are ignored. */
function meaningfulFormat(format: string, types: readonly string[]): string {
  return isKnownFormat(format, types.length === 1 ? (types[0] ?? '') : '') ? format : '';
}

/** True if a format applies to a type. An empty format does not. */
export function isKnownFormat(format: string, type: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return stringFormat(format) !== undefined;
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}

/** A value with its position in the schema. */
interface Subject {
  readonly value: unknown;
  /** Path below the prefix, for messages; empty for the root. */
  readonly name: string;
  readonly prefix: string;
  /** If absent, there is no old value and everything is reported. */
  readonly previous: { readonly value: unknown } | undefined;
}

/** All findings about a value, unless it is unchanged. */
function checkNode(node: SchemaNode, subject: Subject): Findings {
  const findings = checkValue(node, subject);
  const { previous } = subject;
  if (findings.valid || previous === undefined || !equalJson(subject.value, previous.value)) return findings;
  return new Findings(findings.matches);
}

/** Runs upstream's validators in their order. Each counts as a match: of failed alternatives, the one with the most matches is reported. */
function checkValue(node: SchemaNode, subject: Subject): Findings {
  const findings = new Findings();
  const { value } = subject;
  if (value === null || value === undefined) {
    findings.merge(checkType(node, subject));
    checkEnum(node, subject, findings);
    return findings;
  }
  if (node.types.length > 0 || node.format !== '') findings.merge(checkType(node, subject)).match();
  findings.merge(checkJunctors(node, subject)).match();
  if (typeof value === 'string') {
    checkText(node, value, { subject, findings });
    findings.match();
    if (node.checkFormat !== undefined) {
      if (!node.checkFormat(value)) findings.add(typeError(subject, node.format, value));
      findings.match();
    }
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    findings.merge(checkNumber(node, value, subject)).match();
  } else if (Array.isArray(value)) {
    findings.merge(checkList(node, value, subject)).match();
  }
  checkEnum(node, subject, findings);
  findings.match();
  if (isJsonObject(value)) findings.merge(checkObject(node, value, subject)).match();
  return findings.match();
}

const at = ({ prefix, name }: Subject): string => {
  const path = name.startsWith('.') ? name.slice(1) : name;
  return prefix === '' ? path : path === '' ? prefix : `${prefix}.${path}`;
};

/** The field of a finding for which upstream names none: the path at which the validation started, or empty. */
const nowhere = ({ prefix }: Subject): string => (prefix === '' ? '<nil>' : prefix);

function typeError(subject: Subject, wanted: string, found: string): FieldError {
  const text = `${subject.name} in body must be of type ${wanted}: ${JSON.stringify(found)}`;
  return fieldTypeInvalid(at(subject), found, text);
}

function typeOf(value: unknown): { readonly type: string; readonly format: string } {
  if (typeof value === 'boolean') return { type: 'boolean', format: '' };
  if (typeof value === 'string') return { type: 'string', format: '' };
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'float64' };
  }
  if (typeof value === 'bigint') return { type: 'integer', format: 'int64' };
  return { type: Array.isArray(value) ? 'array' : 'object', format: '' };
}

function checkType(node: SchemaNode, subject: Subject): Findings {
  const findings = new Findings();
  const { types } = node;
  const { value } = subject;
  if (value === null || value === undefined) {
    if (types.length > 0 && !node.nullable) findings.add(typeError(subject, types.join(','), 'null'));
    return findings.match();
  }
  const { type, format } = typeOf(value);
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
  const numeric = types.includes('number') || types.includes('integer');
  const text = type === 'string' || type === 'array';
  if (node.format !== '' && !text && !fits && format !== node.format) {
    return findings.add(typeError(subject, node.format, format));
  }
  // A string format is more specific than the type.
  if (node.format !== '' && text && !numeric) return findings.match();
  if (!fits) return findings.add(typeError(subject, types.join(','), type));
  return findings.match();
}

function checkEnum(node: SchemaNode, subject: Subject, findings: Findings): void {
  const allowed = node.props.enum ?? [];
  if (allowed.length === 0) return;
  const { value } = subject;
  if (value !== null && allowed.some((each) => each !== null && equalJson(each, value))) return;
  const names = allowed.map((each) => (typeof each === 'string' ? each : stringifyExactJson(each)));
  findings.add(fieldNotSupported(at(subject), value ?? null, names));
}

interface Checking {
  readonly subject: Subject;
  readonly findings: Findings;
}

/** Stops at the first finding, so that a text that is too long is not matched against a pattern. */
function checkText(node: SchemaNode, value: string, { subject, findings }: Checking): void {
  const { maxLength, minLength, pattern } = node.props;
  if (maxLength !== undefined || minLength !== undefined) {
    const length =
      value.length <= (maxLength ?? Infinity) && value.length > 2 * Number(minLength ?? 0)
        ? undefined
        : [...value].length;
    if (length !== undefined && length > (maxLength ?? Infinity)) {
      findings.add(fieldTooLong(at(subject), maxLength ?? 0));
      return;
    }
    if (length !== undefined && length < (minLength ?? 0)) {
      const text = `${subject.name} in body should be at least ${minLength} chars long`;
      findings.add(fieldInvalid(at(subject), value, text));
      return;
    }
  }
  if (node.pattern !== undefined && !node.pattern.test(value)) {
    findings.add(fieldInvalid(at(subject), value, `${subject.name} in body should match '${pattern}'`));
  }
}

const INT32_MAX = 2 ** 31 - 1;

/** True if the type can hold the number, as Go would parse it. */
function fitsType(value: Int64, { types, format }: SchemaNode): boolean {
  if (types.length !== 1) return true;
  if (types[0] === 'number') return format !== 'float' || Math.abs(Number(value)) <= 3.4028234663852886e38;
  if (types[0] !== 'integer') return true;
  if (typeof value === 'bigint') return format !== 'int32';
  if (!Number.isInteger(value)) return false;
  return format === 'int32' ? value <= INT32_MAX && value >= -INT32_MAX - 1 : value < 2 ** 63 && value >= -(2 ** 63);
}

function checkNumber(node: SchemaNode, value: Int64, subject: Subject): Findings {
  const findings = new Findings();
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = node.props;
  const requireRange = (bound: Int64, what: string): void => {
    if (fitsType(bound, node)) return;
    const format = node.format === '' ? '(default format)' : `with format ${node.format}`;
    findings.add(
      fieldInvalid(nowhere(subject), '', `${what} value must be of type ${node.types[0]} ${format} in ${subject.name}`),
    );
  };
  const invalid = (text: string): void => {
    findings.add(fieldInvalid(at(subject), value, `${subject.name} in body ${text}`));
  };
  // Integers are compared with integer bounds, like Go's int64.
  const bound = (limit: Int64): number => (isInteger(value) ? Math.trunc(Number(limit)) : Number(limit));
  requireRange(value, 'Checked');
  if (multipleOf !== undefined) {
    requireRange(multipleOf, 'MultipleOf');
    const factor = bound(multipleOf);
    if (factor <= 0) {
      const text = `factor MultipleOf declared for ${subject.name} must be positive: ${factor}`;
      findings.add(fieldInvalid(at(subject), factor, text));
    } else if (!isMultiple(value, factor)) invalid(`should be a multiple of ${factor}`);
  }
  if (minimum !== undefined) {
    requireRange(minimum, 'Minimum boundary');
    const low = bound(minimum);
    if (exclusiveMinimum === true ? value <= low : value < low) {
      invalid(`should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${low}`);
    }
  }
  if (maximum !== undefined) {
    requireRange(maximum, 'Maximum boundary');
    const high = bound(maximum);
    if (exclusiveMaximum === true ? value >= high : value > high) {
      invalid(`should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${high}`);
    }
  }
  return findings.match();
}

function isInteger(value: Int64): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function isMultiple(value: Int64, factor: number): boolean {
  if (typeof value === 'bigint') return value % BigInt(factor) === 0n;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  const whole = Math.round(times);
  return times === whole || Math.abs(times - whole) < 1e-9 * Math.abs(times);
}

function checkList(node: SchemaNode, list: readonly unknown[], subject: Subject): Findings {
  const findings = new Findings();
  const { items } = node;
  if (items !== undefined) {
    const before = previousItems(node, subject.previous?.value);
    for (const [index, value] of list.entries()) {
      if (findings.full) break;
      const name = `${subject.name}[${index}]`;
      findings.merge(checkNode(items, { ...subject, value, name, previous: before?.(value) }));
    }
  }
  const { minItems, maxItems } = node.props;
  if (minItems !== undefined && list.length < minItems) {
    findings.add(
      fieldInvalid(at(subject), list.length, `${subject.name} in body should have at least ${minItems} items`),
    );
  }
  if (maxItems !== undefined && list.length > maxItems) findings.add(fieldTooMany(at(subject), list.length, maxItems));
  return findings.match();
}

/** Only items of a list with keys (`map`) can be matched with items of another list. */
function previousItems(
  { props }: SchemaNode,
  previous: unknown,
): ((item: unknown) => { readonly value: unknown } | undefined) | undefined {
  if (props['x-kubernetes-list-type'] !== 'map' || !Array.isArray(previous)) return undefined;
  const keys = props['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: unknown): string =>
    stringifyExactJson(keys.map((key) => (isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : null)));
  const byKey = new Map(previous.map((item: unknown) => [keyOf(item), { value: item }]));
  return (item) => byKey.get(keyOf(item));
}

function checkObject(node: SchemaNode, object: Json, subject: Subject): Findings {
  const findings = new Findings();
  const { name, previous } = subject;
  const { minProperties, maxProperties, additionalProperties, required = [] } = node.props;
  const count = Object.keys(object).length;
  if (minProperties !== undefined && count < minProperties) {
    findings.add(fieldInvalid(at(subject), count, `${name} in body should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && count > maxProperties)
    findings.add(fieldTooMany(at(subject), count, maxProperties));
  const before = isJsonObject(previous?.value) ? previous.value : undefined;
  const previousOf = (key: string): Subject['previous'] => {
    // apiVersion and kind never count as unchanged, because old and new are compared in the same version.
    if (before === undefined || (subject.prefix === '' && name === '' && (key === 'kind' || key === 'apiVersion'))) {
      return undefined;
    }
    return { value: Object.hasOwn(before, key) ? before[key] : undefined };
  };
  for (const key of Object.keys(object)) {
    if (findings.full) break;
    if (node.properties.has(key)) continue;
    if (additionalProperties === false) {
      findings.add(fieldInvalid(at(subject), key, `${name}.${key} in body is a forbidden property`));
    } else if (node.values !== undefined) {
      const inner = { ...subject, value: object[key], name: `${name}.${key}`, previous: previousOf(key) };
      findings.merge(checkNode(node.values, inner));
    }
  }
  for (const [key, property] of node.properties) {
    if (!Object.hasOwn(object, key)) continue;
    const inner = {
      ...subject,
      value: object[key],
      name: name === '' ? key : `${name}.${key}`,
      previous: previousOf(key),
    };
    findings.merge(checkNode(property, inner));
  }
  for (const key of required) {
    if (!Object.hasOwn(object, key)) findings.add(fieldRequired(at({ ...subject, name: `${name}.${key}` })));
  }
  return findings;
}

function checkJunctors(node: SchemaNode, subject: Subject): Findings {
  const findings = new Findings();
  const add = (text: string): void => {
    findings.add(fieldInvalid(nowhere(subject), '', `${JSON.stringify(subject.name)} must ${text}`));
  };
  if (node.anyOf.length > 0) {
    const { first, best } = tryAll(node.anyOf, subject, 'first');
    if (first === undefined) add('validate at least one schema (anyOf)');
    findings.merge(first ?? best);
  }
  if (node.oneOf.length > 0) {
    const { first, best, valid } = tryAll(node.oneOf, subject, 'all');
    if (valid === 1) findings.merge(first);
    else {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      add(`validate one and only one schema (oneOf). ${found}`);
      if (valid === 0) findings.merge(best);
    }
  }
  if (node.allOf.length > 0) {
    const results = node.allOf.map((each) => checkValue(each, subject));
    for (const result of results) findings.merge(result);
    const valid = results.filter((result) => result.valid).length;
    if (valid < results.length) add(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  }
  if (node.not !== undefined && checkValue(node.not, subject).valid) add('not validate the schema (not)');
  return findings.match();
}

interface Tried {
  readonly first: Findings | undefined;
  /** The failed alternative with the most matches. */
  readonly best: Findings | undefined;
  readonly valid: number;
}

function tryAll(alternatives: readonly SchemaNode[], subject: Subject, until: 'first' | 'all'): Tried {
  let first: Findings | undefined;
  let best: Findings | undefined;
  let valid = 0;
  for (const alternative of alternatives) {
    const result = checkValue(alternative, subject);
    if (result.valid) {
      valid++;
      first ??= result;
      if (until === 'first') break;
    } else if (best === undefined || result.matches > best.matches) {
      best = result;
    }
  }
  return { first, best, valid };
}
