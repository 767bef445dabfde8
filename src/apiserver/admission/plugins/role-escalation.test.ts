import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Authenticator } from '../../authentication/authenticator.ts';
import { type Answer, startTestServer, type TestServer } from '../../test/test-server.ts';

/** Users grant no more than they have. `ann` may write roles and bindings everywhere, and read pods. */
const byHeader: Authenticator = {
  authenticate: ({ headers }) => {
    const name = headers['x-user'];
    return typeof name === 'string'
      ? { username: name, groups: name === 'root' ? ['system:masters'] : ['dev'] }
      : undefined;
  },
};

const GROUP = 'rbac.authorization.k8s.io';
const root = `/apis/${GROUP}/v1`;
const apiVersion = `${GROUP}/v1`;
const rule = (resource: string, ...verbs: string[]) => ({ apiGroups: [''], resources: [resource], verbs });
const role = (kind: 'Role' | 'ClusterRole', name: string, rules: unknown, more: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name },
  rules,
  ...more,
});
const binding = (kind: 'RoleBinding' | 'ClusterRoleBinding', name: string, to: string, roleKind = 'ClusterRole') => ({
  apiVersion,
  kind,
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind: roleKind, name: to },
  subjects: [{ kind: 'User', name: 'bob' }],
});

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader });
});
afterAll(() => server.server.stop());

const as = (user: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  server.request(method, `${root}/${path}`, {
    headers: { 'x-user': user, ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}) },
    ...(body === undefined ? {} : { body: method === 'PATCH' ? JSON.stringify(body) : body }),
  });

/** The rights of ann besides writing roles. */
async function annMay(...rules: object[]): Promise<void> {
  const writing = {
    apiGroups: [GROUP],
    resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
  };
  await as('root', 'PUT', 'clusterroles/of-ann', role('ClusterRole', 'of-ann', [writing, ...rules]));
}

beforeEach(async () => {
  const bound = { ...binding('ClusterRoleBinding', 'of-ann', 'of-ann'), subjects: [{ kind: 'User', name: 'ann' }] };
  await as('root', 'POST', 'clusterrolebindings', bound);
  await annMay(rule('pods', 'get'));
});

let count = 0;
const fresh = (): string => `n${count++}`;
const REFUSED =
  'is forbidden: user "ann" (groups=["dev"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}';

