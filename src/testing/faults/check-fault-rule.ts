import { inspect, types } from 'node:util';
import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { checkKeys } from '../client/check-options.ts';
import type { FaultAnswer, FaultRule } from './fault-rule.ts';
import { isObject } from '../client/given-value.ts';

const RULE_KEYS = ['match', 'times', 'probability', 'answer', 'delay', 'drop'];
const MATCH_KEYS = 'who method verb path group version resource subresource namespace name'.split(' ');
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const ANSWER_KEYS = ['status', 'reason', 'message', 'retryAfterSeconds'];

/** Refuses a rule that cannot be intended, because it would silently match nothing, or everything. */
export function checkRule(rule: FaultRule, served: readonly ResourceInfo[]): void {
  checkKeys('a fault rule', rule, RULE_KEYS);
  const { match, times = 1, probability = 1, answer: answered, delay, drop } = rule;
  if (answered === undefined && delay === undefined && drop === undefined) {
    throw new TypeError('a fault rule does nothing without answer, delay or drop');
  }
  checkMatch(match, served);
  if (!isIntegerWithin(times, 1)) throw new RangeError(`times is a positive integer, not ${times}`);
  if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1)) {
    throw new RangeError(`a probability is 0 to 1, not ${probability}`);
  }
  if (delay !== undefined && !(Number.isFinite(delay) && delay >= 0)) {
    throw new RangeError(`a delay is a finite number from 0, not ${delay}`);
  }
  if (drop !== undefined && drop !== 'request' && drop !== 'response') {
    throw new TypeError(`drop is request or response, not ${String(drop)}`);
  }
  if (answered !== undefined) checkAnswer(answered);
}

function checkMatch(match: unknown, served: readonly ResourceInfo[]): void {
  if (typeof match === 'function') {
    if (!types.isAsyncFunction(match)) return;
    throw new TypeError('match of a fault rule answers at once, with true or false: it cannot be async');
  }
  if (!isObject(match)) {
    const given = match === undefined || match === null ? '' : `, not ${inspect(match)}`;
    throw new TypeError(`a fault rule needs match: an object or a function${given}`);
  }
  checkKeys('match of a fault rule', match, MATCH_KEYS);
  for (const [field, value] of Object.entries(match)) if (value !== undefined) checkField(field, value, served);
}

function checkField(field: string, value: unknown, served: readonly ResourceInfo[]): void {
  const refuse = (meant: string): never => {
    throw new TypeError(`match.${field} of a fault rule is ${meant}, not ${inspect(value)}`);
  };
  if (typeof value !== 'string') return refuse('a string, or match is a function of the request');
  if (field === 'verb' && !VERBS.includes(value)) refuse(`one of ${VERBS.join(', ')}`);
  if (field === 'method' && !METHODS.includes(value)) refuse(`one of ${METHODS.join(', ')}`);
  if (field !== 'resource') return;
  if (!/^[a-z0-9-]*$/.test(value)) refuse('a plural in lower case, such as secrets');
  const plural = pluralOf(value, served);
  if (plural !== undefined) refuse(`the plural ${plural}`);
}

/** The plural if the given name is the singular or short name of a resource. A plural may be served later. */
function pluralOf(name: string, served: readonly ResourceInfo[]): string | undefined {
  if (served.some(({ resource }) => resource === name)) return undefined;
  return served.find(({ singular, shortNames }) => singular === name || shortNames.includes(name))?.resource;
}

function checkAnswer(answered: FaultAnswer): void {
  if (typeof answered !== 'object' || answered === null) {
    throw new TypeError(`answer of a fault rule is an object with a status, not ${String(answered)}`);
  }
  checkKeys('answer of a fault rule', answered, ANSWER_KEYS);
  const { status, retryAfterSeconds = 0 } = answered;
  // A status below 200 does not end an exchange.
  if (!isIntegerWithin(status, 200, 599)) throw new RangeError(`the status of an answer is 200 to 599, not ${status}`);
  if (!isIntegerWithin(retryAfterSeconds, 0)) {
    throw new RangeError(`retryAfterSeconds is an integer from 0, not ${retryAfterSeconds}`);
  }
}

function isIntegerWithin(value: number, from: number, to = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= from && value <= to;
}
