import { append } from '../../base/collections/append.ts';
import type { Steps } from '../../base/time/steps.ts';
import type { FieldError } from '../field-error.ts';
import {
  fieldForbidden,
  fieldInvalid,
  fieldInvalidAsShown,
  fieldNotSupported,
  fieldRequired,
  shown,
} from '../field-error.ts';
import { child, indexed, keyed } from './field-path.ts';
import { ruleFieldPath } from './rule-field-path.ts';
import { isSchemaList, itemSchema, type JsonSchemaProps, valueSchema } from './json-schema-props.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** The position of the walk. */
interface Place {
  readonly path: string;
  /** The reason why defaults are forbidden; absent if they are allowed. */
  readonly defaultsForbidden?: string;
  readonly insideMetadata: boolean;
}

/**
 * Checks which parts of OpenAPI the schema of a custom resource may use, and which Kubernetes extensions may be combined (API-451;
 * apiextensions `ValidateCustomResourceDefinitionOpenAPISchema`). It checks everything except the expressions of
 * `x-kubernetes-validations`.
 */
export function validateSchemaRules(schema: JsonSchemaProps, path: string): Steps<FieldError[]> {
  return walk(schema, { path, insideMetadata: false }, 'root');
}

function* walk(schema: JsonSchemaProps, place: Place, level: 'root' | 'inside'): Steps<FieldError[]> {
  const errors = unsupported(schema, place);
  yield 1;
  append(errors, yield* inner(schema, place, level));
  append(errors, mapTypeRules(schema, place.path), listTypeRules(schema, place.path), ruleTexts(schema, place.path));
  return errors;
}

function unsupported(schema: JsonSchemaProps, { path, defaultsForbidden, insideMetadata }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const forbid = (name: string, detail: string): void => {
    errors.push(fieldForbidden(child(path, name), detail));
  };
  const { type = '' } = schema;
  if (type !== '' && !TYPES.includes(type)) errors.push(fieldNotSupported(child(path, 'type'), type, TYPES));
  if (schema.default !== undefined && defaultsForbidden !== undefined) {
    forbid('default', `must not be set ${defaultsForbidden}`);
  }
  for (const name of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const) {
    if (schema[name] !== undefined && schema[name] !== '') forbid(name, `${name} is not supported`);
  }
  if (type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative');
  if (isSchemaList(schema.items)) forbid('items', 'items must be a schema object and not an array');
  if (insideMetadata && schema['x-kubernetes-embedded-resource'] === true) {
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta');
  }
  if (schema.uniqueItems === true) {
    forbid('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  }
  const values = schema.additionalProperties;
  if (values !== undefined && values !== true && Object.keys(schema.properties ?? {}).length > 0) {
    forbid('additionalProperties', 'additionalProperties and properties are mutual exclusive');
  }
  return errors;
}

function* inner(schema: JsonSchemaProps, place: Place, level: 'root' | 'inside'): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (const { each, where } of innerSchemas(schema, place, level)) append(errors, yield* walk(each, where, 'inside'));
  return errors;
}

interface InnerSchema {
  readonly each: JsonSchemaProps;
  readonly where: Place;
}

/** The schemas directly inside one, with their places. */
function innerSchemas(schema: JsonSchemaProps, place: Place, level: 'root' | 'inside'): InnerSchema[] {
  const found: InnerSchema[] = [];
  const { path } = place;
  const at = (innerPath: string): Place => ({ ...place, path: innerPath });
  const visit = (each: JsonSchemaProps | undefined, where: Place): void => {
    if (each !== undefined) found.push({ each, where });
  };
  const valuesAt = at(child(path, 'additionalProperties'));
  const reason = 'inside additionalProperties applying to object metadata';
  visit(valueSchema(schema), place.insideMetadata ? { ...valuesAt, defaultsForbidden: reason } : valuesAt);
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const propertyAt = at(keyed(child(path, 'properties'), name));
    if (!isResource || !META_FIELDS.has(name)) visit(property, propertyAt);
    else if (level === 'root') {
      visit(property, { ...propertyAt, insideMetadata: true, defaultsForbidden: `in top-level ${name}` });
    } else visit(property, { ...propertyAt, insideMetadata: true });
  }
  visit(schema.not, at(child(path, 'not')));
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, each] of (schema[junctor] ?? []).entries()) {
      visit(each, at(indexed(child(path, junctor), index)));
    }
  }
  visit(itemSchema(schema), at(child(path, 'items')));
  return found;
}

