import { stringifyExactJson } from '../../base/json/exact-json.ts';
import type { FieldError, FieldErrorReason } from '../../api/field-error.ts';
import { fieldInvalid, formatFieldError } from '../../api/field-error.ts';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { customSelectableFields } from '../../api/selectors/selectable-fields.ts';
import { newForbidden, type StatusError } from '../../api/status-error.ts';
import { validateEmbedded } from '../../api/structural/embedded-metadata.ts';
import { validateListTypes } from '../../api/structural/list-type.ts';
import { valueAt } from '../endpoints/subresources/custom-scale.ts';
import type { CustomVersions, ScalePaths, Strategy, StorageConversion, StrategyContext } from '../registry/strategy.ts';
import type { DefinitionVersion } from './definition.ts';
import { finalizerWarnings } from './finalizer-warnings.ts';
import type { VersionSchema } from './version-schema.ts';
import type { CustomColumn } from '../printers/custom-columns.ts';
import { JsonPathError, parseJsonPath } from '../printers/cells/json-path.ts';

export interface CustomResourceStrategyOptions {
  readonly version: DefinitionVersion;
  readonly schema: VersionSchema;
  readonly conversion: StorageConversion;
  readonly versions: CustomVersions;
  /** True if the definition is being deleted or is gone. */
  readonly terminating: () => boolean;
}

/** The strategy of custom resources, with the schema of their version (apiextensions `registry/customresource`). */
export function customResourceStrategy(options: CustomResourceStrategyOptions): Strategy {
  const { version, schema, conversion, versions, terminating } = options;
  const scale = scalePaths(version);
  return {
    schema,
    conversion,
    versions,
    printerColumns: servedColumns(version.additionalPrinterColumns ?? []),
    selectableFields: customSelectableFields((version.selectableFields ?? []).map(({ jsonPath }) => jsonPath)),
    ...(scale === undefined ? {} : { scale }),
    ...(schema.props === undefined ? {} : { openApiSchema: schema.props }),
    prepareForCreate(object, { info, warn }) {
      if (terminating()) throw newTerminating(info, object);
      for (const text of finalizerWarnings(object)) warn(text);
      return schema.prepareRules();
    },
    stored(object, { info }) {
      // An object that is stored after the last list of the deletion would never be deleted. While the definition exists, that list is
      // still to come.
      if (terminating()) throw newTerminating(info, object);
    },
    prepareForUpdate(next, previous, { subresource, warn }) {
      if (subresource === '') for (const text of finalizerWarnings(next, previous)) warn(text);
      return schema.prepareRules();
    },
    validate(object) {
      const errors = [
        ...schema.validator.validate(object),
        ...scaleErrors(object, scale, 'whole'),
        ...validateEmbedded(object, schema.structural),
        ...validateListTypes(object, schema.structural),
      ];
      return [...errors, ...ruleErrors(schema, { errors, object })];
    },
    validateUpdate(next, previous, { subresource, warn }) {
      const errors = validateUpdate({ next, previous, subresource }, schema, scale);
      return [...errors, ...ruleErrors(schema, { errors, object: next, previous: { value: previous }, warn })];
    },
  };
}

/** The refusal of a create while the definition is terminating (API-457). */
function newTerminating(info: ResourceInfo, { metadata }: KubeObject): StatusError {
  const why = 'create not allowed while custom resource definition is terminating';
  return newForbidden(info, metadata?.name ?? '', why);
}

interface Judged {
  /** Errors of the earlier checks. */
  readonly errors: readonly FieldError[];
  readonly object: KubeObject;
  readonly previous?: { readonly value: KubeObject };
  readonly warn?: (text: string) => void;
}

/** After one of these errors, rules may lack the values that they need. */
const BLOCKING: ReadonlySet<FieldErrorReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** An existing error in an unchanged value only causes a warning (API-471). */
function ruleErrors(schema: VersionSchema, { errors, object, previous, warn }: Judged): readonly FieldError[] {
  const { rules } = schema;
  if (rules === undefined) return [];
  if (errors.some(({ reason }) => BLOCKING.has(reason))) return [fieldInvalid('<nil>', null, NOT_CHECKED)];
  const found = rules.validate(object, previous === undefined ? {} : { previous });
  for (const warning of found.warnings) warn?.(formatFieldError(warning));
  return found.errors;
}

interface Updated extends Pick<StrategyContext, 'subresource'> {
  readonly next: KubeObject;
  readonly previous: KubeObject;
}

/** Existing errors may stay (API-470). */
function validateUpdate(
  { next, previous, subresource }: Updated,
  schema: VersionSchema,
  scale: ScalePaths | undefined,
): FieldError[] {
  const listErrors = validateListTypes(next, schema.structural);
  const newListErrors =
    listErrors.length > 0 && validateListTypes(previous, schema.structural).length > 0 ? [] : listErrors;
  if (subresource === 'status') {
    const { status } = next;
    const errors =
      status === undefined
        ? []
        : schema.statusValidator.validate(status, { path: 'status', previous: { value: previous['status'] } });
    return [...errors, ...scaleErrors(next, scale, 'status'), ...newListErrors];
  }
  return [
    ...schema.validator.validate(next, { previous: { value: previous } }),
    ...scaleErrors(next, scale, 'whole'),
    ...validateEmbedded(next, schema.structural),
    ...newListErrors,
  ];
}

export function scalePaths({ subresources }: DefinitionVersion): ScalePaths | undefined {
  const scale = subresources?.scale;
  if (scale === undefined) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  return {
    specReplicas: specReplicasPath,
    statusReplicas: statusReplicasPath,
    ...(labelSelectorPath === '' ? {} : { labelSelector: labelSelectorPath }),
  };
}

const INT32_MAX = 2 ** 31 - 1;

/** Values that the Scale contains must be valid in a Scale. */
function scaleErrors(object: KubeObject, scale: ScalePaths | undefined, part: 'whole' | 'status'): FieldError[] {
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  for (const path of part === 'status' ? [scale.statusReplicas] : [scale.specReplicas, scale.statusReplicas]) {
    const value = valueAt(object, path) ?? 0;
    if (typeof value !== 'bigint' && !isWhole(value)) {
      errors.push(
        fieldInvalid(
          path,
          0,
          `${path} accessor error: ${goText(value)} is of the type ${goType(value)}, expected int64`,
        ),
      );
    } else if (value < 0) errors.push(fieldInvalid(path, value, 'should be a non-negative integer'));
    else if (value > INT32_MAX) errors.push(fieldInvalid(path, value, `should be less than or equal to ${INT32_MAX}`));
  }
  const { labelSelector } = scale;
  const selector = labelSelector === undefined ? '' : (valueAt(object, labelSelector) ?? '');
  if (labelSelector !== undefined && typeof selector !== 'string') {
    const detail = `${labelSelector} accessor error: ${goText(selector)} is of the type ${goType(selector)}, expected string`;
    errors.push(fieldInvalid(labelSelector, '', detail));
  }
  return errors;
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

function goText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyExactJson(value);
}

function goType(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

/** The columns up to the first with an invalid path. A definition with an invalid column is served nevertheless (API-435). */
function servedColumns(columns: readonly CustomColumn[]): readonly CustomColumn[] {
  const bad = columns.findIndex(({ jsonPath }) => !isReadable(jsonPath));
  return bad < 0 ? columns : columns.slice(0, bad);
}

function isReadable(path: string): boolean {
  try {
    parseJsonPath(path);
    return true;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}
