import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Store } from '../../storage/interface.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { MatchResources } from '../matching/match-resources.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import {
  type AdmissionPolicy,
  readMatchResources,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts';

export interface BoundPolicy<P extends AdmissionPolicy = ValidatingAdmissionPolicy> {
  readonly name: string;
  readonly policy: P;
  readonly match: MatchResources;
  readonly bindings: readonly PolicyBinding[];
}

export interface PolicyBinding {
  readonly name: string;
  readonly binding: ValidatingAdmissionPolicyBinding;
  /** If undefined, the binding matches everything that the policy matches. */
  readonly match: MatchResources | undefined;
}

type KnownPolicy<P extends AdmissionPolicy> = Omit<BoundPolicy<P>, 'bindings'>;

export interface PolicySourceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The resources of one type of policy and of its bindings. */
export interface PolicyResources {
  readonly policies: { readonly group: string; readonly resource: string };
  readonly bindings: { readonly group: string; readonly resource: string };
}

/**
 * The bound policies, in the order of their names, each with its bindings. A policy without a binding has no effect. The set follows the
 * store, so that changes take effect with the next request.
 */
export class PolicySource<P extends AdmissionPolicy = ValidatingAdmissionPolicy> {
  readonly #policies: LiveTable<KnownPolicy<P>>;
  readonly #bindings: LiveTable<PolicyBinding>;
  #bound: readonly BoundPolicy<P>[] | undefined;

  constructor({ store, clock, logger }: PolicySourceOptions, { policies, bindings }: PolicyResources) {
    const changed = (): void => {
      this.#bound = undefined;
    };
    const followed = { store, clock, logger, changed };
    const read = (object: KubeObject): KnownPolicy<P> => knownPolicy(object as P);
    this.#policies = new LiveTable({ ...followed, prefix: resourcePrefix(policies), read });
    this.#bindings = new LiveTable({ ...followed, prefix: resourcePrefix(bindings), read: knownBinding });
  }

  async start(): Promise<void> {
    await Promise.all([this.#policies.start(), this.#bindings.start()]);
  }

  stop(): void {
    this.#policies.stop();
    this.#bindings.stop();
  }

  /** Undefined if there is no such policy. */
  policy(name: string): P | undefined {
    return this.#policies.get(name)?.policy;
  }

  bound(): readonly BoundPolicy<P>[] {
    return (this.#bound ??= this.#bind());
  }

  #bind(): readonly BoundPolicy<P>[] {
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

function knownPolicy<P extends AdmissionPolicy>(policy: P): KnownPolicy<P> {
  return { name: policy.metadata?.name ?? '', policy, match: readMatchResources(policy.spec?.matchConstraints ?? {}) };
}

function knownBinding(binding: ValidatingAdmissionPolicyBinding): PolicyBinding {
  const { matchResources } = binding.spec ?? {};
  const match = matchResources === undefined ? undefined : readMatchResources(matchResources);
  return { name: binding.metadata?.name ?? '', binding, match };
}
