import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../../api/validation/labels.ts';
import type { WebhookClientConfig } from '../../webhook-client/client-config.ts';
import type { Rule } from '../matching/rule.ts';

/**
 * The stored MutatingWebhookConfiguration and ValidatingWebhookConfiguration (admissionregistration.k8s.io/v1), with defaults (API-354).
 */

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  /** Null if absent. Such a configuration cannot be stored. */
  readonly sideEffects?: string | null;
  readonly timeoutSeconds?: number;
  /** Null if absent. Such a configuration cannot be stored. */
  readonly admissionReviewVersions?: readonly string[] | null;
  readonly matchConditions?: readonly MatchCondition[];
  /** Only for mutating webhooks. */
  readonly reinvocationPolicy?: string;
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly Webhook[];
}

export type WebhookType = 'mutating' | 'validating';

export const WEBHOOK_RESOURCES = {
  mutating: { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations' },
  validating: { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' },
} as const satisfies Record<WebhookType, object>;
