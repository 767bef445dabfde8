import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../admission/policy/mutating-policy.ts';
import type * as policyValidation from '../../admission/policy/mutating-policy-validation.ts';
import type { Strategy } from '../strategy.ts';

type PolicyRules = typeof policyValidation;

/** Of MutatingAdmissionPolicies. */
export function mutatingPolicyStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateMutatingPolicy(object as MutatingAdmissionPolicy),
    validateUpdate: (next) => rules.loaded().validateMutatingPolicy(next as MutatingAdmissionPolicy),
  };
}

/** Of MutatingAdmissionPolicyBindings. */
export function mutatingPolicyBindingStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateMutatingBinding(object as MutatingAdmissionPolicyBinding),
    validateUpdate: (next) => rules.loaded().validateMutatingBinding(next as MutatingAdmissionPolicyBinding),
  };
}

/** What compiles expressions is loaded with the first policy: preparation comes before validation, and waits for it. */
function policyRules(): { readonly load: () => Promise<void>; readonly loaded: () => PolicyRules } {
  let rules: PolicyRules | undefined;
  return {
    async load() {
      rules ??= await import('../../admission/policy/mutating-policy-validation.ts');
    },
    loaded() {
      if (rules === undefined) throw new Error('a policy is validated before it was prepared');
      return rules;
    },
  };
}
