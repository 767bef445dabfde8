import type { Fields } from '../fields/defaults-fields.ts';
import { objectAt, objectsAt, setIfUnset } from '../fields/defaults-fields.ts';

/** Sets the port of a service for webhook calls if it is absent. */
export function defaultServiceReference(clientConfig: Fields | undefined): void {
  const service = objectAt(clientConfig, 'service');
  if (service !== undefined) setIfUnset(service, 'port', 443);
}

function defaultMatching(owner: Fields | undefined): void {
  if (owner === undefined) return;
  setIfUnset(owner, 'matchPolicy', 'Equivalent');
  setIfUnset(owner, 'namespaceSelector', {});
  setIfUnset(owner, 'objectSelector', {});
}

function defaultRules(owner: Fields | undefined, field: string): void {
  for (const rule of objectsAt(owner, field)) setIfUnset(rule, 'scope', '*');
}

/** Sets the defaults that both sorts of webhooks have (API-354). */
function defaultWebhook(webhook: Fields): void {
  setIfUnset(webhook, 'failurePolicy', 'Fail');
  defaultMatching(webhook);
  setIfUnset(webhook, 'timeoutSeconds', 10);
  defaultServiceReference(objectAt(webhook, 'clientConfig'));
  defaultRules(webhook, 'rules');
}

export function defaultValidatingWebhooks(configuration: Fields): void {
  for (const webhook of objectsAt(configuration, 'webhooks')) defaultWebhook(webhook);
}

export function defaultMutatingWebhooks(configuration: Fields): void {
  for (const webhook of objectsAt(configuration, 'webhooks')) {
    defaultWebhook(webhook);
    setIfUnset(webhook, 'reinvocationPolicy', 'Never');
  }
}

/** Validating and mutating admission policies. */
export function defaultAdmissionPolicy(policy: Fields): void {
  const spec = objectAt(policy, 'spec');
  if (spec === undefined) return;
  setIfUnset(spec, 'failurePolicy', 'Fail');
  defaultMatchResources(objectAt(spec, 'matchConstraints'));
}

export function defaultAdmissionPolicyBinding(binding: Fields): void {
  defaultMatchResources(objectAt(objectAt(binding, 'spec'), 'matchResources'));
}

function defaultMatchResources(resources: Fields | undefined): void {
  defaultMatching(resources);
  defaultRules(resources, 'resourceRules');
  defaultRules(resources, 'excludeResourceRules');
}
