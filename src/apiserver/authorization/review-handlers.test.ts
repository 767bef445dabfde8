import { describe, expect, it } from 'vitest';
import { StatusError } from '../../api/status-error.ts';
import { staticTokenVerifier } from '../authentication/token-authenticator.ts';
import type { Authorizer } from './authorizer.ts';
import { alwaysAllowAuthorizer, systemMastersAuthorizer } from './authorizer.ts';
import type { ReviewOptions } from './review-handlers.ts';
import { reviewHandlers } from './review-handlers.ts';

const ann = { username: 'ann', uid: 'u-1', groups: ['dev', 'system:authenticated'], extra: { scope: ['a', 'b'] } };

function ask(
  resource: string,
  body: Record<string, unknown>,
  { authorizer = systemMastersAuthorizer, ...options }: ReviewOptions & { authorizer?: Authorizer } = {},
) {
  const key = Object.keys(reviewHandlers).find((candidate) => candidate.endsWith(`/${resource}`));
  const handler = reviewHandlers[key ?? ''];
  if (handler === undefined) throw new Error(`no handler for ${resource}`);
  const answer = handler(body, ann, authorizer, options);
  // A review waits only for tokens that have to be looked up, and there are none here.
  if (answer instanceof Promise) throw new Error(`${resource} did not answer at once`);
  return answer;
}

function refusal(act: () => unknown): { code: number; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('expected a refusal');
}

const pods = { verb: 'list', resource: 'pods', namespace: 'a' };

describe('SelfSubjectReview', () => {
  it('API-373 returns the requester', () => {
    expect(
      ask('selfsubjectreviews', { metadata: { name: 'ignored' } }, { now: Date.UTC(2026, 0, 2, 3, 4, 5) }),
    ).toEqual({
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: '2026-01-02T03:04:05Z' },
      status: {
        userInfo: {
          username: 'ann',
          uid: 'u-1',
          groups: ['dev', 'system:authenticated'],
          extra: { scope: ['a', 'b'] },
        },
      },
    });
  });
});

