import type { FieldError } from '../field-error.ts';
import { fieldNotSupported, fieldRequired } from '../field-error.ts';
import type { FieldInfo } from '../kinds/type-table.ts';
import { fieldsOf, META_V1 } from '../kinds/type-table.ts';
import type { LabelSelectorObject } from '../validation/labels.ts';
import { validateLabelSelector } from '../validation/labels.ts';
import type { Fields } from './defaults-fields.ts';
import { supportedValues } from './supported-values.ts';

const LABEL_SELECTOR = `${META_V1}.LabelSelector`;

/** Fields the published schema calls required although the server takes them empty, or checks them with other words. */
const NOT_REQUIRED: ReadonlySet<string> = new Set([
  'api/batch/v1.PodFailurePolicy/rules',
  'api/core/v1.HTTPHeader/value',
  'api/core/v1.LimitRangeSpec/limits',
  'api/core/v1.Sysctl/value',
  'api/rbac/v1.PolicyRule/verbs',
  'api/storage/v1.CSINodeSpec/drivers',
]);

interface FieldCheck {
  readonly name: string;
  /** `text`: must not be empty. `presence`: must be there. */
  readonly requires: 'nothing' | 'text' | 'presence';
  readonly supported: readonly string[] | undefined;
  /** Type to go on with: of the field, of its items or of its values. */
  readonly nested: string | undefined;
}

/** Per type, only the fields with something to check. Types refer to each other in circles, so entries are made late. */
const checks = new Map<string, readonly FieldCheck[]>();
const hasChecks = new Map<string, boolean>();

/**
 * What the type table can say about a decoded object: required fields, closed sets of values, well-formed label selectors
 * (API-502). `status` is the controllers' and is not checked.
 */
export function validateStructure(object: Fields, typeName: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const check of checksOf(typeName)) {
    if (check.name !== 'status') validateField(object, check, { path: check.name, errors });
  }
  return errors;
}

interface Finding {
  readonly path: string;
  readonly errors: FieldError[];
}

function validateField(object: Fields, check: FieldCheck, at: Finding): void {
  const value = object[check.name];
  const absent = value === undefined || value === null;
  if (check.requires !== 'nothing' && (absent || (check.requires === 'text' && value === ''))) {
    at.errors.push(fieldRequired(at.path));
    return;
  }
  if (absent) return;
  for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (check.supported !== undefined && item !== '' && !check.supported.includes(item as string)) {
      at.errors.push(fieldNotSupported(at.path, item, check.supported));
    }
  }
  if (check.nested !== undefined) validateNested(value, check.nested, at);
}

function validateNested(value: unknown, type: string, at: Finding): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      validateNested(item, type, { path: `${at.path}[${index}]`, errors: at.errors });
    }
    return;
  }
  if (type === LABEL_SELECTOR) {
    at.errors.push(...validateLabelSelector(value as LabelSelectorObject, at.path));
    return;
  }
  if (type.startsWith('map:')) {
    for (const [key, item] of Object.entries(value)) {
      validateNested(item, type.slice('map:'.length), { path: `${at.path}[${key}]`, errors: at.errors });
    }
    return;
  }
  for (const check of checksOf(type)) {
    validateField(value as Fields, check, { path: `${at.path}.${check.name}`, errors: at.errors });
  }
}

function checksOf(typeName: string): readonly FieldCheck[] {
  let found = checks.get(typeName);
  if (found === undefined) {
    found = fieldsOf(typeName)
      .map((field) => checkOf(typeName, field))
      .filter((check) => check.requires !== 'nothing' || check.supported !== undefined || check.nested !== undefined);
    checks.set(typeName, found);
  }
  return found;
}

function checkOf(owner: string, field: FieldInfo): FieldCheck {
  const container = field.pointer || field.list || field.map;
  const required = field.required && !NOT_REQUIRED.has(`${owner}/${field.name}`);
  const requires = !required ? 'nothing' : container ? 'presence' : field.type === 'string' ? 'text' : 'nothing';
  const nested = reachesChecks(field.type, new Set()) ? `${field.map ? 'map:' : ''}${field.type}` : undefined;
  return { name: field.name, requires, supported: supportedValues(owner, field.name), nested };
}

/** True if some object inside a value of the type has anything to check; most of them have not. */
function reachesChecks(typeName: string, visiting: Set<string>): boolean {
  const known = hasChecks.get(typeName);
  if (known !== undefined) return known;
  if (typeName === LABEL_SELECTOR) return true;
  // Metadata has a validation of its own.
  if (typeName === `${META_V1}.ObjectMeta` || visiting.has(typeName)) return false;
  visiting.add(typeName);
  const reaches = fieldsOf(typeName).some(
    (field) =>
      (field.required && (field.type === 'string' || field.pointer || field.list || field.map)) ||
      supportedValues(typeName, field.name) !== undefined ||
      reachesChecks(field.type, visiting),
  );
  // Inside a circle the answer of a member is only known when the whole circle was seen.
  if (reaches || visiting.size === 1) hasChecks.set(typeName, reaches);
  return reaches;
}
