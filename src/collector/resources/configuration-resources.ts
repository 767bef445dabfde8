import type { GroupResourceName } from './deletable-resources.ts';

/** What a change of an object of this resource may change for all others. */
export type ConfigurationEffect =
  /** Which resources are served (BETTER-3). */
  | 'discovery'
  /** Which writes are accepted (BETTER-8). */
  | 'admission';

const effects: ReadonlyMap<string, ConfigurationEffect> = new Map([
  ['apiextensions.k8s.io/customresourcedefinitions', 'discovery'],
  ['apiregistration.k8s.io/apiservices', 'discovery'],
  ['admissionregistration.k8s.io/validatingwebhookconfigurations', 'admission'],
  ['admissionregistration.k8s.io/mutatingwebhookconfigurations', 'admission'],
  ['admissionregistration.k8s.io/validatingadmissionpolicies', 'admission'],
  ['admissionregistration.k8s.io/validatingadmissionpolicybindings', 'admission'],
  ['admissionregistration.k8s.io/mutatingadmissionpolicies', 'admission'],
  ['admissionregistration.k8s.io/mutatingadmissionpolicybindings', 'admission'],
]);

export function configurationEffect({ group, resource }: GroupResourceName): ConfigurationEffect | undefined {
  return effects.get(`${group}/${resource}`);
}
