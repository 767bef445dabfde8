import type { GroupResourceName } from './deletable-resources.ts';

/** The effect that a change of an object of this resource may have on all others. */
export type ConfigurationEffect =
  /** The set of served resources (BETTER-3). */
  | 'discovery'
  /** The set of accepted writes (BETTER-8). */
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
