import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinResources } from '../../src/api/kinds/builtin-resources.ts';
import type { ResourceInfo, Verb } from '../../src/api/kinds/resource-info.ts';
import { apiVersionOf } from '../../src/api/meta/group-version-kind.ts';
import type { Authenticator } from '../../src/apiserver/authentication/authenticator.ts';
import { type Answer, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';

/**
 * A user can do no more than the role allows: every verb on every resource and subresource that is served, and every other path, without
 * the right and with exactly the one right. The right is a rule of ClusterRole `one`; `ann` has it in namespace `default`, `bob`
 * everywhere.
 */

/** Whom a request says it is from; only membership in groups that the test gives. */
const byHeader: Authenticator = {
  authenticate: ({ headers }) => {
    const name = headers['x-user'];
    if (typeof name !== 'string') return undefined;
    return { username: name, groups: name === 'root' ? ['system:masters'] : [] };
  },
};

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const NAME = 'thing';

interface Asked {
  readonly verb: string;
  readonly info: ResourceInfo;
  readonly subresource: string;
}

const methods: Readonly<Record<Verb, string>> = {
  create: 'POST',
  delete: 'DELETE',
  deletecollection: 'DELETE',
  get: 'GET',
  list: 'GET',
  patch: 'PATCH',
  update: 'PUT',
  watch: 'GET',
};

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader });
  await grant([]);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'one' };
  const subjects = (name: string) => [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name }];
  const bindings = [
    [`${RBAC}/namespaces/default/rolebindings`, 'RoleBinding', 'ann'],
    [`${RBAC}/clusterrolebindings`, 'ClusterRoleBinding', 'bob'],
  ] as const;
  for (const [path, kind, name] of bindings) {
    const body = { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'one' }, roleRef };
    expect((await as('root', 'POST', path, { ...body, subjects: subjects(name) })).status).toBe(201);
  }
});

afterAll(() => server.server.stop());

async function as(user: string, method: string, path: string, body?: unknown, type?: string): Promise<Answer> {
  const headers = { 'x-user': user, ...(type === undefined ? {} : { 'content-type': type }) };
  return server.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
}

/** Replaces the rules of the one role. */
async function grant(rules: readonly object[]): Promise<void> {
  const { status } = await as('root', 'PUT', `${RBAC}/clusterroles/one`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'one' },
    rules,
  });
  expect([200, 201]).toContain(status);
}

const isNamed = ({ verb, subresource }: Asked): boolean =>
  subresource !== '' || ['get', 'update', 'patch', 'delete'].includes(verb);

function pathOf(asked: Asked): string {
  const { info, subresource, verb } = asked;
  const root = info.group === '' ? `/api/${info.version}` : `/apis/${info.group}/${info.version}`;
  const collection = `${root}/${info.namespaced ? 'namespaces/default/' : ''}${info.resource}`;
  if (!isNamed(asked)) return verb === 'watch' ? `${collection}?watch=true&timeoutSeconds=1` : collection;
  return `${collection}/${NAME}${subresource === '' ? '' : `/${subresource}`}`;
}

/** The request with a body that is no object of any kind: only what stands before the endpoint may refuse it with 403. */
async function send(user: string, asked: Asked): Promise<number | string> {
  const method = methods[asked.verb as Verb];
  const withBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const headers = {
    'x-user': user,
    ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}),
  };
  const stop = new AbortController();
  // The administrator is asked the same, and must not empty the cluster by it.
  const target = method === 'GET' ? pathOf(asked) : `${pathOf(asked)}?dryRun=All`;
  const response = await server.send(method, target, {
    headers,
    signal: stop.signal,
    ...(withBody ? { body: method === 'PATCH' ? '{}' : {} } : {}),
  });
  if (response.status !== 403 || !(response.body instanceof Uint8Array)) {
    stop.abort();
    return response.status;
  }
  const status = JSON.parse(Buffer.from(response.body).toString()) as { message: string; reason: string };
  return status.reason === 'Forbidden' && status.message.includes('is forbidden: User') ? status.message : 403;
}

function refusal(user: string, asked: Asked): string {
  const { info, verb, subresource } = asked;
  const which = info.group === '' ? info.resource : `${info.resource}.${info.group}`;
  const name = isNamed(asked) ? ` "${NAME}"` : '';
  const what = subresource === '' ? info.resource : `${info.resource}/${subresource}`;
  // The namespace of a Namespace is itself.
  const namespace = info.namespaced
    ? 'default'
    : info.group === '' && info.resource === 'namespaces' && name !== ''
      ? NAME
      : '';
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `${which}${name} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${info.group}" ${where}`;
}

