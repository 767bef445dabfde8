import { describe, expect, it } from 'vitest';
import type { AuthorizationAttributes } from './authorizer.ts';
import { alwaysAllowAuthorizer, isCovered, isPublicPath, systemMastersAuthorizer } from './authorizer.ts';
import { forbidden } from './forbidden.ts';

const master = { username: 'kubegc-admin', groups: ['system:masters', 'system:authenticated'] };
const ann = { username: 'ann', groups: ['dev', 'system:authenticated'] };
const nobody = { username: 'nobody', groups: [] };

const resource = (more: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes => ({
  user: ann,
  verb: 'get',
  isResource: true,
  path: '',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  ...more,
});
const path = (at: string, more: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes =>
  resource({ isResource: false, resource: '', path: at, ...more });

describe('systemMastersAuthorizer', () => {
  it.each([
    ['API-372 masters delete anything', resource({ user: master, verb: 'deletecollection' }), true],
    ['API-372 masters reach any path', path('/metrics', { user: master }), true],
    ['others read no objects', resource(), false],
    ['others create no objects', resource({ verb: 'create', group: 'apps', resource: 'deployments' }), false],
    [
      'API-373 others ask about themselves',
      resource({ verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }),
      true,
    ],
    [
      'API-373 others ask who they are',
      resource({ verb: 'create', group: 'authentication.k8s.io', resource: 'selfsubjectreviews' }),
      true,
    ],
    [
      'others do not ask about others',
      resource({ verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' }),
      false,
    ],
    ['others read discovery', path('/apis/apps/v1'), true],
    ['others read the roots of discovery', path('/api'), true],
    ['others read OpenAPI', path('/openapi/v3/api/v1'), true],
    ['API-013 others read health', path('/readyz'), true],
    ['API-014 others read the version', path('/version'), true],
    ['others do not post to discovery', path('/apis', { verb: 'post' }), false],
    ['others do not read metrics', path('/metrics'), false],
    ['a prefix ends at its slash', path('/apiserver'), false],
    ['who is in no group may nothing', path('/version', { user: nobody }), false],
  ])('%s', (_, attributes, allowed) => {
    expect(systemMastersAuthorizer.authorize(attributes).allowed).toBe(allowed);
  });
});

describe('alwaysAllowAuthorizer', () => {
  it('API-372 allows everything', () => {
    expect(alwaysAllowAuthorizer.authorize(resource({ user: nobody, verb: 'delete' })).allowed).toBe(true);
  });
});

describe('isCovered', () => {
  const rules = (more: object) => ({
    resourceRules: [{ verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['deployments'], ...more }],
    nonResourceRules: [],
    incomplete: false,
  });
  const deployment = resource({ group: 'apps', resource: 'deployments' });
  it.each([
    ['all parts match', {}, deployment, true],
    ['other verb', {}, { ...deployment, verb: 'update' }, false],
    ['other group', {}, { ...deployment, group: 'batch' }, false],
    ['other resource', {}, { ...deployment, resource: 'replicasets' }, false],
    ['any verb', { verbs: ['*'] }, { ...deployment, verb: 'x' }, true],
    ['any group', { apiGroups: ['*'] }, { ...deployment, group: 'x' }, true],
    ['any resource, subresource too', { resources: ['*'] }, { ...deployment, subresource: 'status' }, true],
    ['a resource does not mean its subresources', {}, { ...deployment, subresource: 'status' }, false],
    ['named subresource', { resources: ['deployments/scale'] }, { ...deployment, subresource: 'scale' }, true],
    ['one subresource of all', { resources: ['*/scale'] }, { ...deployment, subresource: 'scale' }, true],
    ['not the resource itself', { resources: ['*/scale'] }, deployment, false],
    ['named object', { resourceNames: ['a'] }, { ...deployment, name: 'a' }, true],
    ['other object', { resourceNames: ['a'] }, { ...deployment, name: 'b' }, false],
    ['a name is asked for, none given', { resourceNames: ['a'] }, deployment, false],
  ])('API-375 %s', (_, rule, attributes, covered) => {
    expect(isCovered(rules(rule), attributes)).toBe(covered);
  });
});

describe('isPublicPath', () => {
  it.each([
    ['/healthz', true],
    ['/livez', true],
    ['/readyz', true],
    ['/version', true],
    ['/api', false],
    ['/apis', false],
    ['/openapi/v3', false],
    ['/healthzz', false],
    ['/', false],
  ])('API-013 API-014 %s served without credentials: %s', (at, open) => {
    expect(isPublicPath(at, 'get')).toBe(open);
    // The body of any other method would have to be read.
    expect(isPublicPath(at, 'post')).toBe(false);
  });
});

describe('forbidden', () => {
  const u = { username: 'u', groups: [] };
  it.each([
    [
      resource({ user: u, namespace: 'ns', name: 'n' }),
      'pods "n" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      resource({ user: u, verb: 'list' }),
      'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope',
    ],
    [
      resource({
        user: u,
        verb: 'patch',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'a',
        name: 'x',
      }),
      'deployments.apps "x" is forbidden: User "u" cannot patch resource "deployments/scale" in API group "apps" in the namespace "a"',
    ],
    [path('/metrics', { user: u }), 'forbidden: User "u" cannot get path "/metrics"'],
    [path('/a&<b>', { user: u }), 'forbidden: User "u" cannot get path "/a&amp;&lt;b&gt;"'],
  ])('API-042 %#', (attributes, message) => {
    const error = forbidden(attributes);
    expect(error.message).toBe(message);
    expect(error.code).toBe(403);
    expect(error.reason).toBe('Forbidden');
  });

  it('API-040 API-042 details hold the plural and the group, a reason follows the text', () => {
    const error = forbidden(resource({ user: u, group: 'apps', resource: 'deployments', name: 'x' }), 'because');
    expect(error.message).toMatch(/at the cluster scope: because$/);
    expect(error.status.details).toEqual({ name: 'x', group: 'apps', kind: 'deployments' });
  });
});
