import { append } from '../../base/collections/append.ts';
import type { Steps } from '../../base/time/steps.ts';
import type { FieldError } from '../../api/field-error.ts';
import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
} from '../../api/field-error.ts';
import { isPrintable } from '../../api/meta/quoted.ts';
import { validateDefaults } from '../../api/structural/default-validation.ts';
import { validateKind } from '../../api/structural/embedded-metadata.ts';
import { hasRules, type JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import { validateSchemaRules } from '../../api/structural/schema-rules.ts';
import { findFieldPath } from '../../api/structural/selectable-field.ts';
import { validateStructural } from '../../api/structural/structural-validation.ts';
import { isDns1035Label, isDns1123Subdomain } from '../../api/validation/names.ts';
import type { CustomColumn } from '../printers/custom-columns.ts';
import { validateApproval } from './api-approval.ts';
import { validateConversion } from './conversion-validation.ts';
import type { RuleCheck } from './definition-strategy.ts';
import {
  type Definition,
  type DefinitionNames,
  type DefinitionScale,
  type DefinitionSpec,
  type DefinitionVersion,
  isEstablished,
  versionsOf,
} from './definition.ts';

/**
 * Validation of CustomResourceDefinitions (API-450..452, 469, 473; apiextensions `apis/apiextensions/validation`). Required fields are
 * checked before, for all built-in kinds.
 */
export function* validateDefinition(definition: Definition, checkRules: RuleCheck): Steps<FieldError[]> {
  const { spec, metadata } = definition;
  const wanted = `${spec.names.plural}.${spec.group}`;
  const name = metadata?.name ?? '';
  const misnamed =
    name === wanted ? [] : [fieldInvalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
  return [
    ...misnamed,
    ...(yield* validateSpec(spec, { checkRules })),
    ...validateApproval(definition),
    ...validatePreserve(spec),
  ];
}

export function* validateDefinitionUpdate(
  next: Definition,
  previous: Definition,
  checkRules: RuleCheck,
): Steps<FieldError[]> {
  const errors = yield* validateSpec(next.spec, { checkRules, previous });
  const immutable = (path: string, now: unknown, before: unknown): void => {
    if (now !== before) errors.push(fieldInvalid(path, now, 'field is immutable'));
  };
  if (isEstablished(previous)) {
    immutable('spec.scope', next.spec.scope, previous.spec.scope);
    immutable('spec.names.kind', next.spec.names.kind, previous.spec.names.kind);
  }
  immutable('spec.group', next.spec.group, previous.spec.group);
  immutable('spec.names.plural', next.spec.names.plural, previous.spec.names.plural);
  append(errors, validateStoredVersions(next), validateApproval(next, previous), validatePreserve(next.spec));
  return errors;
}

/** Validates writes through `/status`. */
export function validateDefinitionStatus({ status }: Definition): FieldError[] {
  return validateNames(status.acceptedNames, 'status.acceptedNames');
}

function validatePreserve({ preserveUnknownFields }: DefinitionSpec): FieldError[] {
  if (preserveUnknownFields !== true) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [fieldInvalid('spec.preserveUnknownFields', true, detail)];
}

/** Versions in which objects may still be stored must stay readable (API-473). */
function validateStoredVersions({ spec, status }: Definition): FieldError[] {
  const path = 'status.storedVersions';
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) return [fieldInvalid(path, stored, 'must have at least one stored version')];
  const names = versionsOf(spec).map(({ name }) => name);
  return stored.flatMap((version, index) => {
    if (names.includes(version)) return [];
    const detail = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    return [fieldInvalid(`${path}[${index}]`, version, detail)];
  });
}

interface SpecContext {
  readonly checkRules: RuleCheck;
  readonly previous?: Definition;
}

function* validateSpec(spec: DefinitionSpec, { checkRules, previous }: SpecContext): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  const { group, scope } = spec;
  const versions = versionsOf(spec);
  const groupProblems = group === '' ? [] : isDns1123Subdomain(group);
  if (groupProblems.length > 0) errors.push(fieldInvalid('spec.group', group, groupProblems.join(',')));
  else if (group !== '' && !group.includes('.')) {
    errors.push(fieldInvalid('spec.group', group, 'should be a domain with at least one dot'));
  }
  if (scope !== '' && scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(fieldNotSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  for (const [index, { schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) {
      errors.push(fieldRequired(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  for (const [index, version] of versions.entries()) {
    append(errors, yield* validateVersion(version, `spec.versions[${index}]`, checkRules));
  }
  const shown = versions.map(({ name, served, storage }) => ({ name, served, storage }));
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(fieldInvalid('spec.versions', shown, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(fieldInvalid('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  append(errors, validateNames(spec.names, 'spec.names'), validateConversion(spec, previous));
  return errors;
}

function validateNames(names: DefinitionNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const label = (at: string, text: string): void => {
    const problems = isDns1035Label(text);
    if (problems.length > 0) errors.push(fieldInvalid(`${path}.${at}`, text, problems.join(',')));
  };
  if (plural !== '') label('plural', plural);
  if (singular !== '') label('singular', singular);
  if (kind !== '') append(errors, validateKind(kind, `${path}.kind`));
  if (listKind !== '') append(errors, validateKind(listKind, `${path}.listKind`));
  for (const [index, name] of shortNames.entries()) label(`shortNames[${index}]`, name);
  if (kind !== '' && kind === listKind) {
    errors.push(fieldInvalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  for (const [index, name] of categories.entries()) label(`categories[${index}]`, name);
  return errors;
}

function* validateVersion(version: DefinitionVersion, path: string, checkRules: RuleCheck): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  const nameProblems = version.name === '' ? [] : isDns1035Label(version.name);
  if (nameProblems.length > 0) errors.push(fieldInvalid(`${path}.name`, version.name, nameProblems.join(',')));
  append(errors, deprecationErrors(version, path));
  const schema = version.schema?.openAPIV3Schema;
  if (schema !== undefined) {
    const at = `${path}.schema.openAPIV3Schema`;
    const found = yield* schemaErrors(schema, version, at);
    append(errors, found);
    // An invalid schema has no types for expressions.
    if (found.length === 0 && hasRules(schema)) append(errors, checkRules(schema, at));
  }
  const scale = version.subresources?.scale;
  if (scale !== undefined) append(errors, scaleErrors(scale, `${path}.subresources.scale`));
  for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
    append(errors, columnErrors(column, `${path}.additionalPrinterColumns[${index}]`));
  }
  append(errors, selectableFieldErrors(version, `${path}.selectableFields`));
  return errors;
}

function deprecationErrors({ deprecated, deprecationWarning: text }: DefinitionVersion, path: string): FieldError[] {
  if (text === undefined) return [];
  const invalid = (detail: string): FieldError => fieldInvalid(`${path}.deprecationWarning`, text, detail);
  if (deprecated !== true) return [invalid('can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(text) > 256) errors.push(invalid('must be <= 256 characters long'));
  if (text === '') errors.push(invalid('must not be an empty string'));
  const characters = [...text];
  const odd = characters.findIndex((character) => !isPrintable(character));
  if (odd >= 0) {
    const index = Buffer.byteLength(characters.slice(0, odd).join(''));
    const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
    errors.push(invalid(detail));
  }
  return errors;
}

/** With a status subresource, parts of the schema are validated separately, so the root allows only some fields. */
const FORBIDDEN_AT_ROOT_WITH_STATUS: readonly (keyof JsonSchemaProps)[] = [
  'nullable',
  'default',
  'enum',
  'maxProperties',
  'minProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'additionalProperties',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
];

const ALLOWED_AT_ROOT =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]';

function* schemaErrors(
  schema: JsonSchemaProps,
  { subresources }: DefinitionVersion,
  path: string,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (subresources?.status !== undefined) {
    if ((schema.type ?? '') !== '' && schema.type !== 'object') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.push(fieldInvalid(`${path}.type`, schema.type, detail));
    } else if (FORBIDDEN_AT_ROOT_WITH_STATUS.some((name) => schema[name] !== undefined && schema[name] !== false)) {
      const detail = `only ${ALLOWED_AT_ROOT} fields are allowed at the root of the schema if the status subresource is enabled`;
      errors.push(fieldInvalid(path, '', detail));
    }
  }
  if (schema.nullable === true) errors.push(fieldForbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const rules = yield* validateSchemaRules(schema, path);
  // The structural checks report a schema that cannot be parsed.
  const structural = yield* validateStructural(schema, path);
  if (structural.length > 0) append(errors, structural);
  else if (rules.length === 0) append(errors, yield* validateDefaults(schema, path));
  append(errors, rules);
  if (errors.length === 0 && (schema.$schema ?? '') !== '') {
    errors.push(fieldInvalid(path, '', "OpenAPIV3Schema 'schema' is not supported"));
  }
  return errors;
}

function scaleErrors(scale: DefinitionScale, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (name: keyof DefinitionScale, roots: readonly string[], detail: string): void => {
    const text = scale[name] ?? '';
    if (text === '') return;
    if (!text.startsWith('.')) {
      errors.push(fieldInvalid(`${path}.${name}`, text, 'must be a simple json path starting with .'));
    } else if (!roots.some((root) => text.startsWith(`.${root}.`))) {
      errors.push(fieldInvalid(`${path}.${name}`, text, `should be a json path under ${detail}`));
    }
  };
  check('specReplicasPath', ['spec'], '.spec');
  check('statusReplicasPath', ['status'], '.status');
  check('labelSelectorPath', ['spec', 'status'], 'either .spec or .status');
  return errors;
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnErrors({ type, format = '', jsonPath }: CustomColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (String(type) !== '' && !COLUMN_TYPES.includes(type)) {
    errors.push(fieldInvalid(`${path}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`));
  }
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    errors.push(fieldInvalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (jsonPath !== '' && !jsonPath.startsWith('.')) {
    errors.push(fieldInvalid(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
  }
  return errors;
}

const MAX_SELECTABLE_FIELDS = 8;

function selectableFieldErrors({ selectableFields = [], schema }: DefinitionVersion, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const root = schema?.openAPIV3Schema;
  if (selectableFields.length === 0 || root === undefined) return errors;
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const at = `${path}[${index}].jsonPath`;
    if (jsonPath === '') continue;
    const found = findFieldPath(jsonPath, root);
    if (found.outcome === 'invalid') {
      errors.push(fieldInvalid(at, jsonPath, `is an invalid path: ${found.why}`));
      continue;
    }
    if (found.root === 'metadata') errors.push(fieldInvalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(fieldInvalid(at, jsonPath, detail));
    }
    if (seen.has(jsonPath)) errors.push(fieldDuplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(fieldTooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}
