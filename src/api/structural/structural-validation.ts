import { append } from '../../base/collections/append.ts';
import type { Steps } from '../../base/time/steps.ts';
import type { FieldError } from '../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldRequired, formatFieldError } from '../field-error.ts';
import { child, indexed, keyed } from './field-path.ts';
import { compileGoRegexp, GoRegexpError } from '../cel/go-regexp.ts';
import { isSpelledOut } from './int-or-string.ts';
import { itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

/**
 * Checks that a schema is structural (API-451; apiextensions `pkg/apiserver/schema/validation.go` and `complete.go`): the structure of the
 * data is specified completely outside of `allOf`, `anyOf`, `oneOf` and `not`. Findings are sorted by their text.
 */
export function* validateStructural(schema: JsonSchemaProps, path: string): Steps<FieldError[]> {
  const errors = yield* invariants(schema, 'root', path);
  append(errors, completeness(schema, schema, { path, from: path }));
  return errors
    .map((error) => ({ error, text: formatFieldError(error) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ error }) => error);
}

type Level = 'root' | 'item' | 'field';

function* invariants(schema: JsonSchemaProps, level: Level, path: string): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield 1;
  const items = itemSchema(schema);
  const type = schema.type ?? '';
  if (type === 'array' && schema.items === undefined) {
    errors.push(fieldRequired(child(path, 'items'), 'must be specified'));
  }
  if (items !== undefined) append(errors, yield* invariants(items, 'item', child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    append(errors, yield* invariants(property, 'field', keyed(child(path, 'properties'), name)));
  }
  if (schema.additionalProperties !== undefined && level === 'root') {
    errors.push(fieldForbidden(child(path, 'additionalProperties'), 'must not be used at the root'));
  }
  const values = valueSchema(schema);
  if (values !== undefined) append(errors, yield* invariants(values, 'field', child(path, 'additionalProperties')));
  append(errors, extensions(schema, path), yield* valueValidation(schema, isSpelledOut(schema), path));
  append(errors, typeErrors(schema, level, path), resourceErrors(schema, level, path));
  return errors;
}

function extensions(schema: JsonSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-int-or-string'] !== true) return errors;
  for (const extension of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[extension] !== true) continue;
    errors.push(fieldInvalid(child(path, extension), true, 'must be false if x-kubernetes-int-or-string is true'));
  }
  return errors;
}

const WHERE: Readonly<Record<Level, string>> = {
  root: 'at the root',
  item: 'for specified array items',
  field: 'for specified object fields',
};

function typeErrors(schema: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = schema.type ?? '';
  const at = child(path, 'type');
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const untyped =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? fieldRequired(at, detail) : fieldInvalid(at, type, detail));
  } else if (type === '' && !untyped) {
    errors.push(fieldRequired(at, `must not be empty ${WHERE[level]}`));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(fieldForbidden(child(path, 'additionalProperties'), detail));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(fieldInvalid(at, type, 'must be object at the root'));
  }
  return errors;
}

/** The schema that a resource, at the root or embedded, may specify for the fields of all resources. */
function resourceErrors(schema: JsonSchemaProps, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { properties = {} } = schema;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const isResource = level === 'root' || embedded;
  const at = (name: string): string => keyed(child(path, 'properties'), name);
  for (const name of ['kind', 'apiVersion']) {
    const property = properties[name];
    if (isResource && property !== undefined && property.type !== 'string') {
      errors.push(fieldInvalid(child(at(name), 'type'), property.type ?? '', 'must be string'));
    }
  }
  const { metadata } = properties;
  if (metadata !== undefined && isResource && metadata.type !== 'object') {
    errors.push(fieldInvalid(child(at('metadata'), 'type'), metadata.type ?? '', 'must be object'));
  }
  if (metadata !== undefined && level === 'root' && restrictsMetadata(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(fieldForbidden(at('metadata'), detail));
  }
  if (embedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(fieldRequired(child(path, 'properties'), detail));
  }
  return errors;
}

function restrictsMetadata(metadata: JsonSchemaProps): boolean {
  const names = Object.keys(metadata.properties ?? {});
  const namesOnly = names.every((name) => name === 'name' || name === 'generateName');
  return Object.keys(metadata).some((key) => {
    if (key === 'type' || key === 'default') return false;
    return key !== 'properties' || !namesOnly;
  });
}

/** `spelledOut` is the list that may contain types, because it spells out int-or-string. */
function* valueValidation(
  schema: JsonSchemaProps,
  spelledOut: 'anyOf' | 'allOf' | 'no',
  path: string,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (spelledOut !== 'anyOf') {
    for (const [index, inner] of (schema.anyOf ?? []).entries()) {
      append(errors, yield* nested(inner, 'no', indexed(child(path, 'anyOf'), index)));
    }
  }
  for (const [index, inner] of (schema.allOf ?? []).entries()) {
    const skips = spelledOut === 'allOf' && index === 0 ? 'anyOf' : 'no';
    append(errors, yield* nested(inner, skips, indexed(child(path, 'allOf'), index)));
  }
  for (const [index, inner] of (schema.oneOf ?? []).entries()) {
    append(errors, yield* nested(inner, 'no', indexed(child(path, 'oneOf'), index)));
  }
  if (schema.not !== undefined) append(errors, yield* nested(schema.not, 'no', child(path, 'not')));
  if (schema.pattern !== undefined) {
    append(errors, patternErrors(schema.pattern, child(path, 'pattern')));
    yield PATTERN_UNITS + schema.pattern.length;
  }
  return errors;
}

/** A pattern takes some microseconds for each of its characters, and some hundred if it repeats a group. */
const PATTERN_UNITS = 20;

function patternErrors(pattern: string, path: string): FieldError[] {
  try {
    compileGoRegexp(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof GoRegexpError)) throw error;
    return [fieldInvalid(path, pattern, `must be a valid regular expression, but isn't: ${error.message}`)];
  }
}