function mapTypeRules(schema: JsonSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(fieldInvalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return errors;
  append(errors, typeMustBe('object', schema, { path, extension: 'x-kubernetes-map-type' }));
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(fieldNotSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  return errors;
}

function typeMustBe(
  wanted: string,
  { type = '' }: JsonSchemaProps,
  { path, extension }: { readonly path: string; readonly extension: string },
): FieldError[] {
  if (type === wanted) return [];
  const detail = `must be ${wanted} if ${extension} is specified`;
  return [type === '' ? fieldRequired(child(path, 'type'), detail) : fieldInvalid(child(path, 'type'), type, detail)];
}

function listTypeRules(schema: JsonSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = child(path, 'x-kubernetes-list-type');
  if (listType !== undefined) {
    const wrongType = typeMustBe('array', schema, { path, extension: 'x-kubernetes-list-type' });
    append(errors, wrongType.length === 0 && listType === 'set' ? setItemRules(schema, path) : wrongType);
    if (!['atomic', 'set', 'map'].includes(listType)) {
      errors.push(fieldNotSupported(at, listType, ['atomic', 'set', 'map']));
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? fieldRequired(at, detail) : fieldInvalid(at, listType, detail));
  }
  if (listType === 'map') append(errors, mapListRules(schema, keys, path));
  if (listType === 'map' || listType === 'set') append(errors, uniqueItemRules(schema, listType, path));
  return errors;
}

/** Elements of a set are compared as a whole. */
function setItemRules(schema: JsonSchemaProps, path: string): FieldError[] {
  const items = itemSchema(schema);
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const at = child(path, 'items');
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [fieldInvalid(child(at, 'x-kubernetes-list-type'), listType, detail)];
  }
  if (items?.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [fieldInvalid(child(at, 'x-kubernetes-map-type'), listType ?? null, detail)];
  }
  return [];
}

/** Maximum number of findings about keys of one list, because each contains all keys, and every key may be wrong. */
const MOST_KEYS_TOLD = 10;

function mapListRules(schema: JsonSchemaProps, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = child(path, 'x-kubernetes-list-map-keys');
  const itemsAt = child(path, 'items');
  if (keys.length === 0) errors.push(fieldRequired(at, 'must not be empty if x-kubernetes-list-type is map'));
  if (schema.items === undefined) {
    errors.push(fieldRequired(itemsAt, 'must have a schema if x-kubernetes-list-type is map'));
  }
  const items = itemSchema(schema);
  if (items === undefined) return errors;
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(fieldInvalid(child(itemsAt, 'type'), items.type ?? '', detail));
    return errors;
  }
  const list = shown(keys);
  const seen = new Set<string>();
  let told = 0;
  const aboutList = (detail: string): void => {
    told += 1;
    if (told <= MOST_KEYS_TOLD) errors.push(fieldInvalidAsShown(at, list, detail));
  };
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) {
      aboutList('entries must all be names of item properties');
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(fieldInvalid(child(keyed(child(itemsAt, 'properties'), key), 'type'), items.type, detail));
    }
    if (seen.has(key)) aboutList('must not contain duplicate entries');
    seen.add(key);
  }
  return errors;
}

/** The keys of an item can be neither null nor missing. */
function uniqueItemRules(schema: JsonSchemaProps, listType: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const items = itemSchema(schema);
  if (items === undefined) return errors;
  const itemsAt = child(path, 'items');
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(fieldForbidden(child(itemsAt, 'nullable'), detail));
  }
  if (listType !== 'map') return errors;
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const at = keyed(child(itemsAt, 'properties'), key);
    if (items.required?.includes(key) !== true && property.default === undefined) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(fieldRequired(child(at, 'default'), detail));
    }
    if (property.nullable === true) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      errors.push(fieldForbidden(child(at, 'nullable'), detail));
    }
  }
  return errors;
}

/** Checks the fields of a rule except its expression, which `rule-checks.ts` checks (API-471). */
function ruleTexts(schema: JsonSchemaProps, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const errors: FieldError[] = [];
    const at = indexed(child(path, 'x-kubernetes-validations'), index);
    const { rule: expression = '', message = '', messageExpression = '', reason, fieldPath = '' } = rule;
    const brief = message.trim();
    if (expression !== '' && expression.trim() === '') {
      errors.push(fieldRequired(child(at, 'rule'), 'rule is not specified'));
    } else if (message !== '' && brief === '') {
      errors.push(fieldInvalid(child(at, 'message'), message, 'must be non-empty if specified'));
    } else if (/[\n\r]/.test(brief)) {
      errors.push(fieldInvalid(child(at, 'message'), message, 'must not contain line breaks'));
    } else if (/[\n\r]/.test(expression.trim()) && brief === '') {
      errors.push(fieldRequired(child(at, 'message'), 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression !== '' && messageExpression.trim() === '') {
      const detail = 'messageExpression must be non-empty if specified';
      errors.push(fieldRequired(child(at, 'messageExpression'), detail));
    }
    if (reason !== undefined && !REASONS.includes(reason)) {
      errors.push(fieldNotSupported(child(at, 'reason'), reason, REASONS));
    }
    if (fieldPath !== '' && fieldPath.trim() === '') {
      errors.push(fieldInvalid(child(at, 'fieldPath'), fieldPath, 'must be non-empty if specified'));
    }
    if (/[\n\r]/.test(fieldPath)) {
      errors.push(fieldInvalid(child(at, 'fieldPath'), fieldPath, 'must not contain line breaks'));
    }
    if (fieldPath !== '' && ruleFieldPath(fieldPath, schema) === undefined) {
      errors.push(fieldInvalid(child(at, 'fieldPath'), fieldPath, 'must be a valid path'));
    }
    return errors;
  });
}
