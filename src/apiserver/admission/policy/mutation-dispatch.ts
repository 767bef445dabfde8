import { copyJson, equalJson } from '../../../api/codec/json/json-value.ts';
import { isNamespaces } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newForbidden, newInternalError, StatusError } from '../../../api/status-error.ts';
import { type AdmissionAttributes, replaceContent } from '../chain/attributes.ts';
import { type Invocation, matchRequest } from '../matching/match-resources.ts';
import { versionedObjects } from '../webhook/versioned-objects.ts';
import { WebhookReinvocation } from '../webhook/webhook-reinvocation.ts';
import type { MutatingAdmissionPolicy } from './mutating-policy.ts';
import { MutationError, MutationEvaluator } from './mutation-evaluator.ts';
import { collectParams, paramResource, PolicyConfigurationError } from './param-source.ts';
import type { PolicyDispatchOptions } from './policy-dispatch.ts';
import type { BoundPolicy, PolicyBinding } from './policy-source.ts';

type Bound = BoundPolicy<MutatingAdmissionPolicy>;

const PLUGIN = 'MutatingAdmissionPolicy';

/** Applies the mutating policies of a request, in the order of their names (`policy/mutating/dispatcher.go`). */
export class MutationDispatch {
  readonly #options: PolicyDispatchOptions;
  /** Compiled on first use, and cached as long as the policy does not change. */
  readonly #evaluators = new WeakMap<MutatingAdmissionPolicy, MutationEvaluator>();

  constructor(options: PolicyDispatchOptions) {
    this.#options = options;
  }

  /** Throws after all policies were applied, if one with failure policy Fail has failed. */
  async mutate(policies: readonly Bound[], attributes: AdmissionAttributes): Promise<void> {
    const { object, reinvocation } = attributes;
    if (object === undefined) return;
    const again = reinvocation.stateOf(PLUGIN, () => new WebhookReinvocation());
    if (reinvocation.round === 'second' && again.differs(object)) again.require();
    const failures: string[] = [];
    for (const bound of policies) {
      for (const failure of await this.#apply(bound, { attributes, object, again })) failures.push(failure);
    }
    again.left(object);
    if (failures.length > 0) throw denied(attributes, failures);
  }

  async #apply(bound: Bound, mutating: Mutating): Promise<readonly string[]> {
    const { lookup, namespaces } = this.#options;
    const { attributes } = mutating;
    const spec = bound.policy.spec ?? {};
    try {
      const invocation = await matchRequest(bound.match, attributes, namespaces);
      if (invocation === undefined) return [];
      const resource = spec.paramKind === undefined ? undefined : paramResource(lookup, spec.paramKind);
      const failures: string[] = [];
      for (const binding of bound.bindings) {
        const { match } = binding;
        if (match !== undefined && (await matchRequest(match, attributes, namespaces)) === undefined) continue;
        const ref = binding.binding.spec?.paramRef;
        const all = await collectParams({ resource, ref, namespace: attributes.namespace });
        for (const params of all) {
          const failure = await this.#applyWith(params, { ...mutating, bound, binding, invocation });
          if (failure !== undefined && spec.failurePolicy !== 'Ignore') {
            failures.push(`policy '${bound.name}' with binding '${binding.name}' denied request: ${failure}`);
          }
        }
      }
      return failures;
    } catch (error) {
      if (!(error instanceof PolicyConfigurationError)) throw error;
      return spec.failurePolicy === 'Ignore' ? [] : [`policy "${bound.name}" denied request: ${error.message}`];
    }
  }

  /** Returns the failure as a text. */
  async #applyWith(params: KubeObject | null, applied: Applying): Promise<string | undefined> {
    const { attributes, bound, binding, invocation, object, again } = applied;
    const { interfaces, reinvocation, kind } = attributes;
    const { metadata } = params ?? {};
    const key = JSON.stringify([bound.name, binding.name, metadata?.namespace, metadata?.name]);
    const evaluator = this.#evaluatorOf(bound.policy);
    const subject = {
      attributes,
      invocation,
      params,
      namespaceObject: await this.#namespaceOf(attributes),
      authorizer: this.#options.authorizer,
      ...(await versionedObjects(attributes, invocation.kind)),
    };
    const conditions = evaluator.conditions(subject);
    if (conditions.outcome === 'failed') return conditions.message;
    if (conditions.outcome === 'excluded' || subject.object === undefined) return undefined;
    if (reinvocation.round === 'second' && !again.isRequired(key)) return undefined;
    let next = subject.object;
    let problem: string | undefined;
    for (const mutation of evaluator.mutations) {
      try {
        const patched = evaluator.mutate(mutation, { ...subject, object: next });
        next = patched === next ? next : decoded(() => interfaces.decode(patched, invocation.kind));
      } catch (error) {
        if (!(error instanceof MutationError)) throw error;
        problem ??= error.message;
      }
    }
    if (!equalJson(next, subject.object)) {
      replaceContent(object, copyJson(await interfaces.convert(next, kind)));
      again.require();
      reinvocation.request();
    }
    if (bound.policy.spec?.reinvocationPolicy === 'IfNeeded') again.called(key);
    return problem;
  }

  /** A Namespace itself has no namespace object. */
  #namespaceOf({ info, namespace }: AdmissionAttributes): Promise<KubeObject> | null {
    return namespace === '' || isNamespaces(info) ? null : this.#options.namespaces.get(namespace);
  }

  #evaluatorOf(policy: MutatingAdmissionPolicy): MutationEvaluator {
    let evaluator = this.#evaluators.get(policy);
    if (evaluator === undefined) {
      evaluator = new MutationEvaluator(policy.spec ?? {});
      this.#evaluators.set(policy, evaluator);
    }
    return evaluator;
  }
}

interface Mutating {
  readonly attributes: AdmissionAttributes;
  /** The request's own tree, whose content is replaced. */
  readonly object: KubeObject;
  readonly again: WebhookReinvocation;
}

interface Applying extends Mutating {
  readonly bound: Bound;
  readonly binding: PolicyBinding;
  readonly invocation: Invocation;
}

/** The result of a policy must decode as an object of the same kind; otherwise the policy has failed. */
function decoded(decode: () => KubeObject): KubeObject {
  try {
    return decode();
  } catch (error) {
    if (error instanceof StatusError) throw newInternalError(error.message);
    throw error;
  }
}

function denied({ info, name, object }: AdmissionAttributes, failures: readonly string[]): StatusError {
  const { name: own = '', generateName = '' } = object?.metadata ?? {};
  const shown = [name, own, generateName].find((text) => text !== '') ?? 'Unknown';
  const { status } = newForbidden(info, shown, 'admission request denied by policy');
  const [message = ''] = failures;
  return new StatusError({
    ...status,
    message,
    reason: 'Invalid',
    details: { ...status.details, causes: failures.map((failure) => ({ message: failure })) },
  });
}
