import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../api/field-error.ts';
import { validateCaBundle, validateClientConfig } from '../webhook-client/client-config-validation.ts';
import { conversionReviewVersion } from './conversion-review.ts';
import { type Definition, type DefinitionSpec, isEstablished, type WebhookConversion } from './definition.ts';
import { validateReviewVersionNames } from '../webhook-client/review-versions.ts';

const PATH = 'spec.conversion';
/** Upstream uses the field names of its internal form of a definition, which is flat. */
const CLIENT_CONFIG = `${PATH}.webhookClientConfig`;
const REVIEW_VERSIONS = `${PATH}.conversionReviewVersions`;

/** Validates `spec.conversion` (API-464; apiextensions `apis/apiextensions/validation`). Errors in `previous` may stay. */
export function validateConversion({ conversion }: DefinitionSpec, previous?: Definition): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === 'Webhook') return validateWebhook(webhook, previous);
  const errors: FieldError[] = [];
  if (strategy !== '' && strategy !== 'None') {
    errors.push(fieldNotSupported(`${PATH}.strategy`, strategy, ['None', 'Webhook']));
  }
  const detail = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig !== undefined) errors.push(fieldForbidden(CLIENT_CONFIG, detail));
  if (versions.length > 0) errors.push(fieldForbidden(REVIEW_VERSIONS, detail));
  return errors;
}

function validateWebhook(webhook: WebhookConversion | undefined, previous: Definition | undefined): FieldError[] {
  const { clientConfig, conversionReviewVersions } = webhook ?? {};
  const before = previous?.spec.conversion?.webhook;
  if (clientConfig === undefined) {
    const missing = fieldRequired(CLIENT_CONFIG, 'required when strategy is set to Webhook');
    return [missing, ...validateVersions(conversionReviewVersions ?? [], before)];
  }
  return [
    ...validateClientConfig(clientConfig, CLIENT_CONFIG),
    ...(mayHaveAnyBundle(previous) ? [] : validateCaBundle(clientConfig.caBundle, `${CLIENT_CONFIG}.caBundle`)),
    ...validateVersions(conversionReviewVersions ?? [], before),
  ];
}

/** Manifests contain a placeholder that is replaced later. The definition is not established before the bundle is valid. */
function mayHaveAnyBundle(previous: Definition | undefined): boolean {
  return previous === undefined || !isEstablished(previous) || hasInvalidBundle(previous.spec);
}

/** True if the caBundle of a conversion webhook cannot be parsed. */
export function hasInvalidBundle({ conversion }: DefinitionSpec): boolean {
  return validateCaBundle(conversion?.webhook?.clientConfig?.caBundle, '').length > 0;
}

function validateVersions(versions: readonly string[], before: WebhookConversion | undefined): FieldError[] {
  if (versions.length === 0) return [fieldRequired(REVIEW_VERSIONS)];
  const errors = validateReviewVersionNames(versions, REVIEW_VERSIONS);
  const old = before?.conversionReviewVersions ?? [];
  const mayBeUnknown = old.length > 0 && conversionReviewVersion(old) === undefined;
  if (!mayBeUnknown && conversionReviewVersion(versions) === undefined) {
    errors.push(fieldInvalid(REVIEW_VERSIONS, versions, 'must include at least one of v1, v1beta1'));
  }
  return errors;
}
