import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Store } from '../../storage/interface.ts';
import { LiveTable } from '../../storage/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { MatchResources } from '../matching/match-resources.ts';
import {
  BINDINGS,
  POLICIES,
  readMatchResources,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts';

export interface BoundPolicy {
  readonly name: string;
  readonly policy: ValidatingAdmissionPolicy;
  readonly match: MatchResources;
  readonly bindings: readonly PolicyBinding[];
}

export interface PolicyBinding {
  readonly name: string;
  readonly binding: ValidatingAdmissionPolicyBinding;
  /** Undefined: whatever the policy is about. */
  readonly match: MatchResources | undefined;
}

type KnownPolicy = Omit<BoundPolicy, 'bindings'>;

/**
 * The policies that are bound, in the order of their names, each with its bindings. A policy without a binding has no effect. Follows
 * the store, so that both count from the request after the one that wrote them.
 */
export class PolicySource {
  readonly #policies: LiveTable<KnownPolicy>;
  readonly #bindings: LiveTable<PolicyBinding>;
  #bound: readonly BoundPolicy[] | undefined;

  constructor(options: { readonly store: Store; readonly clock: Clock; readonly logger: Logger }) {
    const changed = (): void => {
      this.#bound = undefined;
    };
    this.#policies = new LiveTable({ ...options, prefix: resourcePrefix(POLICIES), read: knownPolicy, changed });
    this.#bindings = new LiveTable({ ...options, prefix: resourcePrefix(BINDINGS), read: knownBinding, changed });
  }

  async start(): Promise<void> {
    await Promise.all([this.#policies.start(), this.#bindings.start()]);
  }

  stop(): void {
    this.#policies.stop();
    this.#bindings.stop();
  }

  /** Undefined when there is no such policy. */
  policy(name: string): ValidatingAdmissionPolicy | undefined {
    return this.#policies.get(name)?.policy;
  }

  bound(): readonly BoundPolicy[] {
    return (this.#bound ??= this.#bind());
  }

  #bind(): readonly BoundPolicy[] {
    const byPolicy = new Map<string, PolicyBinding[]>();
    for (const [, binding] of this.#bindings.entries()) {
      const { policyName = '' } = binding.binding.spec ?? {};
      byPolicy.set(policyName, [...(byPolicy.get(policyName) ?? []), binding]);
    }
    return [...this.#policies.entries()]
      .map(([name, policy]) => ({ ...policy, bindings: (byPolicy.get(name) ?? []).toSorted(byName) }))
      .filter(({ bindings }) => bindings.length > 0)
      .toSorted(byName);
  }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function knownPolicy(policy: ValidatingAdmissionPolicy): KnownPolicy {
  return { name: policy.metadata?.name ?? '', policy, match: readMatchResources(policy.spec?.matchConstraints ?? {}) };
}

function knownBinding(binding: ValidatingAdmissionPolicyBinding): PolicyBinding {
  const { matchResources } = binding.spec ?? {};
  const match = matchResources === undefined ? undefined : readMatchResources(matchResources);
  return { name: binding.metadata?.name ?? '', binding, match };
}
