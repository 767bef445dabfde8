import type { AdmissionPlugin } from '../chain/admission-chain.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import { isExempt } from '../webhook/webhook-dispatch.ts';
import { authorizeParams } from './param-authorization.ts';
import type { PolicyDispatch, PolicyDispatchOptions } from './policy-dispatch.ts';
import type { PolicySource } from './policy-source.ts';
import { type ParamKind, POLICIES } from './validating-policy.ts';

/** Resources that exist only as a request, and resources that a policy must never block (`admission/exclusion`). */
const VIRTUAL_RESOURCES: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
]);

export function isVirtual({ info }: AdmissionAttributes): boolean {
  return VIRTUAL_RESOURCES.has(`${info.group}/${info.resource}`);
}

/** Evaluates the bound ValidatingAdmissionPolicies (API-360). The evaluator is loaded with the first one. */
export class ValidatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #source: PolicySource;
  readonly #options: PolicyDispatchOptions;
  #dispatch: Promise<PolicyDispatch> | undefined;

  constructor(source: PolicySource, options: PolicyDispatchOptions) {
    this.#source = source;
    this.#options = options;
  }

  start(): Promise<void> {
    return this.#source.start();
  }

  stop(): void {
    this.#source.stop();
  }

  validate(attributes: AdmissionAttributes): Promise<void> | undefined {
    if (attributes.kind.group === POLICIES.group) {
      const { authorizer, lookup } = this.#options;
      const paramKindOf = (name: string): ParamKind | undefined => this.#source.policy(name)?.spec?.paramKind;
      authorizeParams(attributes, { authorizer, lookup, paramKindOf });
    }
    if (this.#source.bound().length === 0 || isExempt(attributes)) return undefined;
    return isVirtual(attributes) ? undefined : this.#validate(attributes);
  }

  async #validate(attributes: AdmissionAttributes): Promise<void> {
    this.#dispatch ??= this.#load();
    const dispatch = await this.#dispatch;
    await dispatch.validate(this.#source.bound(), attributes);
  }

  async #load(): Promise<PolicyDispatch> {
    const { PolicyDispatch } = await import('./policy-dispatch.ts');
    return new PolicyDispatch(this.#options);
  }
}
