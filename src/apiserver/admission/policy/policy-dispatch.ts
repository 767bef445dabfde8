import { append } from '../../../base/collections/append.ts';
import { isNamespaces } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { newForbidden, StatusError } from '../../../api/status-error.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { ResourceLookup, ResourceStore } from '../../registry/resource-store.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import { type Invocation, matchRequest } from '../matching/match-resources.ts';
import type { NamespaceReader } from '../matching/namespace-reader.ts';
import { versionedObjects } from '../webhook/versioned-objects.ts';
import { collectParams, paramResource, PolicyConfigurationError } from './param-source.ts';
import { failedDecision, type PolicyDecision, PolicyEvaluator, type PolicyOutcome } from './policy-evaluator.ts';
import type { BoundPolicy, PolicyBinding } from './policy-source.ts';
import type { PolicySpec, ValidatingAdmissionPolicy } from './validating-policy.ts';

export interface PolicyDispatchOptions {
  readonly lookup: ResourceLookup;
  readonly namespaces: NamespaceReader;
  readonly authorizer: Authorizer;
}

const VALIDATION_FAILURE = 'validation.policy.admission.k8s.io/validation_failure';

type Denial = PolicyDecision & { readonly action: 'deny' };

/** Evaluates the validating policies for a request (`policy/validating/dispatcher.go`). */
export class PolicyDispatch {
  readonly #options: PolicyDispatchOptions;
  /** Compiled on first use, and cached as long as the policy does not change. */
  readonly #evaluators = new WeakMap<ValidatingAdmissionPolicy, PolicyEvaluator>();

  constructor(options: PolicyDispatchOptions) {
    this.#options = options;
  }

  /** Throws the first denial, after all policies were evaluated and have added their warnings. */
  async validate(policies: readonly BoundPolicy[], attributes: AdmissionAttributes): Promise<void> {
    const denials: StatusError[] = [];
    const failures: object[] = [];
    for (const bound of policies) {
      for (const { denial, binding } of await this.#ask(bound, attributes, failures)) {
        denials.push(denied(attributes, { policy: bound.name, binding, denial }));
      }
    }
    if (failures.length > 0) attributes.annotate(VALIDATION_FAILURE, JSON.stringify(failures));
    const [first] = denials;
    if (first !== undefined) throw first;
  }

  /** `failures` are recorded only as annotations. */
  async #ask(bound: BoundPolicy, attributes: AdmissionAttributes, failures: object[]): Promise<readonly BoundDenial[]> {
    const { namespaces, lookup } = this.#options;
    const spec = bound.policy.spec ?? {};
    let invocation: Invocation | undefined;
    let params: ResourceStore | undefined;
    try {
      invocation = await matchRequest(bound.match, attributes, namespaces);
      if (invocation === undefined) return [];
      params = spec.paramKind === undefined ? undefined : paramResource(lookup, spec.paramKind);
    } catch (error) {
      return denialsOf([configurationFailure(spec, error, 'policy')]).map((denial) => ({ denial }));
    }
    const denials: BoundDenial[] = [];
    const noted = new Map<string, Set<string>>();
    for (const binding of bound.bindings) {
      const outcomes = await this.#askFor({ bound, binding, attributes, invocation, params });
      for (const { decisions, annotations } of outcomes) {
        append(denials, this.#act(decisions, { bound, binding, attributes, failures }));
        for (const { key, value } of annotations) noted.set(key, (noted.get(key) ?? new Set()).add(value));
      }
    }
    for (const [key, values] of noted) attributes.annotate(`${bound.name}/${key}`, [...values].join(', '));
    return denials;
  }

