import { equalJson } from '../../../api/codec/json/json-value.ts';
import type { FieldError } from '../../../api/field-error.ts';
import type * as expressionValidation from '../../admission/cel/expression-validation.ts';
import type { MatchCondition, WebhookConfiguration, WebhookType } from '../../admission/webhook/configuration.ts';
import {
  type ConfigurationRules,
  rulesForUpdate,
  validateWebhookConfiguration,
} from '../../admission/webhook/configuration-validation.ts';
import type { Strategy } from '../strategy.ts';

type ExpressionValidation = typeof expressionValidation;

/**
 * The strategy of MutatingWebhookConfigurations and ValidatingWebhookConfigurations, which are validated before any webhook is called for
 * them.
 */
export function webhookConfigurationStrategy(type: WebhookType): Strategy {
  // Preparation runs before validation, and loads the expression compiler if there are expressions.
  let expressions: ExpressionValidation | undefined;
  const load = async (configuration: WebhookConfiguration): Promise<void> => {
    if (conditionsOf(configuration).length > 0) {
      expressions ??= await import('../../admission/cel/expression-validation.ts');
    }
  };
  const rules: ConfigurationRules = { type, sideEffects: 'none', reviewVersions: 'known', names: 'unique' };
  const judging: ConfigurationRules = {
    ...rules,
    validateConditions: (conditions, path): FieldError[] =>
      expressions?.validateMatchConditions(conditions, path, { params: 'none', authorizer: 'declared' }) ?? [],
  };
  return {
    prepareForCreate: (object) => load(object),
    prepareForUpdate: (next) => load(next),
    validate: (object) => validateWebhookConfiguration(object as WebhookConfiguration, judging),
    validateUpdate(next, previous) {
      const unchanged = equalJson(conditionsOf(next), conditionsOf(previous));
      const kept = rulesForUpdate(unchanged ? rules : judging, previous as WebhookConfiguration);
      return validateWebhookConfiguration(next as WebhookConfiguration, kept);
    },
  };
}

function conditionsOf({ webhooks = [] }: WebhookConfiguration): readonly MatchCondition[] {
  return webhooks.flatMap(({ matchConditions = [] }) => matchConditions);
}
