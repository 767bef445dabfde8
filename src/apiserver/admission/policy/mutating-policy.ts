import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { AdmissionPolicySpec, BindingSpec } from './validating-policy.ts';

/** The stored MutatingAdmissionPolicy and its binding (admissionregistration.k8s.io/v1), with defaults. */

export interface Mutation {
  readonly patchType?: string;
  readonly applyConfiguration?: { readonly expression?: string };
  readonly jsonPatch?: { readonly expression?: string };
}

export interface MutatingPolicySpec extends AdmissionPolicySpec {
  readonly mutations?: readonly Mutation[];
  /** `IfNeeded` or `Never`. */
  readonly reinvocationPolicy?: string;
}

export interface MutatingAdmissionPolicy extends KubeObject {
  spec?: MutatingPolicySpec;
}

export interface MutatingAdmissionPolicyBinding extends KubeObject {
  spec?: Omit<BindingSpec, 'validationActions'>;
}

export function expressionOf({ patchType, applyConfiguration, jsonPatch }: Mutation): string {
  return (patchType === 'JSONPatch' ? jsonPatch?.expression : applyConfiguration?.expression) ?? '';
}

export const MUTATING_POLICIES = {
  policies: { group: 'admissionregistration.k8s.io', resource: 'mutatingadmissionpolicies' },
  bindings: { group: 'admissionregistration.k8s.io', resource: 'mutatingadmissionpolicybindings' },
} as const;