describe('SelfSubjectAccessReview', () => {
  it('API-373 the answer stands in the status, the question is kept', () => {
    const body = { spec: { resourceAttributes: pods } };
    expect(ask('selfsubjectaccessreviews', body)).toEqual({
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: body.spec,
      status: { allowed: false },
    });
    expect(body).toEqual({ spec: { resourceAttributes: pods } });
  });

  it('API-374 an empty selector is refused, an unreadable one is reported', () => {
    const asking = (selector: object) => () =>
      ask('selfsubjectaccessreviews', { spec: { resourceAttributes: { ...pods, fieldSelector: selector } } });
    expect(refusal(asking({})).code).toBe(422);
    expect(asking({ rawSelector: 'a' })()['status']).toEqual({
      allowed: false,
      evaluationError: 'spec.resourceAttributes.fieldSelector ignored due to parse error',
    });
  });

  it('API-373 non-resource paths, and a reason if the authorizer gives one', () => {
    const spec = { nonResourceAttributes: { path: '/version', verb: 'get' } };
    expect(ask('selfsubjectaccessreviews', { spec })['status']).toEqual({ allowed: true });
    const authorizer: Authorizer = {
      authorize: ({ user, path, isResource }) => ({ allowed: true, reason: `${user.username} ${path} ${isResource}` }),
    };
    expect(ask('selfsubjectaccessreviews', { spec }, { authorizer })['status']).toEqual({
      allowed: true,
      reason: 'ann /version false',
    });
  });

  it('API-373 all resource attributes reach the authorizer', () => {
    let seen: unknown;
    const authorizer: Authorizer = {
      authorize: (attributes) => {
        seen = attributes;
        return { allowed: true, reason: '' };
      },
    };
    const resourceAttributes = { ...pods, group: 'g', version: 'v2', subresource: 'log', name: 'x' };
    ask('selfsubjectaccessreviews', { spec: { resourceAttributes } }, { authorizer });
    expect(seen).toEqual({ user: ann, ...resourceAttributes, isResource: true, path: '' });
  });

  it('API-373 exactly one question must be asked', () => {
    expect(refusal(() => ask('selfsubjectaccessreviews', { spec: {} }))).toEqual({
      code: 422,
      message:
        'SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    });
    const both = { resourceAttributes: pods, nonResourceAttributes: { path: '/', verb: 'get' } };
    expect(refusal(() => ask('selfsubjectaccessreviews', { spec: both })).message).toContain(
      'spec.nonResourceAttributes: Invalid value: {"path":"/","verb":"get"}: cannot be specified in combination with resourceAttributes',
    );
  });
});

describe('SubjectAccessReview', () => {
  it.each([
    [{ user: 'root', groups: ['system:masters'] }, true],
    [{ user: 'root' }, false],
    [{ groups: ['system:masters'] }, true],
  ])('API-374 the subject is the one in the spec: %j', (subject, allowed) => {
    const spec = { ...subject, resourceAttributes: pods };
    expect(ask('subjectaccessreviews', { spec })['status']).toEqual({ allowed });
  });

  it('API-374 extra information about the user may have any key', () => {
    const extra = JSON.parse('{"a":["1"],"__proto__":["2"]}') as object;
    const authorizer: Authorizer = {
      authorize: ({ user }) => ({ allowed: true, reason: JSON.stringify(user.extra) }),
    };
    const { status } = ask(
      'subjectaccessreviews',
      { spec: { user: 'u', extra, resourceAttributes: pods } },
      { authorizer },
    );
    expect(status).toEqual({ allowed: true, reason: '{"a":["1"],"__proto__":["2"]}' });
  });

  it('API-374 somebody must be asked about', () => {
    expect(refusal(() => ask('subjectaccessreviews', { spec: { resourceAttributes: pods } }))).toEqual({
      code: 422,
      message:
        'SubjectAccessReview.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
    });
  });
});

describe('LocalSubjectAccessReview', () => {
  const spec = { user: 'root', groups: ['system:masters'], resourceAttributes: pods };

  it('API-374 asks inside the namespace of the path', () => {
    const answer = ask('localsubjectaccessreviews', { metadata: { namespace: 'a' }, spec }, { namespace: 'a' });
    expect(answer['status']).toEqual({ allowed: true });
    expect(answer.kind).toBe('LocalSubjectAccessReview');
  });

  it('API-374 another namespace or a path is refused', () => {
    const namespaced = { metadata: { namespace: 'b' }, spec };
    expect(refusal(() => ask('localsubjectaccessreviews', namespaced, { namespace: 'b' })).message).toContain(
      'spec.resourceAttributes.namespace: Invalid value: "a": must match metadata.namespace',
    );
    const other = { spec: { user: 'u', nonResourceAttributes: { path: '/' } } };
    expect(refusal(() => ask('localsubjectaccessreviews', other, { namespace: 'a' })).message).toContain(
      'spec.nonResourceAttributes: Invalid value: {"path":"/"}: disallowed on this kind of request',
    );
    const elsewhere = { metadata: { namespace: 'a' }, spec };
    expect(refusal(() => ask('localsubjectaccessreviews', elsewhere, { namespace: 'c' }))).toEqual({
      code: 400,
      message: 'spec.resourceAttributes.namespace must match namespace: c',
    });
  });
});

describe('SelfSubjectRulesReview', () => {
  it('API-374 lists what the user may do', () => {
    const answer = ask('selfsubjectrulesreviews', { spec: { namespace: 'a' } }, { authorizer: alwaysAllowAuthorizer });
    expect(answer['status']).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    });
  });

  it('API-374 says so when the authorizer cannot list rules', () => {
    const authorizer: Authorizer = { authorize: () => ({ allowed: true, reason: '' }) };
    expect(ask('selfsubjectrulesreviews', { spec: { namespace: 'a' } }, { authorizer })['status']).toMatchObject({
      resourceRules: [],
      incomplete: true,
      evaluationError: expect.stringContaining('cannot list'),
    });
  });

  it('API-374 needs a namespace', () => {
    expect(refusal(() => ask('selfsubjectrulesreviews', { spec: {} }))).toEqual({
      code: 400,
      message: 'no namespace on request',
    });
  });
});

describe('TokenReview', () => {
  const tokens = staticTokenVerifier([{ token: 't', user: { username: 'bob', groups: ['dev'] } }]);

  it('API-374 a known token is authenticated and shows its user', () => {
    expect(ask('tokenreviews', { spec: { token: 't' } }, { tokens })['status']).toEqual({
      authenticated: true,
      user: { username: 'bob', groups: ['dev', 'system:authenticated'] },
    });
  });

  it('API-374 an unknown token is not', () => {
    const unknown = { user: {}, error: 'invalid bearer token' };
    expect(ask('tokenreviews', { spec: { token: 'x' } }, { tokens })['status']).toEqual(unknown);
    expect(ask('tokenreviews', { spec: { token: 't' } })['status']).toEqual(unknown);
  });

  it('API-374 a token must be given', () => {
    expect(refusal(() => ask('tokenreviews', { spec: {} }, { tokens }))).toEqual({
      code: 400,
      message: 'token is required for TokenReview in authentication',
    });
  });
});
