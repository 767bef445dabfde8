import type { CallCost } from '../call-cost.ts';
import { fixedCost, LIST_CREATE, sizeOf, TRAVERSAL, unitCost } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, opaqueType } from '../cel-type.ts';
import { asText, CelHostValue, type CelValue, costSize } from '../cel-value.ts';
import { type CelFunctions, member } from '../function-declaration.ts';
import { add, fixed, scale } from '../size-estimate.ts';

const { bool, string } = celTypes;

/** The attributes of an authorization check, which `check(verb)` runs. */
export type CelAuthorizationAttributes =
  | { readonly kind: 'path'; readonly path: string; readonly verb: string }
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      /** The selector as written, or empty for none. */
      readonly fieldSelector: string;
      readonly labelSelector: string;
    };

export interface CelDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** The reason why there is no decision. */
  readonly error?: string;
}

/** The subject of the check: the user of a request, or a service account. */
export interface CelAuthorizer {
  authorize(attributes: CelAuthorizationAttributes): CelDecision;
  forServiceAccount(namespace: string, name: string): CelAuthorizer;
}

export interface CelResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export const authorizerType: CelType = opaqueType('kubernetes.authorization.Authorizer');
export const resourceCheckType: CelType = opaqueType('kubernetes.authorization.ResourceCheck');
const pathCheckType = opaqueType('kubernetes.authorization.PathCheck');
const groupCheckType = opaqueType('kubernetes.authorization.GroupCheck');
const decisionType = opaqueType('kubernetes.authorization.Decision');

/** The value of variables of {@link authorizerType}. */
export function authorizerValue(authorizer: CelAuthorizer): CelHostValue {
  return new AuthorizerValue(authorizer);
}

/** The value of variables of {@link resourceCheckType}: `authorizer.requestResource`. */
export function resourceCheckValue(authorizer: CelAuthorizer, resource: CelResource): CelHostValue {
  return new ResourceCheck(authorizer, { ...resource, fieldSelector: '', labelSelector: '' });
}

abstract class AuthorizationValue extends CelHostValue {
  equals(other: CelHostValue): boolean {
    return this === other;
  }
}

class AuthorizerValue extends AuthorizationValue {
  readonly type = authorizerType;
  readonly authorizer: CelAuthorizer;

  constructor(authorizer: CelAuthorizer) {
    super();
    this.authorizer = authorizer;
  }
}

class PathCheck extends AuthorizationValue {
  readonly type = pathCheckType;
  readonly authorizer: CelAuthorizer;
  readonly path: string;

