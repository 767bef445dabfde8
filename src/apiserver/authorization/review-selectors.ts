import { isJsonObject, textOf, textsOf } from '../../api/codec/json/json-value.ts';
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from '../../api/field-error.ts';
import { parseFieldSelector } from '../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { isLabelValue, isQualifiedName } from '../../api/validation/names.ts';
import { StatusError } from '../../api/status-error.ts';

/**
 * The selectors of an access review (API-374, `pkg/apis/authorization/validation`). No rule uses selectors, so they are only validated. An
 * unknown operator is not an error, because a newer client may know it, but the answer reports that it was ignored.
 */
const SELECTORS = ['fieldSelector', 'labelSelector'] as const;
type SelectorField = (typeof SELECTORS)[number];

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** `asked` is `spec.resourceAttributes`. */
export function selectorErrors(asked: Record<string, unknown>): FieldError[] {
  return SELECTORS.flatMap((field) => {
    const selector = asked[field];
    if (!isJsonObject(selector)) return [];
    const path = `spec.resourceAttributes.${field}`;
    const raw = textOf(selector['rawSelector']);
    const requirements = requirementsOf(selector);
    const twice = 'may not specified at the same time as requirements';
    const none = `when ${path} is specified, requirements or rawSelector is required`;
    return [
      ...(raw !== '' && requirements.length > 0 ? [fieldInvalid(`${path}.rawSelector`, raw, twice)] : []),
      ...(raw === '' && requirements.length === 0 ? [fieldRequired(`${path}.requirements`, none)] : []),
      ...requirements.flatMap((requirement, i) => requirementErrors(field, requirement, `${path}.requirements[${i}]`)),
    ];
  });
}

/** The ignored parts of the selectors, for `evaluationError` of the answer; empty if there are none. */
export function ignoredSelectors(asked: Record<string, unknown>): string {
  return SELECTORS.flatMap((field) => {
    const selector = asked[field];
    if (!isJsonObject(selector)) return [];
    const raw = textOf(selector['rawSelector']);
    const requirements = requirementsOf(selector);
    const read = requirements.filter((requirement) => isReadable(field, requirement)).length;
    if (raw === '' ? read === requirements.length : parses(field, raw)) return [];
    return [`spec.resourceAttributes.${field} ${read > 0 ? 'partially ' : ''}ignored due to parse error`];
  }).join('; ');
}

function requirementsOf({ requirements }: Record<string, unknown>): Requirement[] {
  if (!Array.isArray(requirements)) return [];
  return requirements
    .filter(isJsonObject)
    .map(({ key, operator, values }) => ({ key: textOf(key), operator: textOf(operator), values: textsOf(values) }));
}

function requirementErrors(field: SelectorField, { key, operator, values }: Requirement, path: string): FieldError[] {
  const ofLabels = field === 'labelSelector';
  return [
    ...(!ofLabels && key === '' ? [fieldRequired(`${path}.key`, 'must be specified')] : []),
    ...(isSetOperator(operator) && values.length === 0
      ? [fieldRequired(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
      : []),
    ...(isExistenceOperator(operator) && values.length > 0
      ? [fieldForbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
      : []),
    ...(ofLabels ? isQualifiedName(key).map((why) => fieldInvalid(`${path}.key`, key, why)) : []),
    ...(ofLabels
      ? values.flatMap((value, i) => isLabelValue(value).map((why) => fieldInvalid(`${path}.values[${i}]`, value, why)))
      : []),
  ];
}

function isSetOperator(operator: string): boolean {
  return operator === 'In' || operator === 'NotIn';
}

function isExistenceOperator(operator: string): boolean {
  return operator === 'Exists' || operator === 'DoesNotExist';
}

/** A field is compared with one value, as in a textual selector. */
function isReadable(field: SelectorField, { operator, values }: Requirement): boolean {
  if (isSetOperator(operator)) return field === 'labelSelector' || values.length === 1;
  return field === 'labelSelector' && isExistenceOperator(operator);
}

function parses(field: SelectorField, raw: string): boolean {
  try {
    if (field === 'fieldSelector') parseFieldSelector(raw);
    else parseLabelSelector(raw);
    return true;
  } catch (error) {
    if (error instanceof StatusError) return false;
    throw error;
  }
}
