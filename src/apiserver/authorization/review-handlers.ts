import { isJsonObject, setKey, textOf, textsOf } from '../../api/codec/json/json-value.ts';
import type { FieldError } from '../../api/field-error.ts';
import { fieldInvalid } from '../../api/field-error.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { newBadRequest, newInvalid } from '../../api/status-error.ts';
import { type TokenVerdict, type TokenVerifier, UNKNOWN_TOKEN } from '../authentication/token-authenticator.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { AuthorizationAttributes, Authorizer, SubjectRules } from './authorizer.ts';
import { ignoredSelectors, selectorErrors } from './review-selectors.ts';

/**
 * The review kinds: a client POSTs a question, and the object comes back with the answer in `status` and with 201; nothing is stored
 * (API-373, API-374). Pure: the answer is a new object. Throws {@link StatusError} 400 or 422 for an invalid question. Names in the
 * metadata are ignored.
 */
export type ReviewHandler = (
  body: KubeObject,
  user: UserInfo,
  authorizer: Authorizer,
  options?: ReviewOptions,
) => KubeObject | Promise<KubeObject>;

export interface ReviewOptions {
  /** Namespace of the request path; empty or absent at cluster scope. */
  readonly namespace?: string;
  /** Epoch milliseconds, for the timestamp of a SelfSubjectReview. */
  readonly now?: number;
  /** The verifier for TokenReview. If absent, no token is valid. */
  readonly tokens?: TokenVerifier;
}

/** Keyed by `group/version/resource`. */
export const reviewHandlers: Readonly<Record<string, ReviewHandler>> = {
  'authentication.k8s.io/v1/selfsubjectreviews': selfSubjectReview,
  'authentication.k8s.io/v1/tokenreviews': tokenReview,
  'authorization.k8s.io/v1/localsubjectaccessreviews': localSubjectAccessReview,
  'authorization.k8s.io/v1/selfsubjectaccessreviews': selfSubjectAccessReview,
  'authorization.k8s.io/v1/selfsubjectrulesreviews': selfSubjectRulesReview,
  'authorization.k8s.io/v1/subjectaccessreviews': subjectAccessReview,
};

const AUTHENTICATION = 'authentication.k8s.io/v1';
const AUTHORIZATION = 'authorization.k8s.io/v1';

function selfSubjectReview(
  _body: KubeObject,
  user: UserInfo,
  _authorizer: Authorizer,
  options: ReviewOptions = {},
): KubeObject {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: AUTHENTICATION,
    metadata: options.now === undefined ? {} : { creationTimestamp: formatTime(options.now) },
    status: { userInfo: userInfoOf(user) },
  };
}

function tokenReview(
  body: KubeObject,
  _user: UserInfo,
  _authorizer: Authorizer,
  options: ReviewOptions = {},
): KubeObject | Promise<KubeObject> {
  const spec = objectOf(body['spec']);
  const token = textOf(spec['token']);
  if (token === '') throw newBadRequest('token is required for TokenReview in authentication');
  const audiences = textsOf(spec['audiences']);
  const verdict = options.tokens?.verify(token, audiences.length === 0 ? undefined : audiences) ?? UNKNOWN_TOKEN;
  const answer = (found: TokenVerdict): KubeObject =>
    review(body, { kind: 'TokenReview', apiVersion: AUTHENTICATION, status: tokenStatus(found) });
  return verdict instanceof Promise ? verdict.then(answer) : answer(verdict);
}

function tokenStatus(verdict: TokenVerdict): JsonObject {
  switch (verdict.outcome) {
    case 'authenticated': {
      const { user, audiences } = verdict;
      return { authenticated: true, user: userInfoOf(user), ...(audiences.length === 0 ? {} : { audiences }) };
    }
    case 'unknown':
      return { user: {}, error: 'invalid bearer token' };
    case 'refused':
      return { user: {}, error: `[invalid bearer token, ${verdict.reason}]` };
  }
}

function selfSubjectAccessReview(body: KubeObject, user: UserInfo, authorizer: Authorizer): KubeObject {
  const spec = objectOf(body['spec']);
  refuse('SelfSubjectAccessReview', attributeErrors(spec));
  return accessReview(body, 'SelfSubjectAccessReview', authorizer, attributesOf(spec, user));
}

function subjectAccessReview(body: KubeObject, _user: UserInfo, authorizer: Authorizer): KubeObject {
  const spec = objectOf(body['spec']);
  refuse('SubjectAccessReview', [...attributeErrors(spec), ...subjectErrors(spec)]);
  return accessReview(body, 'SubjectAccessReview', authorizer, attributesOf(spec, subjectOf(spec)));
}