  constructor(authorizer: CelAuthorizer, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends AuthorizationValue {
  readonly type = groupCheckType;
  readonly authorizer: CelAuthorizer;
  readonly group: string;

  constructor(authorizer: CelAuthorizer, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

interface ResourceAttributes extends CelResource {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

class ResourceCheck extends AuthorizationValue {
  readonly type = resourceCheckType;
  readonly authorizer: CelAuthorizer;
  readonly attributes: ResourceAttributes;

  constructor(authorizer: CelAuthorizer, attributes: ResourceAttributes) {
    super();
    this.authorizer = authorizer;
    this.attributes = attributes;
  }
}

class DecisionValue extends AuthorizationValue {
  readonly type = decisionType;
  readonly decision: CelDecision;

  constructor(decision: CelDecision) {
    super();
    this.decision = decision;
  }
}

/** The host value of a class. Dispatch has checked its type. */
function as<T extends CelValue>(kind: abstract new (...args: never[]) => T, value: CelValue): T {
  if (value instanceof kind) return value;
  throw noSuchOverload();
}

function refining(id: string, field: keyof ResourceAttributes, cost: CallCost = unitCost): CelFunctions[string] {
  const signature = { args: [resourceCheckType, string], result: resourceCheckType, cost };
  return [
    member(id, signature, (check = null, text = null) => {
      const { authorizer, attributes } = as(ResourceCheck, check);
      return new ResourceCheck(authorizer, { ...attributes, [field]: asText(text) });
    }),
  ];
}

/** The cost of parsing a selector once, with at most one requirement for every two characters. */
const selectorCost: CallCost = {
  when: 'before',
  actual: ([, selector = null]) => {
    const length = costSize(selector);
    return LIST_CREATE + Math.ceil(length * TRAVERSAL) + Math.ceil(length * 0.5) * 50;
  },
  estimate: ([, selector]) =>
    add(fixed(LIST_CREATE), add(scale(sizeOf(selector), TRAVERSAL), scale(scale(sizeOf(selector), 0.5), 50))),
};

/** One evaluation can afford two checks. */
const checkCost = fixedCost(350_000);

function reading(id: string, result: CelType, read: (decision: CelDecision) => CelValue): CelFunctions[string] {
  return [
    member(id, { args: [decisionType], result, cost: unitCost }, (decision = null) =>
      read(as(DecisionValue, decision).decision),
    ),
  ];
}

/** `kubernetes.authz` and `kubernetes.authzSelectors`. */
export const authorizer: CelFunctions = {
  path: [
    member(
      'authorizer_path',
      { args: [authorizerType, string], result: pathCheckType },
      (value = null, path = null) => {
        const text = asText(path);
        if (text.trim() === '') throw new CelEvaluationError('path must not be empty');
        return new PathCheck(as(AuthorizerValue, value).authorizer, text);
      },
    ),
  ],
  group: [
    member(
      'authorizer_group',
      { args: [authorizerType, string], result: groupCheckType },
      (value = null, group = null) => new GroupCheck(as(AuthorizerValue, value).authorizer, asText(group)),
    ),
  ],
  serviceAccount: [
    member(
      'authorizer_serviceaccount',
      { args: [authorizerType, string, string], result: authorizerType },
      (value = null, namespace = null, name = null) => {
        const { authorizer: asked } = as(AuthorizerValue, value);
        return new AuthorizerValue(asked.forServiceAccount(asText(namespace), asText(name)));
      },
    ),
  ],
  resource: [
    member(
      'groupcheck_resource',
      { args: [groupCheckType, string], result: resourceCheckType },
      (value = null, resource = null) => {
        const { authorizer: asked, group } = as(GroupCheck, value);
        const name = asText(resource);
        if (name.trim() === '') throw new CelEvaluationError('resource must not be empty');
        return resourceCheckValue(asked, { group, resource: name, subresource: '', namespace: '', name: '' });
      },
    ),
  ],
  subresource: refining('resourcecheck_subresource', 'subresource'),
  namespace: refining('resourcecheck_namespace', 'namespace'),
  name: refining('resourcecheck_name', 'name'),
  fieldSelector: refining('authorizer_fieldselector', 'fieldSelector', selectorCost),
  labelSelector: refining('authorizer_labelselector', 'labelSelector', selectorCost),
  check: [
    member(
      'pathcheck_check',
      { args: [pathCheckType, string], result: decisionType, cost: checkCost },
      (value = null, verb = null) => {
        const { authorizer: asked, path } = as(PathCheck, value);
        return new DecisionValue(asked.authorize({ kind: 'path', path, verb: asText(verb) }));
      },
    ),
    member(
      'resourcecheck_check',
      { args: [resourceCheckType, string], result: decisionType, cost: checkCost },
      (value = null, verb = null) => {
        const { authorizer: asked, attributes } = as(ResourceCheck, value);
        return new DecisionValue(asked.authorize({ kind: 'resource', ...attributes, verb: asText(verb) }));
      },
    ),
  ],
  allowed: reading('decision_allowed', bool, ({ allowed }) => allowed),
  reason: reading('decision_reason', string, ({ reason }) => reason),
  errored: reading('decision_errored', bool, ({ error }) => error !== undefined),
  error: reading('decision_error', string, ({ error = '' }) => error),
};
