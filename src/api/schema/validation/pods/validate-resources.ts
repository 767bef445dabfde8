import { append } from '../../../../base/collections/append.ts';
import type { FieldError } from '../../../field-error.ts';
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotFound, fieldRequired } from '../../../field-error.ts';
import type { Quantity } from '../../../quantity.ts';
import { compareQuantities, parseQuantity, quantityAsNumber, QuantityError } from '../../../quantity.ts';
import { isDns1123Label } from '../../../validation/names.ts';
import type { Fields } from '../../fields/defaults-fields.ts';
import { isGiven, objectAt, objectsAt, textAt } from '../../fields/defaults-fields.ts';
import {
  isHugePages,
  isOvercommitAllowed,
  isWholeNumber,
  pageSizeOf,
  validateContainerResourceName,
} from '../../fields/resource-names.ts';
import { invalidFor } from '../../fields/validate-fields.ts';

/** Resource requirements of containers, and amounts of resources in general (upstream `validateResourceRequirements`). */

const ZERO = parseQuantity('0');
const NOTHING: Readonly<Fields> = {};
const COMPUTE = ['cpu', 'memory'];
/** Digits with a suffix of at least one. Most amounts have this form, which is valid for every resource. */
const WHOLE_AMOUNT = /^\d+(?:[kMGTPE]|[KMGTPE]i)?$/;
/** Digits with a suffix below one, which are valid for resources with fractions. */
const PARTIAL_AMOUNT = /^\d+[num]$/;
/** Amounts that fit a double and are far below the limits of quantities. */
const PLAIN_AMOUNT = /^(\d{1,9})(m|[kMGT]|[KMG]i)?$/;

/** An amount of a named resource: not negative, and whole if the resource has no fractions. */
export function validateAmount(name: string, amount: string, path: string): FieldError[] {
  if (WHOLE_AMOUNT.test(amount) || (PARTIAL_AMOUNT.test(amount) && !isWholeNumber(name))) return [];
  const quantity = parseQuantity(amount);
  const errors: FieldError[] = [];
  if (compareQuantities(quantity, ZERO) < 0) {
    errors.push(fieldInvalid(path, amount, 'must be greater than or equal to 0'));
  }
  if (isWholeNumber(name) && !Number.isInteger(quantityAsNumber(quantity))) {
    errors.push(fieldInvalid(path, amount, 'must be an integer'));
  }
  return errors;
}

/** Maximum number of missing claims in one finding. Each finding lists all claims that exist. */
const MOST_CLAIMS_TOLD = 10;

/** `resourceClaims` of a pod, parsed once for all of its containers. */
export class PodClaims {
  readonly #names: ReadonlySet<string>;
  readonly #list: string;
  #told = 0;

  constructor(spec: Fields | undefined) {
    const names = objectsAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name'));
    this.#names = new Set(names);
    this.#list = names.length === 0 ? ' which is empty' : `: ${names.sort().join(', ')}`;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** The finding for a claim that the pod does not have. */
  notFound(path: string, name: string): FieldError[] {
    if (this.#told === MOST_CLAIMS_TOLD) return [];
    this.#told += 1;
    const error = fieldNotFound(path, name);
    const detail = `must be one of the names in pod.spec.resourceClaims${this.#list}`;
    return [{ ...error, message: `${error.message}: ${detail}` }];
  }
}

interface RequirementRules {
  readonly path: string;
  readonly claims: PodClaims;
}

/** `limits`, `requests` and `claims` of a container. */
export function validateResourceRequirements(resources: Fields, rules: RequirementRules): FieldError[] {
  const { path } = rules;
  const limits = objectAt(resources, 'limits') ?? NOTHING;
  const requests = objectAt(resources, 'requests') ?? NOTHING;
  const errors: FieldError[] = [];
  for (const name of Object.keys(limits)) {
    append(errors, validateEntry(name, String(limits[name]), `${path}.limits[${name}]`));
  }
  for (const name of Object.keys(requests)) {
    const amount = String(requests[name]);
    const limit = Object.hasOwn(limits, name) ? String(limits[name]) : undefined;
    append(errors, validateEntry(name, amount, `${path}.requests[${name}]`));
    if (amount !== limit) append(errors, validateAgainstLimit(name, amount, limit, path));
  }
  if ((hasHugePages(limits) || hasHugePages(requests)) && !hasCompute(limits) && !hasCompute(requests)) {
    errors.push(fieldForbidden(path, 'HugePages require cpu or memory'));
  }
  if (isGiven(resources, 'claims')) append(errors, validateClaims(resources, rules));
  return errors;
}

/** The overhead of a pod beyond its containers, with the rules of limits. */
export function validateOverhead(spec: Fields, path: string): FieldError[] {
  return validateResourceRequirements(
    { limits: spec['overhead'] },
    { path: `${path}.overhead`, claims: new PodClaims(undefined) },
  );
}

function hasHugePages(amounts: Fields): boolean {
  return Object.keys(amounts).some(isHugePages);
}

function hasCompute(amounts: Fields): boolean {
  return COMPUTE.some((name) => Object.hasOwn(amounts, name));
}

function validateEntry(name: string, amount: string, path: string): FieldError[] {
  const errors = validateContainerResourceName(name, path);
  append(errors, validateAmount(name, amount, path));
  if (isHugePages(name) && !isMultipleOf(amount, pageSizeOf(name))) {
    errors.push(fieldInvalid(path, amount, `${amount} is not positive integer multiple of ${name}`));
  }
  return errors;
}

function isMultipleOf(amount: string, pageSize: string): boolean {
  const size = sizeOf(pageSize);
  if (size === undefined || size.unscaled <= 0n) return false;
  return Number.isInteger(quantityAsNumber(parseQuantity(amount)) / quantityAsNumber(size));
}

function sizeOf(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

function validateAgainstLimit(name: string, amount: string, limit: string | undefined, path: string): FieldError[] {
  const overcommit = isOvercommitAllowed(name);
  if (limit === undefined) {
    return overcommit ? [] : [fieldRequired(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const difference = compareAmounts(amount, limit);
  if (difference !== 0 && !overcommit) {
    return [fieldInvalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  }
  if (difference <= 0) return [];
  return [fieldInvalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)];
}

/** Compares amounts with the same suffix, which most pairs have, as plain numbers. */
function compareAmounts(a: string, b: string): number {
  const left = PLAIN_AMOUNT.exec(a);
  const right = left === null ? null : PLAIN_AMOUNT.exec(b);
  if (left !== null && right !== null && left[2] === right[2]) return Number(left[1]) - Number(right[1]);
  return compareQuantities(parseQuantity(a), parseQuantity(b));
}

/** A claim is listed whole or by request, and only once. */
function validateClaims(resources: Fields, { path, claims }: RequirementRules): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const partly = new Set<string>();
  for (const [index, claim] of objectsAt(resources, 'claims').entries()) {
    const at = `${path}.claims[${index}]`;
    const name = textAt(claim, 'name');
    const request = textAt(claim, 'request');
    if (name === '') continue;
    if (request !== '') append(errors, invalidFor(isDns1123Label(request), `${at}.request`, request));
    const key = request === '' ? name : `${name}/${request}`;
    const overlaps = request === '' && partly.has(name);
    if (seen.has(name)) errors.push(fieldDuplicate(at, name));
    else if (seen.has(key)) errors.push(fieldDuplicate(at, key));
    else if (overlaps) errors.push(fieldDuplicate(at, name));
    seen.add(key);
    if (request !== '') partly.add(name);
    if (!claims.has(name)) append(errors, claims.notFound(at, name));
  }
  return errors;
}
