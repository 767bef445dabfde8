import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { LabelSelectorObject } from '../../../api/validation/labels.ts';
import { type MatchResources, type MatchResourcesSource, readSelectors } from '../matching/match-resources.ts';
import type { Rule } from '../matching/rule.ts';
import type { MatchCondition } from '../webhook/configuration.ts';

/** The stored ValidatingAdmissionPolicy and its binding (admissionregistration.k8s.io/v1), with defaults. */

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface PolicyVariable {
  readonly name: string;
  readonly expression: string;
}

export interface PolicyValidation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface PolicyAuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface PolicyMatchResources extends MatchResourcesSource {
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
}

/** Checks common to validating and mutating policies. */
export interface AdmissionPolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: PolicyMatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly PolicyVariable[];
}

export interface AdmissionPolicy extends KubeObject {
  spec?: AdmissionPolicySpec;
}

export interface PolicySpec extends AdmissionPolicySpec {
  readonly validations?: readonly PolicyValidation[];
  readonly auditAnnotations?: readonly PolicyAuditAnnotation[];
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: PolicySpec;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelectorObject;
  readonly parameterNotFoundAction?: string;
}

export interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: PolicyMatchResources;
  readonly validationActions?: readonly string[];
}

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: BindingSpec;
}

export const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' } as const;
export const BINDINGS = {
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
} as const;

/** Without rules it matches everything, which is allowed only in bindings. */
export function readMatchResources(source: PolicyMatchResources): MatchResources {
  const { resourceRules = [], excludeResourceRules = [] } = source;
  return {
    ...readSelectors(source),
    rules: resourceRules.length === 0 ? undefined : resourceRules,
    excludeRules: excludeResourceRules,
  };
}
