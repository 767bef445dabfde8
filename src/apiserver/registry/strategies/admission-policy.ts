import type * as policyValidation from '../../admission/policy/policy-validation.ts';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../admission/policy/validating-policy.ts';
import type { Strategy } from '../strategy.ts';

type PolicyRules = typeof policyValidation;

/** Of ValidatingAdmissionPolicies. */
export function validatingPolicyStrategy(): Strategy {
  const rules = policyRules();
  return {
    statusKeepsMetadata: true,
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validatePolicy(object as ValidatingAdmissionPolicy),
    validateUpdate: (next, _previous, { subresource }) =>
      subresource === '' ? rules.loaded().validatePolicy(next as ValidatingAdmissionPolicy) : [],
  };
}

/** Of ValidatingAdmissionPolicyBindings. */
export function validatingPolicyBindingStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateBinding(object as ValidatingAdmissionPolicyBinding),
    validateUpdate: (next) => rules.loaded().validateBinding(next as ValidatingAdmissionPolicyBinding),
  };
}

/** What compiles expressions is loaded with the first policy: preparation comes before validation, and waits for it. */
function policyRules(): { readonly load: () => Promise<void>; readonly loaded: () => PolicyRules } {
  let rules: PolicyRules | undefined;
  return {
    async load() {
      rules ??= await import('../../admission/policy/policy-validation.ts');
    },
    loaded() {
      if (rules === undefined) throw new Error('a policy is validated before it was prepared');
      return rules;
    },
  };
}