describe('roles', () => {
  it.each([
    ['clusterroles', 'ClusterRole'],
    ['namespaces/default/roles', 'Role'],
  ] as const)('API-375 %s: what one holds can be written, nothing else', async (path, kind) => {
    const name = fresh();
    const held = await as('ann', 'POST', path, role(kind, name, [rule('pods', 'get')]));
    expect(held.status).toBe(201);
    const other = fresh();
    const refused = await as('ann', 'POST', path, role(kind, other, [rule('pods', 'get'), rule('secrets', 'get')]));
    const resource = path.split('/').at(-1) ?? '';
    expect([refused.status, refused.json.message]).toEqual([403, `${resource}.${GROUP} "${other}" ${REFUSED}`]);
    expect((await as('root', 'GET', `${path}/${other}`)).status).toBe(404);
    // An update or a patch of ann's own role is refused, too.
    const put = await as('ann', 'PUT', `${path}/${name}`, role(kind, name, [rule('secrets', 'get')]));
    const patch = await as('ann', 'PATCH', `${path}/${name}`, { rules: [rule('secrets', 'get')] });
    expect([put.status, patch.status]).toEqual([403, 403]);
    expect((await as('root', 'GET', `${path}/${name}`)).json['rules']).toEqual([{ ...rule('pods', 'get') }]);
  });

  it('API-375 a user with the verb escalate may write any role, and so may system:masters', async () => {
    await annMay({ apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['escalate'] });
    const wanted = (name: string) => role('ClusterRole', name, [rule('secrets', 'get')]);
    expect((await as('ann', 'POST', 'clusterroles', wanted(fresh()))).status).toBe(201);
    expect((await as('root', 'POST', 'clusterroles', wanted(fresh()))).status).toBe(201);
    // The request did not concern roles.
    expect(
      (await as('ann', 'POST', 'namespaces/default/roles', role('Role', fresh(), [rule('secrets', 'get')]))).status,
    ).toBe(403);
  });

  it('API-375 a right to escalate certain names is none to create them, because a create names nothing in its path', async () => {
    const name = fresh();
    const wanted = role('ClusterRole', name, [rule('secrets', 'get')]);
    await annMay({ apiGroups: [GROUP], resources: ['clusterroles'], resourceNames: [name], verbs: ['escalate'] });
    expect((await as('ann', 'POST', 'clusterroles', wanted)).status).toBe(403);
    await as('root', 'POST', 'clusterroles', role('ClusterRole', name, []));
    expect((await as('ann', 'PUT', `clusterroles/${name}`, wanted)).status).toBe(200);
  });

  it('API-375 only who may do everything makes aggregations, because nobody knows what they gather', async () => {
    const aggregating = (name: string) =>
      role('ClusterRole', name, null, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } });
    const name = fresh();
    const refused = await as('ann', 'POST', 'clusterroles', aggregating(name));
    expect(refused.json.message).toBe(
      `clusterroles.${GROUP} "${name}" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    );
    expect((await as('root', 'POST', 'clusterroles', aggregating(name))).status).toBe(201);
    expect((await as('ann', 'PATCH', `clusterroles/${name}`, { aggregationRule: null })).status).toBe(403);
    await annMay({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { nonResourceURLs: ['*'], verbs: ['*'] });
    expect((await as('ann', 'POST', 'clusterroles', aggregating(fresh()))).status).toBe(201);
  });

  it('API-375 a collector may take away owners and finalizers of roles it could not have made', async () => {
    const name = fresh();
    const meta = { name, finalizers: ['example.com/f'], labels: { a: 'b' } };
    await as('root', 'POST', 'clusterroles', {
      ...role('ClusterRole', name, [rule('secrets', 'get')]),
      metadata: meta,
    });
    expect((await as('ann', 'PATCH', `clusterroles/${name}`, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await as('ann', 'PATCH', `clusterroles/${name}`, { metadata: { labels: { a: 'c' } } })).status).toBe(403);
  });
});

describe('bindings', () => {
  it.each([
    ['clusterrolebindings', 'ClusterRoleBinding'],
    ['namespaces/default/rolebindings', 'RoleBinding'],
  ] as const)('API-375 %s: to what one holds, or may bind', async (path, kind) => {
    const [held, more, absent] = [fresh(), fresh(), fresh()];
    await as('root', 'POST', 'clusterroles', role('ClusterRole', held, [rule('pods', 'get')]));
    await as('root', 'POST', 'clusterroles', role('ClusterRole', more, [rule('secrets', 'get')]));
    const names = [fresh(), fresh(), fresh(), fresh()] as const;
    expect((await as('ann', 'POST', path, binding(kind, names[0], held))).status).toBe(201);
    const refused = await as('ann', 'POST', path, binding(kind, names[1], more));
    expect(refused.json.message).toBe(`${path.split('/').at(-1) ?? ''}.${GROUP} "${names[1]}" ${REFUSED}`);
    // Another subject means that the rights are granted again.
    await as('root', 'POST', path, binding(kind, names[2], more));
    const subjects = [{ kind: 'User', apiGroup: GROUP, name: 'ann' }];
    expect((await as('ann', 'PATCH', `${path}/${names[2]}`, { subjects })).status).toBe(403);
    const missing = await as('ann', 'POST', path, binding(kind, names[3], absent));
    expect([missing.status, missing.json.message]).toEqual([404, `clusterroles.${GROUP} "${absent}" not found`]);
    await annMay({ apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['bind'], resourceNames: [more] });
    expect((await as('ann', 'POST', path, binding(kind, names[1], more))).status).toBe(201);
    expect((await as('ann', 'POST', path, binding(kind, names[3], absent))).status).toBe(404);
  });

  it('API-375 a role of another namespace is no role here', async () => {
    const name = fresh();
    await as('root', 'POST', 'namespaces/kube-system/roles', role('Role', name, [rule('pods', 'get')]));
    const bound = await as(
      'ann',
      'POST',
      'namespaces/default/rolebindings',
      binding('RoleBinding', name, name, 'Role'),
    );
    expect([bound.status, bound.json.message]).toEqual([404, `roles.${GROUP} "${name}" not found`]);
  });
});

describe('reviews', () => {
  const review = (kind: string, spec: object, user = 'root') =>
    server.request('POST', `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`, {
      headers: { 'x-user': user },
      body: { apiVersion: 'authorization.k8s.io/v1', kind, spec },
    });

  it('API-374 say what allows, and what could not be found', async () => {
    await as('root', 'POST', 'clusterrolebindings', binding('ClusterRoleBinding', 'dangling', 'nowhere'));
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' };
    const ofAnn = await review('SubjectAccessReview', { user: 'ann', resourceAttributes });
    expect(ofAnn.json['status']).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "of-ann" of ClusterRole "of-ann" to User "ann"',
    });
    const ofBob = await review('SubjectAccessReview', {
      user: 'bob',
      resourceAttributes: { ...resourceAttributes, resource: 'nodes' },
    });
    expect(ofBob.json['status']).toEqual({
      allowed: false,
      reason: `RBAC: clusterrole.${GROUP} "nowhere" not found`,
    });
    const refused = await server.get('/api/v1/nodes', { 'x-user': 'bob' });
    expect(refused.json.message).toBe(
      `nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: clusterrole.${GROUP} "nowhere" not found`,
    );
    await as('root', 'DELETE', 'clusterrolebindings/dangling');
  });

  it('API-374 list the rules of a user, cluster-wide ones and those of the namespace', async () => {
    const name = fresh();
    await as('root', 'POST', 'namespaces/default/roles', role('Role', name, [rule('secrets', 'list')]));
    const subjects = [{ kind: 'Group', name: 'dev' }];
    await as('root', 'POST', 'namespaces/default/rolebindings', {
      ...binding('RoleBinding', name, name, 'Role'),
      subjects,
    });
    const allowReviews = {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectrulesreviews'],
      verbs: ['create'],
    };
    await annMay({ verbs: ['get'], nonResourceURLs: ['/metrics'] }, allowReviews);
    const rules = async (namespace: string) =>
      (await review('SelfSubjectRulesReview', { namespace }, 'ann')).json['status'] as unknown as {
        resourceRules: object[];
        nonResourceRules: object[];
        incomplete: boolean;
      };
    expect(await rules('default')).toEqual({
      incomplete: false,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
      resourceRules: expect.arrayContaining([rule('secrets', 'list'), allowReviews]),
    });
    expect((await rules('kube-system')).resourceRules).not.toContainEqual(rule('secrets', 'list'));
  });
});
