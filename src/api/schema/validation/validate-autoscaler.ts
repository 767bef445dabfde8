import type { FieldError } from '../../field-error.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { numberAt, objectAt, textAt } from '../fields/defaults-fields.ts';
import { validateEach } from '../fields/validate-fields.ts';
import { validateMetric, validateReference } from './validate-metric.ts';

const MAX_PERIOD = 1800;
const MAX_WINDOW = 3600;
const SELECTIONS = ['Disabled', 'Max', 'Min'];
const POLICIES = ['Percent', 'Pods'];

/** Validates both versions; the older one has fewer fields. */
export function validateAutoscaler(autoscaler: Fields): FieldError[] {
  const spec = objectAt(autoscaler, 'spec');
  const max = numberAt(spec, 'maxReplicas') ?? 0;
  const min = numberAt(spec, 'minReplicas');
  const errors: FieldError[] = [];
  if (min !== undefined && min < 1) {
    errors.push(fieldInvalid('spec.minReplicas', min, 'must be greater than or equal to 1'));
  }
  if (max < 1) errors.push(fieldInvalid('spec.maxReplicas', max, 'must be greater than 0'));
  if (min !== undefined && max < min) {
    errors.push(fieldInvalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  }
  const behavior = objectAt(spec, 'behavior');
  return [
    ...errors,
    ...validateReference(objectAt(spec, 'scaleTargetRef'), 'spec.scaleTargetRef'),
    ...validateEach(spec, 'metrics', { path: 'spec', check: validateMetric }),
    ...validateRules(objectAt(behavior, 'scaleUp'), 'spec.behavior.scaleUp'),
    ...validateRules(objectAt(behavior, 'scaleDown'), 'spec.behavior.scaleDown'),
  ];
}

function validateRules(rules: Fields | undefined, path: string): FieldError[] {
  if (rules === undefined) return [];
  const window = numberAt(rules, 'stabilizationWindowSeconds') ?? 0;
  const selection = rules['selectPolicy'];
  const errors = validateWindow(window, `${path}.stabilizationWindowSeconds`);
  if (typeof selection === 'string' && !SELECTIONS.includes(selection)) {
    errors.push(fieldNotSupported(`${path}.selectPolicy`, selection, SELECTIONS));
  }
  const policies = rules['policies'];
  if (!Array.isArray(policies) || policies.length === 0) {
    errors.push(fieldRequired(`${path}.policies`, 'must specify at least one Policy'));
  }
  return [...errors, ...validateEach(rules, 'policies', { path, check: validatePolicy })];
}

function validateWindow(window: number, path: string): FieldError[] {
  if (window < 0) return [fieldInvalid(path, window, 'must be greater than or equal to zero')];
  return window > MAX_WINDOW ? [fieldInvalid(path, window, `must be less than or equal to ${MAX_WINDOW}`)] : [];
}

function validatePolicy(policy: Fields, path: string): FieldError[] {
  const type = textAt(policy, 'type');
  const value = numberAt(policy, 'value') ?? 0;
  const period = numberAt(policy, 'periodSeconds') ?? 0;
  const errors = POLICIES.includes(type) ? [] : [fieldNotSupported(`${path}.type`, type, POLICIES)];
  if (value <= 0) errors.push(fieldInvalid(`${path}.value`, value, 'must be greater than zero'));
  const at = `${path}.periodSeconds`;
  if (period <= 0) errors.push(fieldInvalid(at, period, 'must be greater than zero'));
  if (period > MAX_PERIOD) errors.push(fieldInvalid(at, period, `must be less than or equal to ${MAX_PERIOD}`));
  return errors;
}
