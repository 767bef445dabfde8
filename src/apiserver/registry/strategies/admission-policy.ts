import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../admission/policy/validating-policy.ts';
import type { ServedKinds } from '../../admission/policy/policy-type-checking.ts';
import type { Strategy } from '../strategy.ts';
import { rulesOnDemand } from './rules-on-demand.ts';

/**
 * The strategy of ValidatingAdmissionPolicies. Type errors of their expressions are found on write, where upstream uses a controller; the
 * status is the same.
 */
export function validatingPolicyStrategy(served: ServedKinds): Strategy {
  const rules = policyRules();
  const check = async (policy: ValidatingAdmissionPolicy): Promise<void> => {
    const { typeCheckPolicy } = await import('../../admission/policy/policy-type-checking.ts');
    const expressionWarnings = typeCheckPolicy(policy.spec ?? {}, served);
    policy['status'] = {
      ...(policy['status'] as object | undefined),
      observedGeneration: policy.metadata?.generation ?? 1,
      typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
    };
  };
  return {
    statusKeepsMetadata: true,
    async prepareForCreate(object) {
      await rules.load();
      await check(object as ValidatingAdmissionPolicy);
    },
    async prepareForUpdate(next, previous, { subresource }) {
      await rules.load();
      if (subresource !== '' || next.metadata?.generation === previous.metadata?.generation) return;
      await check(next as ValidatingAdmissionPolicy);
    },
    validate: (object) => rules.loaded().validatePolicy(object as ValidatingAdmissionPolicy),
    validateUpdate: (next, _previous, { subresource }) =>
      subresource === '' ? rules.loaded().validatePolicy(next as ValidatingAdmissionPolicy) : [],
  };
}

/** The strategy of ValidatingAdmissionPolicyBindings. */
export function validatingPolicyBindingStrategy(): Strategy {
  const rules = policyRules();
  return {
    prepareForCreate: rules.load,
    prepareForUpdate: rules.load,
    validate: (object) => rules.loaded().validateBinding(object as ValidatingAdmissionPolicyBinding),
    validateUpdate: (next) => rules.loaded().validateBinding(next as ValidatingAdmissionPolicyBinding),
  };
}

/** Loaded with the first policy. */
const policyRules = () => rulesOnDemand(() => import('../../admission/policy/policy-validation.ts'));
