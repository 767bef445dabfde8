import { append } from '../../../base/collections/append.ts';
import {
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../api/field-error.ts';
import { validateLabelSelector } from '../../../api/validation/labels.ts';
import { isDns1123Subdomain } from '../../../api/validation/names.ts';
import { validateClientConfig } from '../../webhook-client/client-config-validation.ts';
import { validateRule } from '../matching/rule-validation.ts';
import { reviewVersion } from './admission-review.ts';
import type { MatchCondition, Webhook, WebhookConfiguration, WebhookType } from './configuration.ts';
import { validateReviewVersionNames } from '../../webhook-client/review-versions.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const REVIEW_VERSIONS = 'v1, v1beta1';

/** The strictness of validation: an update may keep errors of the stored configuration. */
export interface ConfigurationRules {
  readonly type: WebhookType;
  readonly sideEffects: 'none' | 'any';
  readonly reviewVersions: 'known' | 'any';
  readonly names: 'unique' | 'any';
  /** Absent if the conditions have not changed. */
  validateConditions?(conditions: readonly MatchCondition[], path: string): FieldError[];
}

/** The rules for an update of a stored configuration. */
export function rulesForUpdate(rules: ConfigurationRules, previous: WebhookConfiguration): ConfigurationRules {
  const hooks = previous.webhooks ?? [];
  const names = hooks.map(({ name }) => name);
  const harmless = hooks.every(({ sideEffects }) => NO_SIDE_EFFECTS.includes(sideEffects ?? ''));
  const known = hooks.every(({ admissionReviewVersions }) => {
    const versions = admissionReviewVersions ?? [];
    return versions.length === 0 || reviewVersion(versions) !== undefined;
  });
  return {
    ...rules,
    sideEffects: harmless ? 'none' : 'any',
    reviewVersions: known ? 'known' : 'any',
    names: new Set(names).size === names.length ? 'unique' : 'any',
  };
}

/** Follows upstream `pkg/apis/admissionregistration/validation`. Metadata is validated elsewhere. */
export function validateWebhookConfiguration(
  { webhooks = [] }: WebhookConfiguration,
  rules: ConfigurationRules,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, hook] of webhooks.entries()) {
    const path = `webhooks[${index}]`;
    append(errors, validateWebhook(hook, path, rules));
    append(errors, validateReviewVersions(hook, `${path}.admissionReviewVersions`, rules));
    if (rules.names === 'unique' && hook.name !== '' && seen.has(hook.name)) {
      errors.push(fieldDuplicate(`${path}.name`, hook.name));
    }
    seen.add(hook.name);
  }
  return errors;
}

function validateWebhook(hook: Webhook, path: string, rules: ConfigurationRules): FieldError[] {
  const { failurePolicy, matchPolicy, sideEffects, timeoutSeconds, reinvocationPolicy } = hook;
  const errors: FieldError[] = validateFullyQualifiedName(hook.name, `${path}.name`);
  for (const [index, rule] of (hook.rules ?? []).entries())
    append(errors, validateRule(rule, `${path}.rules[${index}]`));
  append(errors, oneOf(failurePolicy, FAILURE_POLICIES, `${path}.failurePolicy`));
  append(errors, oneOf(matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`));
  const allowed = rules.sideEffects === 'none' ? NO_SIDE_EFFECTS : SIDE_EFFECTS;
  if (sideEffects === undefined || sideEffects === null) {
    errors.push(fieldRequired(`${path}.sideEffects`, `must specify one of ${allowed.join(', ')}`));
  }
  append(errors, oneOf(sideEffects, allowed, `${path}.sideEffects`));
  if (timeoutSeconds !== undefined && (timeoutSeconds > 30 || timeoutSeconds < 1)) {
    const detail = 'the timeout value must be between 1 and 30 seconds';
    errors.push(fieldInvalid(`${path}.timeoutSeconds`, timeoutSeconds, detail));
  }
  append(errors, validateLabelSelector(hook.namespaceSelector, `${path}.namespaceSelector`));
  append(errors, validateLabelSelector(hook.objectSelector, `${path}.objectSelector`));
  if (rules.type === 'mutating') {
    append(errors, oneOf(reinvocationPolicy, REINVOCATION_POLICIES, `${path}.reinvocationPolicy`));
  }
  append(errors, validateClientConfig(hook.clientConfig, `${path}.clientConfig`));
  append(errors, rules.validateConditions?.(hook.matchConditions ?? [], `${path}.matchConditions`) ?? []);
  return errors;
}

function oneOf(value: string | null | undefined, supported: readonly string[], path: string): FieldError[] {
  return value === undefined || value === null || supported.includes(value)
    ? []
    : [fieldNotSupported(path, value, supported)];
}

function validateFullyQualifiedName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)];
  const problems = isDns1123Subdomain(name);
  if (problems.length > 0) return [fieldInvalid(path, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [fieldInvalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateReviewVersions(hook: Webhook, path: string, rules: ConfigurationRules): FieldError[] {
  const versions = hook.admissionReviewVersions ?? [];
  if (versions.length === 0) return [fieldRequired(path, `must specify one of ${REVIEW_VERSIONS}`)];
  const errors = validateReviewVersionNames(versions, path);
  if (rules.reviewVersions === 'known' && reviewVersion(versions) === undefined) {
    errors.push(fieldInvalid(path, versions, `must include at least one of ${REVIEW_VERSIONS}`));
  }
  return errors;
}