function localSubjectAccessReview(
  body: KubeObject,
  _user: UserInfo,
  authorizer: Authorizer,
  options: ReviewOptions = {},
): KubeObject {
  const spec = objectOf(body['spec']);
  const namespace = options.namespace ?? '';
  const named = body.metadata?.namespace ?? namespace;
  const errors = [...attributeErrors(spec), ...subjectErrors(spec)];
  const asked = spec['resourceAttributes'];
  if (isJsonObject(asked) && textOf(asked['namespace']) !== named) {
    errors.push(
      fieldInvalid('spec.resourceAttributes.namespace', textOf(asked['namespace']), 'must match metadata.namespace'),
    );
  }
  if (isJsonObject(spec['nonResourceAttributes'])) {
    errors.push(
      fieldInvalid('spec.nonResourceAttributes', spec['nonResourceAttributes'], 'disallowed on this kind of request'),
    );
  }
  refuse('LocalSubjectAccessReview', errors);
  if (namespace === '') throw newBadRequest('namespace is required on this type: ');
  if (named !== namespace) {
    throw newBadRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  }
  return accessReview(body, 'LocalSubjectAccessReview', authorizer, attributesOf(spec, subjectOf(spec)));
}

function selfSubjectRulesReview(body: KubeObject, user: UserInfo, authorizer: Authorizer): KubeObject {
  const namespace = textOf(objectOf(body['spec'])['namespace']);
  if (namespace === '') throw newBadRequest('no namespace on request');
  const rules: SubjectRules = authorizer.rulesFor?.(user, namespace) ?? {
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'the authorizer in use cannot list the rules of a user',
  };
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: AUTHORIZATION,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.resourceRules,
      nonResourceRules: rules.nonResourceRules,
      incomplete: rules.incomplete,
      ...(rules.evaluationError === undefined ? {} : { evaluationError: rules.evaluationError }),
    },
  };
}

function accessReview(
  body: KubeObject,
  kind: string,
  authorizer: Authorizer,
  attributes: AuthorizationAttributes,
): KubeObject {
  const { allowed, reason } = authorizer.authorize(attributes);
  const evaluationError = ignoredSelectors(objectOf(objectOf(body['spec'])['resourceAttributes']));
  return review(body, {
    kind,
    apiVersion: AUTHORIZATION,
    status: {
      allowed,
      ...(reason === '' ? {} : { reason }),
      ...(evaluationError === '' ? {} : { evaluationError }),
    },
  });
}

function review(
  body: KubeObject,
  answer: { readonly kind: string; readonly apiVersion: string; readonly status: unknown },
): KubeObject {
  const { kind, apiVersion, status } = answer;
  return { kind, apiVersion, metadata: body.metadata ?? {}, spec: body['spec'], status };
}

/** A review must have exactly one of the two questions. */
function attributeErrors(spec: JsonObject): FieldError[] {
  const asked = spec['resourceAttributes'];
  const resource = isJsonObject(asked);
  const other = isJsonObject(spec['nonResourceAttributes']);
  if (resource && other) {
    return [
      fieldInvalid(
        'spec.nonResourceAttributes',
        spec['nonResourceAttributes'],
        'cannot be specified in combination with resourceAttributes',
      ),
      ...selectorErrors(asked),
    ];
  }
  if (!resource && !other) {
    return [
      fieldInvalid(
        'spec.resourceAttributes',
        null,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    ];
  }
  return resource ? selectorErrors(asked) : [];
}

function subjectErrors(spec: JsonObject): FieldError[] {
  if (textOf(spec['user']) !== '' || textsOf(spec['groups']).length > 0) return [];
  return [fieldInvalid('spec.user', textOf(spec['user']), 'at least one of user or group must be specified')];
}

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid({ group: 'authorization.k8s.io', kind }, '', errors);
}

function attributesOf(spec: JsonObject, user: UserInfo): AuthorizationAttributes {
  const asked = spec['resourceAttributes'];
  if (!isJsonObject(asked)) {
    const other = objectOf(spec['nonResourceAttributes']);
    return {
      user,
      verb: textOf(other['verb']),
      isResource: false,
      path: textOf(other['path']),
      group: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
    };
  }
  return {
    user,
    verb: textOf(asked['verb']),
    isResource: true,
    path: '',
    group: textOf(asked['group']),
    version: textOf(asked['version']) || '*',
    resource: textOf(asked['resource']),
    subresource: textOf(asked['subresource']),
    namespace: textOf(asked['namespace']),
    name: textOf(asked['name']),
  };
}

function subjectOf(spec: JsonObject): UserInfo {
  const uid = textOf(spec['uid']);
  const extra: Record<string, readonly string[]> = {};
  for (const [key, values] of Object.entries(objectOf(spec['extra']))) setKey(extra, key, textsOf(values));
  return {
    username: textOf(spec['user']),
    groups: textsOf(spec['groups']),
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function userInfoOf(user: UserInfo): JsonObject {
  return {
    username: user.username,
    ...(user.uid === undefined || user.uid === '' ? {} : { uid: user.uid }),
    ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
    ...(user.extra === undefined || Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  };
}

type JsonObject = Record<string, unknown>;

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
