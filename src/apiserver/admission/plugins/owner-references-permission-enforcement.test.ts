import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import type { Authenticator } from '../../authentication/authenticator.ts';
import { type Answer, startTestServer, type TestServer } from '../../test/test-server.ts';

/** `ann` may always create, read, update and patch ConfigMaps and Deployments; the rest is granted by the test. */
const byHeader: Authenticator = {
  authenticate: ({ headers }) => {
    const name = headers['x-user'];
    return typeof name === 'string' ? { username: name, groups: name === 'root' ? ['system:masters'] : [] } : undefined;
  },
};

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ authorizationMode: 'RBAC', authenticator: byHeader });
  const bindings = [
    ['namespaces/default/rolebindings', 'here'],
    ['clusterrolebindings', 'everywhere'],
  ] as const;
  for (const [path, name] of bindings) {
    await as('root', 'POST', `${rbac}/${path}`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: 'ann' }],
    });
  }
});
afterAll(() => server.server.stop());

const as = (user: string, method: string, path: string, body?: unknown): Promise<Answer> =>
  server.request(method, path, {
    headers: { 'x-user': user, ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}) },
    ...(body === undefined ? {} : { body: method === 'PATCH' ? JSON.stringify(body) : body }),
  });

const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});
async function grant(...rules: object[]): Promise<void> {
  await put('here', [rule('', 'configmaps', 'create', 'get', 'update', 'patch'), ...rules]);
}
const put = (name: string, rules: readonly object[]) =>
  as('root', 'PUT', `${rbac}/clusterroles/${name}`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  });

beforeEach(async () => {
  await grant();
  await put('everywhere', []);
});

let count = 0;
const reference = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'owner',
  uid: '11111111-2222-4333-8444-555555555555',
  ...more,
});
const created = async (name: string, ...ownerReferences: OwnerReference[]) =>
  as('ann', 'POST', maps, { metadata: { name, ownerReferences } });
const changed = async (name: string, ...ownerReferences: OwnerReference[]) =>
  as('ann', 'PATCH', `${maps}/${name}`, { metadata: { ownerReferences } });
const told = ({ status, json }: Answer) => (status === 403 ? json.message : status);
const fresh = (): string => `m${count++}`;

const cannotDelete = (name: string) =>
  `configmaps "${name}" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>`;
const cannotBlock = (name: string) =>
  `configmaps "${name}" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`;

describe('OwnerReferencesPermissionEnforcement', () => {
  it('API-342 API-343 COL-222 whoever changes owners must be able to delete the object; whoever makes it, need not', async () => {
    const name = fresh();
    expect(told(await created(name, reference()))).toBe(201);
    expect(told(await changed(name))).toBe(cannotDelete(name));
    expect(told(await changed(name, reference({ controller: true })))).toBe(cannotDelete(name));
    expect(told(await changed(name, reference(), reference({ uid: '2-2' })))).toBe(cannotDelete(name));
    // The same reference again, and a change of any other field, change no owner.
    expect(told(await changed(name, reference()))).toBe(200);
    expect(told(await as('ann', 'PATCH', `${maps}/${name}`, { data: { a: 'b' } }))).toBe(200);
    const stored = await as('root', 'GET', `${maps}/${name}`);
    expect(stored.json.metadata?.ownerReferences).toEqual([reference()]);
    await grant({ ...rule('', 'configmaps', 'delete'), resourceNames: [name] });
    expect(told(await changed(name))).toBe(200);
    expect(told(await as('root', 'PATCH', `${maps}/${name}`, { metadata: { ownerReferences: [reference()] } }))).toBe(
      200,
    );
  });

  it('API-342 an order is a change', async () => {
    const name = fresh();
    const [a, b] = [reference({ uid: '1-1' }), reference({ uid: '2-2' })];
    await created(name, a, b);
    expect(told(await changed(name, b, a))).toBe(cannotDelete(name));
  });

  it('API-344 COL-222 whoever holds an owner back must be able to set its finalizers, on creation too', async () => {
    const blocking = reference({ blockOwnerDeletion: true });
    const [one, two, three] = [fresh(), fresh(), fresh()];
    expect(told(await created(one, blocking))).toBe(cannotBlock(one));
    await grant(rule('apps', 'deployments', 'update'), {
      ...rule('apps', 'deployments/finalizers', 'update'),
      resourceNames: ['other'],
    });
    expect(told(await created(one, blocking))).toBe(cannotBlock(one));
    await grant({ ...rule('apps', 'deployments/finalizers', 'update'), resourceNames: ['owner'] });
    expect(told(await created(one, blocking))).toBe(201);
    await grant(rule('', 'configmaps', 'delete'));
    // The reference blocks already.
    expect(told(await changed(one, { ...blocking, controller: true }))).toBe(200);
    await created(two, reference());
    expect(told(await changed(two, blocking))).toBe(cannotBlock(two));
    expect(told(await changed(two, reference(), reference({ uid: '3-3', blockOwnerDeletion: true })))).toBe(
      cannotBlock(two),
    );
    // A reference that stops blocking needs only the right to delete.
    expect(told(await changed(one, reference({ blockOwnerDeletion: false })))).toBe(200);
    expect(told(await changed(one, blocking))).toBe(cannotBlock(one));
    expect(told(await created(three, reference(), reference({ uid: '4-4', blockOwnerDeletion: true })))).toBe(
      cannotBlock(three),
    );
  });

  it('API-344 owners that are cluster-scoped need a right at cluster scope', async () => {
    const node = reference({ apiVersion: 'v1', kind: 'Node', blockOwnerDeletion: true });
    const name = fresh();
    await grant(rule('', 'nodes/finalizers', 'update'));
    expect(told(await created(name, node))).toBe(cannotBlock(name));
    await put('everywhere', [rule('', 'nodes/finalizers', 'update')]);
    expect(told(await created(name, node))).toBe(201);
  });

  it('API-344 an owner of a kind that is not served is refused, unless one may hold back everything', async () => {
    const unknown = reference({ apiVersion: 'example.com/v1', kind: 'Thing', blockOwnerDeletion: true });
    const name = fresh();
    expect(told(await created(name, unknown))).toBe(
      `configmaps "${name}" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind Thing: no matches for kind "Thing" in version "example.com/v1"`,
    );
    await put('everywhere', [rule('*', '*/finalizers', 'update')]);
    expect(told(await created(name, unknown))).toBe(201);
  });

  it('API-342 is off where rights do not count', async () => {
    const open = await startTestServer();
    const answer = await open.post(maps, {
      metadata: { name: 'm', ownerReferences: [reference({ blockOwnerDeletion: true })] },
    });
    expect(answer.status).toBe(201);
    await open.server.stop();
  });
});