function everything(info: ResourceInfo): Asked[] {
  return [
    ...info.verbs.map((verb) => ({ verb, info, subresource: '' })),
    ...info.subresources.flatMap(({ name, verbs }) => verbs.map((verb) => ({ verb, info, subresource: name }))),
  ];
}

describe('resources', () => {
  it.each(builtinResources().map((info) => [`${info.resource} ${apiVersionOf(info)}`, info] as const))(
    'API-042 API-375 %s: without a right nothing goes, with the one right that',
    async (_, info) => {
      const user = info.namespaced ? 'ann' : 'bob';
      const asked = everything(info);
      expect(asked.length).toBeGreaterThan(0);
      const before = await server.store.currentRevision();
      for (const each of asked) expect(await send('nobody', each)).toBe(refusal('nobody', each));
      expect(await server.store.currentRevision()).toBe(before);
      for (const each of asked) {
        const resource = each.subresource === '' ? info.resource : `${info.resource}/${each.subresource}`;
        const names = isNamed(each) ? { resourceNames: [NAME] } : {};
        await grant([{ apiGroups: [info.group], resources: [resource], verbs: [each.verb], ...names }]);
        // The same as for somebody who may do everything.
        expect([each.verb, resource, await send(user, each)]).toEqual([each.verb, resource, await send('root', each)]);
        // And none of the others.
        for (const other of asked.filter((candidate) => candidate !== each)) {
          expect(await send(user, other)).toBe(refusal(user, other));
        }
      }
    },
  );

  it('API-042 API-375 custom resources are no exception', async () => {
    const subresources = {
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    };
    const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', kind: 'Widget' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources }],
      },
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await as('root', 'POST', path, definition)).status).toBe(201);
    const info = server.server.resources.resources().find(({ resource }) => resource === 'widgets');
    if (info === undefined) throw new Error('widgets are not served');
    const before = await server.store.currentRevision();
    for (const each of everything(info)) expect(await send('nobody', each)).toBe(refusal('nobody', each));
    expect(await server.store.currentRevision()).toBe(before);
    for (const each of everything(info)) {
      const resource = each.subresource === '' ? 'widgets' : `widgets/${each.subresource}`;
      await grant([{ apiGroups: ['example.com'], resources: [resource], verbs: [each.verb] }]);
      expect([each.verb, resource, await send('ann', each)]).toEqual([each.verb, resource, await send('root', each)]);
    }
  });

  it('API-173 API-210 who may update or apply, but not create, creates nothing by it', async () => {
    const path = '/api/v1/namespaces/default/configmaps/made';
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases/made';
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'made' } };
    const rule = (...verbs: string[]) => [
      { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'], verbs },
    ];
    const apply = () =>
      as('ann', 'PATCH', `${path}?fieldManager=m`, JSON.stringify(map), 'application/apply-patch+yaml');
    const put = () => as('ann', 'PUT', leases, lease);
    await grant(rule('update', 'patch'));
    const before = await server.store.currentRevision();
    const texts = [(await apply()).json.message, (await put()).json.message];
    expect(texts).toEqual([
      'configmaps "made" is forbidden: User "ann" cannot create resource "configmaps" in API group "" in the namespace "default"',
      'leases.coordination.k8s.io "made" is forbidden: User "ann" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "default"',
    ]);
    expect(await server.store.currentRevision()).toBe(before);
    await grant(rule('update', 'patch', 'create'));
    expect([(await apply()).status, (await put()).status]).toEqual([201, 201]);
    await grant(rule('update', 'patch'));
    expect((await apply()).status).toBe(200);
  });

  it('API-375 a right in a namespace is none elsewhere, and none across namespaces', async () => {
    await grant([{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'get'] }]);
    const answers = await Promise.all(
      ['default', 'kube-system'].map((namespace) => as('ann', 'GET', `/api/v1/namespaces/${namespace}/secrets`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 403]);
    const across = await as('ann', 'GET', '/api/v1/secrets');
    expect(across.json.message).toBe(
      'secrets is forbidden: User "ann" cannot list resource "secrets" in API group "" at the cluster scope',
    );
  });

  it('API-002 a list by name needs the right to that name only', async () => {
    await grant([{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'], resourceNames: ['mine'] }]);
    const list = (query: string) => as('ann', 'GET', `/api/v1/namespaces/default/secrets${query}`);
    const [mine, yours, all] = await Promise.all([
      list('?fieldSelector=metadata.name%3Dmine'),
      list('?fieldSelector=metadata.name%3Dyours'),
      list(''),
    ]);
    expect([mine?.status, yours?.status, all?.status]).toEqual([200, 403, 403]);
    const selector = encodeURIComponent('metadata.name=mine,metadata.namespace=default');
    expect((await list(`?fieldSelector=${selector}`)).status).toBe(200);
  });

  it('API-002 to delete a collection by name, the right to that name is not enough', async () => {
    const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['deletecollection'] };
    const path = '/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Dmine';
    await grant([{ ...secrets, resourceNames: ['mine'] }]);
    const { status, json } = await as('ann', 'DELETE', path);
    expect([status, json.message]).toEqual([
      403,
      'secrets is forbidden: User "ann" cannot deletecollection resource "secrets" in API group "" in the namespace "default"',
    ]);
    await grant([secrets]);
    expect((await as('ann', 'DELETE', path)).status).toBe(200);
  });

  it('API-003 a watch by the deprecated prefix needs the right to the name in its path', async () => {
    await grant([{ apiGroups: [''], resources: ['secrets'], verbs: ['watch'], resourceNames: ['mine'] }]);
    const watch = async (path: string): Promise<number> => {
      const stop = new AbortController();
      const target = `/api/v1/watch/namespaces/default/secrets${path}`;
      const { status } = await server.send('GET', target, { headers: { 'x-user': 'ann' }, signal: stop.signal });
      stop.abort();
      return status;
    };
    const yours = '/yours?fieldSelector=metadata.name%3Dmine';
    expect([await watch('/mine'), await watch(yours), await watch('')]).toEqual([200, 403, 403]);
  });
});

