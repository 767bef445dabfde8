import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from '../../admission/policy/mutating-policy.ts';
import type { Strategy } from '../strategy.ts';
import { rulesOnDemand } from './rules-on-demand.ts';

/** The strategy of MutatingAdmissionPolicies. */
export function mutatingPolicyStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateMutatingPolicy(object as MutatingAdmissionPolicy),
    validateUpdate: (next) => rules.loaded().validateMutatingPolicy(next as MutatingAdmissionPolicy),
  };
}

/** The strategy of MutatingAdmissionPolicyBindings. */
export function mutatingPolicyBindingStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateMutatingBinding(object as MutatingAdmissionPolicyBinding),
    validateUpdate: (next) => rules.loaded().validateMutatingBinding(next as MutatingAdmissionPolicyBinding),
  };
}

/** Loaded with the first policy. */
const policyRules = () => rulesOnDemand(() => import('../../admission/policy/mutating-policy-validation.ts'));
