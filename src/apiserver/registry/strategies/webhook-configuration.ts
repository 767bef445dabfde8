import { type FieldError, fieldForbidden } from '../../../api/field-error.ts';
import type { MatchCondition, WebhookConfiguration, WebhookType } from '../../admission/webhook/configuration.ts';
import {
  type ConfigurationRules,
  rulesForUpdate,
  validateWebhookConfiguration,
} from '../../admission/webhook/configuration-validation.ts';
import type { Strategy } from '../strategy.ts';

/** Of MutatingWebhookConfigurations and ValidatingWebhookConfigurations: they are judged before anything is called for them. */
export function webhookConfigurationStrategy(type: WebhookType): Strategy {
  const rules: ConfigurationRules = {
    type,
    sideEffects: 'none',
    reviewVersions: 'known',
    names: 'unique',
    validateConditions,
  };
  return {
    validate: (object) => validateWebhookConfiguration(object as WebhookConfiguration, rules),
    validateUpdate: (next, previous) =>
      validateWebhookConfiguration(
        next as WebhookConfiguration,
        rulesForUpdate(rules, previous as WebhookConfiguration),
      ),
  };
}

/** API-356. */
function validateConditions(conditions: readonly MatchCondition[], path: string): FieldError[] {
  return conditions.length === 0 ? [] : [fieldForbidden(path, 'not evaluated by this server')];
}