describe('other paths', () => {
  const paths = [
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/.well-known/openid-configuration',
    '/debug/controllers/garbage-collector-controller/graph',
    '/healthz/ping',
    '/index.html',
    '/livez/ping',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/api/v1',
    '/openid/v1/jwks',
    '/readyz/ping',
    '/version',
    '/there/is/no/such/path',
  ];

  it.each(paths)('API-042 API-375 %s: without a right 403, with the one right as for everybody else', async (path) => {
    await grant([]);
    const refused = await as('bob', 'GET', path);
    expect([refused.status, refused.json.message]).toEqual([403, `forbidden: User "bob" cannot get path "${path}"`]);
    await grant([{ verbs: ['get'], nonResourceURLs: [path] }]);
    const [mine, everybody] = [await as('bob', 'GET', path), await as('root', 'GET', path)];
    expect(mine.status).toBe(everybody.status);
    expect(mine.status).not.toBe(403);
    // Not by another method, and not in a namespace: paths are of the cluster.
    expect((await as('bob', 'POST', path, {})).status).toBe(403);
    expect((await as('ann', 'GET', path)).status).toBe(403);
    await grant([{ verbs: ['get'], nonResourceURLs: [`${path.slice(0, path.lastIndexOf('/') + 1)}*`] }]);
    expect((await as('bob', 'GET', path)).status).toBe(everybody.status);
  });

  it('API-013 whether it lives is nobody’s secret', async () => {
    for (const path of ['/healthz', '/livez', '/readyz']) expect((await as('nobody', 'GET', path)).status).toBe(200);
  });

  it.each(['/healthz', '/livez', '/readyz'])('API-013 POST %s needs a right, unlike GET', async (path) => {
    await grant([]);
    for (const user of ['nobody', 'bob']) {
      const { status, json } = await as(user, 'POST', path, {});
      expect([status, json.message]).toEqual([403, `forbidden: User "${user}" cannot post path "${path}"`]);
    }
    await grant([{ verbs: ['post'], nonResourceURLs: [path] }]);
    expect((await as('bob', 'POST', path, {})).status).toBe(200);
    const closed = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader, anonymous: 'refused' });
    expect((await closed.post(path, {})).status).toBe(401);
    await closed.server.stop();
  });

  it('API-371 API-513 who has no credentials is anonymous, and sees the version', async () => {
    const open = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader, anonymous: 'allowed' });
    const [version, discovery] = [await open.get('/version'), await open.get('/api')];
    expect([version.status, discovery.status]).toEqual([200, 403]);
    expect(discovery.json.message).toBe('forbidden: User "system:anonymous" cannot get path "/api"');
    await open.server.stop();
  });
});