/** Fields that are forbidden inside `allOf`, `anyOf`, `oneOf` and `not`, in upstream's order and with its messages. */
const FORBIDDEN_WHEN_NESTED: readonly (readonly [keyof JsonSchemaProps, string])[] = [
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

function* nested(schema: JsonSchemaProps, spelledOut: 'anyOf' | 'no', path: string): Steps<FieldError[]> {
  const errors = yield* valueValidation(schema, spelledOut, path);
  const items = itemSchema(schema);
  if (items !== undefined) append(errors, yield* nested(items, 'no', child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    append(errors, yield* nested(property, 'no', keyed(child(path, 'properties'), name)));
  }
  const mustBe = (name: string, what: string): void => {
    errors.push(fieldForbidden(child(path, name), `must be ${what} to be structural`));
  };
  if ((schema.type ?? '') !== '') mustBe('type', 'empty');
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    mustBe('additionalProperties', 'undefined');
  }
  for (const [name, what] of FORBIDDEN_WHEN_NESTED) {
    const value = schema[name];
    if (value !== undefined && value !== false && value !== '') mustBe(name, what);
  }
  if (schema.properties?.['metadata'] !== undefined) {
    const detail = 'must not be specified in a nested context';
    errors.push(fieldForbidden(keyed(child(path, 'properties'), 'metadata'), detail));
  }
  return errors;
}

/** The schema that must specify the structure, and the schema in `allOf`, `anyOf`, `oneOf` or `not` that restricts the value. */
interface Completing {
  readonly path: string;
  readonly from: string;
}

/** Requires that every field and item in `allOf`, `anyOf`, `oneOf` and `not` is also specified outside of them. */
function completeness(validation: JsonSchemaProps, shape: JsonSchemaProps, { path, from }: Completing): FieldError[] {
  const errors: FieldError[] = [];
  if (validation.not !== undefined) {
    append(errors, nestedCompleteness(validation.not, shape, { path, from: child(from, 'not') }));
  }
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, inner] of (validation[junctor] ?? []).entries()) {
      append(errors, nestedCompleteness(inner, shape, { path, from: indexed(child(from, junctor), index) }));
    }
  }
  return errors;
}

function nestedCompleteness(
  validation: JsonSchemaProps,
  shape: JsonSchemaProps | undefined,
  { path, from }: Completing,
): FieldError[] {
  if (shape === undefined) return [fieldRequired(path, `because it is defined in ${from}`)];
  const errors = completeness(validation, shape, { path, from });
  const items = itemSchema(validation);
  if (items !== undefined) {
    const at = { path: child(path, 'items'), from: child(from, 'items') };
    append(errors, nestedCompleteness(items, itemSchema(shape), at));
  }
  for (const [name, property] of Object.entries(validation.properties ?? {})) {
    const at = {
      path: keyed(child(path, 'properties'), name),
      from: keyed(child(from, 'properties'), name),
    };
    const known = Object.hasOwn(shape.properties ?? {}, name) ? shape.properties?.[name] : undefined;
    append(errors, nestedCompleteness(property, known, at));
  }
  return errors;
}
