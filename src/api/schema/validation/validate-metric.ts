import { append } from '../../../base/collections/append.ts';
import type { FieldError } from '../../field-error.ts';
import { fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from '../../field-error.ts';
import { compareQuantities, parseQuantity } from '../../quantity.ts';
import { isPathSegmentName } from '../../validation/names.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { isGiven, numberAt, objectAt, textAt } from '../fields/defaults-fields.ts';
import { invalidFor } from '../fields/validate-fields.ts';

/** The metrics that an autoscaler uses. */

const SOURCES: ReadonlyMap<string, string> = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
]);
const TARGETS = ['Utilization', 'Value', 'AverageValue'];
/** The order in which upstream looks for a source; the first one present is checked. */
const LOOK_UP = ['object', 'external', 'pods', 'resource', 'containerResource'];

/** An object of any kind, in the same namespace. */
export function validateReference(reference: Fields | undefined, path: string): FieldError[] {
  return ['kind', 'name'].flatMap((field) => {
    const value = textAt(reference, field);
    const at = `${path}.${field}`;
    return value === '' ? [fieldRequired(at)] : invalidFor(isPathSegmentName(value), at, value);
  });
}

export function validateMetric(metric: Fields, path: string): FieldError[] {
  const type = textAt(metric, 'type');
  const wanted = SOURCES.get(type);
  const given = LOOK_UP.filter((field) => isGiven(metric, field));
  const [first] = given;
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldRequired(`${path}.type`, 'must specify a metric source type'));
  if (wanted === undefined) errors.push(fieldNotSupported(`${path}.type`, type, [...SOURCES.keys()]));
  if (first !== undefined) append(errors, validateSource(first, objectAt(metric, first) ?? {}, `${path}.${first}`));
  if (wanted !== undefined && !given.includes(wanted)) {
    errors.push(fieldRequired(`${path}.${wanted}`, 'must populate information for the given metric source'));
  }
  if (given.length === 1) return errors;
  const others = given.filter((field) => field !== wanted);
  return [
    ...errors,
    ...others.map((field) => fieldForbidden(`${path}.${field}`, 'must populate the given metric source only')),
  ];
}

function validateSource(type: string, source: Fields, path: string): FieldError[] {
  const target = objectAt(source, 'target') ?? {};
  const at = `${path}.target`;
  if (type === 'resource' || type === 'containerResource') {
    return [...validateNames(type, source, path), ...validateTarget(target, at), ...validateUtilization(target, at)];
  }
  const described = type === 'object' ? objectAt(source, 'describedObject') : undefined;
  return [
    ...(type === 'object' ? validateReference(described, `${path}.describedObject`) : []),
    ...validateMetricName(objectAt(source, 'metric'), `${path}.metric`),
    ...validateTarget(target, at),
    ...validateValues(type, target, at),
  ];
}

function validateNames(type: string, source: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(source, 'name') === '') errors.push(fieldRequired(`${path}.name`, 'must specify a resource name'));
  if (type === 'containerResource' && textAt(source, 'container') === '') {
    errors.push(fieldRequired(`${path}.container`, 'must specify a container name'));
  }
  return errors;
}

function validateMetricName(metric: Fields | undefined, path: string): FieldError[] {
  const name = textAt(metric, 'name');
  if (name === '') return [fieldRequired(`${path}.name`, 'must specify a metric name')];
  return invalidFor(isPathSegmentName(name), `${path}.name`, name);
}

function validateTarget(target: Fields, path: string): FieldError[] {
  const type = textAt(target, 'type');
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldRequired(`${path}.type`, 'must specify a metric target type'));
  if (!TARGETS.includes(type)) {
    errors.push(fieldInvalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const field of ['value', 'averageValue']) {
    const amount = textAt(target, field);
    if (amount === '' || compareQuantities(parseQuantity(amount), parseQuantity('0')) > 0) continue;
    errors.push(fieldInvalid(`${path}.${field}`, amount, 'must be positive'));
  }
  const share = numberAt(target, 'averageUtilization');
  if (share !== undefined && share < 1) {
    errors.push(fieldInvalid(`${path}.averageUtilization`, share, 'must be greater than 0'));
  }
  return errors;
}

function validateUtilization(target: Fields, path: string): FieldError[] {
  const [share, amount] = [isGiven(target, 'averageUtilization'), isGiven(target, 'averageValue')];
  if (!share && !amount) {
    const detail = 'must set either a target raw value or a target utilization';
    return [fieldRequired(`${path}.averageUtilization`, detail)];
  }
  if (!share || !amount) return [];
  const detail = 'may not set both a target raw value and a target utilization';
  return [fieldForbidden(`${path}.averageValue`, detail)];
}

function validateValues(type: string, target: Fields, path: string): FieldError[] {
  const [value, average] = [isGiven(target, 'value'), isGiven(target, 'averageValue')];
  if (type === 'pods') {
    return average ? [] : [fieldRequired(`${path}.averageValue`, 'must specify a positive target averageValue')];
  }
  if (!value && !average) {
    const detail =
      type === 'object'
        ? 'must set either a target value or averageValue'
        : 'must set either a target value for metric or a per-pod target';
    return [fieldRequired(`${path}.averageValue`, detail)];
  }
  if (type !== 'external' || !value || !average) return [];
  return [fieldForbidden(`${path}.value`, 'may not set both a target value for metric and a per-pod target')];
}
