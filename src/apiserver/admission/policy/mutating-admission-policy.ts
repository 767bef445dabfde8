import type { AdmissionPlugin } from '../chain/admission-chain.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import { isExempt } from '../webhook/webhook-dispatch.ts';
import type { MutatingAdmissionPolicy } from './mutating-policy.ts';
import type { MutationDispatch } from './mutation-dispatch.ts';
import { authorizeParams } from './param-authorization.ts';
import type { PolicyDispatchOptions } from './policy-dispatch.ts';
import type { PolicySource } from './policy-source.ts';
import { isVirtual } from './validating-admission-policy.ts';
import type { ParamKind } from './validating-policy.ts';

/** Applies the bound MutatingAdmissionPolicies (API-360). The evaluator is loaded with the first one. */
export class MutatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionPolicy';
  readonly #source: PolicySource<MutatingAdmissionPolicy>;
  readonly #options: PolicyDispatchOptions;
  #dispatch: Promise<MutationDispatch> | undefined;

  constructor(source: PolicySource<MutatingAdmissionPolicy>, options: PolicyDispatchOptions) {
    this.#source = source;
    this.#options = options;
  }

  start(): Promise<void> {
    return this.#source.start();
  }

  stop(): void {
    this.#source.stop();
  }

  admit(attributes: AdmissionAttributes): Promise<void> | undefined {
    const nothing = this.#source.bound().length === 0 || attributes.object === undefined;
    return nothing || isExempt(attributes) || isVirtual(attributes) ? undefined : this.#admit(attributes);
  }

  validate(attributes: AdmissionAttributes): void {
    const { kind } = attributes;
    if (kind.kind !== 'MutatingAdmissionPolicy' && kind.kind !== 'MutatingAdmissionPolicyBinding') return;
    const { authorizer, lookup } = this.#options;
    const paramKindOf = (name: string): ParamKind | undefined => this.#source.policy(name)?.spec?.paramKind;
    authorizeParams(attributes, { authorizer, lookup, paramKindOf });
  }

  async #admit(attributes: AdmissionAttributes): Promise<void> {
    this.#dispatch ??= this.#load();
    const dispatch = await this.#dispatch;
    await dispatch.mutate(this.#source.bound(), attributes);
  }

  async #load(): Promise<MutationDispatch> {
    const { MutationDispatch } = await import('./mutation-dispatch.ts');
    return new MutationDispatch(this.#options);
  }
}