  async #askFor({
    bound,
    binding,
    attributes,
    invocation,
    params: resource,
  }: Asked): Promise<readonly PolicyOutcome[]> {
    const { namespaces, authorizer } = this.#options;
    const { namespace } = attributes;
    try {
      if (binding.match !== undefined && (await matchRequest(binding.match, attributes, namespaces)) === undefined) {
        return [];
      }
      const all = await collectParams({ resource, ref: binding.binding.spec?.paramRef, namespace });
      if (all.length === 0) return [];
      const objects = await versionedObjects(attributes, invocation.kind);
      const namespaceObject = await this.#namespaceOf(attributes);
      const evaluator = this.#evaluatorOf(bound.policy);
      return all.map((params) =>
        evaluator.evaluate({ attributes, invocation, ...objects, params, namespaceObject, authorizer }),
      );
    } catch (error) {
      const failure = configurationFailure(bound.policy.spec ?? {}, error, 'binding');
      return [{ decisions: [failure], annotations: [] }];
    }
  }

  /** A Namespace itself has no namespace object. */
  #namespaceOf({ info, namespace }: AdmissionAttributes): Promise<KubeObject> | null {
    return namespace === '' || isNamespaces(info) ? null : this.#options.namespaces.get(namespace);
  }

  /** Carries out the binding's actions for denials. */
  #act(decisions: readonly PolicyDecision[], { bound, binding, attributes, failures }: Acting): readonly BoundDenial[] {
    const actions = binding.binding.spec?.validationActions ?? [];
    const denials = denialsOf(decisions);
    if (actions.includes('Warn')) {
      for (const { message } of denials) {
        attributes.warn(
          `Validation failed for ValidatingAdmissionPolicy '${bound.name}' with binding '${binding.name}': ${message}`,
        );
      }
    }
    if (actions.includes('Audit')) {
      for (const [expressionIndex, decision] of decisions.entries()) {
        if (decision.action !== 'deny') continue;
        const { message } = decision;
        const where = { policy: bound.name, binding: binding.name, expressionIndex };
        failures.push({ message, ...where, validationActions: actions });
      }
    }
    const shown = denials.filter(({ cause }) => cause === 'configuration' || actions.includes('Deny'));
    return shown.map((denial) => ({ denial, binding: binding.name }));
  }

  #evaluatorOf(policy: ValidatingAdmissionPolicy): PolicyEvaluator {
    let evaluator = this.#evaluators.get(policy);
    if (evaluator === undefined) {
      evaluator = new PolicyEvaluator(policy.spec ?? {});
      this.#evaluators.set(policy, evaluator);
    }
    return evaluator;
  }
}

interface BoundDenial {
  readonly denial: Denial;
  /** Absent if the policy itself cannot be applied. */
  readonly binding?: string;
}

interface Asked {
  readonly bound: BoundPolicy;
  readonly binding: PolicyBinding;
  readonly attributes: AdmissionAttributes;
  readonly invocation: Invocation;
  readonly params: ResourceStore | undefined;
}

interface Acting extends Pick<Asked, 'bound' | 'binding' | 'attributes'> {
  readonly failures: object[];
}

function denialsOf(decisions: readonly PolicyDecision[]): readonly Denial[] {
  return decisions.filter((decision): decision is Denial => decision.action === 'deny');
}

function configurationFailure(spec: PolicySpec, error: unknown, what: 'policy' | 'binding'): PolicyDecision {
  if (!(error instanceof PolicyConfigurationError) && !(error instanceof StatusError)) throw error;
  return failedDecision(spec, `failed to configure ${what}: ${error.message}`, 'configuration');
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

function denied(
  attributes: AdmissionAttributes,
  {
    policy,
    binding,
    denial,
  }: { readonly policy: string; readonly binding: string | undefined; readonly denial: Denial },
): StatusError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const message = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${denial.message}`;
  const { status } = newForbidden(attributes.info, nameOf(attributes), message);
  const causes = [...(status.details?.causes ?? []), { message }];
  return new StatusError({
    ...status,
    reason: denial.reason,
    details: { ...status.details, causes },
    code: CODES[denial.reason] ?? 422,
  });
}

/** The name of the object in a refusal (apiserver `admission.extractResourceName`). */
function nameOf({ name, object }: AdmissionAttributes): string {
  if (name !== '') return name;
  const { name: own = '', generateName = '' } = object?.metadata ?? {};
  return own !== '' ? own : generateName !== '' ? generateName : 'Unknown';
}
