import { describe, expect, it } from 'vitest';
import { findResource } from '../../../api/kinds/builtin-resources.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { validateBuiltin } from '../../../api/schema/validation/validate-builtin.ts';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { MemoryLogger } from '../../../base/logs/memory-logger.ts';
import { seededRandom } from '../../../base/random/random.ts';
import { openMemoryStore } from '../../storage/embedded/memory-store.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../../storage/stored-object.ts';
import { bootstrapPolicy, ensurePolicy } from './ensure-policy.ts';
import { rolesOf } from './policy-text.ts';
import { reconcilePolicy } from './reconcile-policy.ts';

const policy = bootstrapPolicy();
const find = (kind: string, name: string): KubeObject => {
  const found = policy.find(({ object }) => object.kind === kind && object.metadata?.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found.object;
};

describe('the policy a cluster starts with', () => {
  it('API-513 is made of valid objects, each once', () => {
    const keys = policy.map(
      ({ resource, object }) =>
        `${resource.resource} ${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`,
    );
    expect(new Set(keys).size).toBe(keys.length);
    for (const { resource, object } of policy) {
      const info = findResource(resource.group, 'v1', resource.resource);
      if (info === undefined) throw new Error(resource.resource);
      expect([object.metadata?.name, validateBuiltin(object, info)]).toEqual([object.metadata?.name, []]);
      expect([info.kind, info.namespaced]).toEqual([object.kind, object.metadata?.namespace !== undefined]);
    }
  });

  it('API-513 binds only roles that it has, each controller’s to its ServiceAccount', () => {
    const bindings = policy.filter(({ object }) => object.kind?.endsWith('Binding') === true);
    expect(bindings.length).toBe(12 + 38 + 7);
    for (const { object } of bindings) {
      const { kind, name } = object['roleRef'] as { kind: string; name: string };
      const namespace = kind === 'Role' ? object.metadata?.namespace : undefined;
      const roles = policy.filter((each) => each.object.kind === kind && each.object.metadata?.name === name);
      expect(roles.some((each) => each.object.metadata?.namespace === namespace)).toBe(true);
    }
    expect(find('ClusterRoleBinding', 'system:controller:generic-garbage-collector')['subjects']).toEqual([
      { kind: 'ServiceAccount', name: 'generic-garbage-collector', namespace: 'kube-system' },
    ]);
  });

  it('COL-220 the collector of kube-controller-manager may do this', () => {
    expect(find('ClusterRole', 'system:controller:generic-garbage-collector')['rules']).toEqual([
      { verbs: ['delete', 'get', 'list', 'patch', 'update', 'watch'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    ]);
  });

  it('API-513 API-375 admin, edit and view aggregate each other', () => {
    const selects = (name: string) =>
      (find('ClusterRole', name)['aggregationRule'] as { clusterRoleSelectors: unknown }).clusterRoleSelectors;
    for (const name of ['admin', 'edit', 'view']) {
      expect(selects(name)).toEqual([{ matchLabels: { [`rbac.authorization.k8s.io/aggregate-to-${name}`]: 'true' } }]);
    }
    expect(find('ClusterRole', 'edit').metadata?.labels).toEqual({
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
    });
  });

  it('reads its notation', () => {
    const [one, two] = rolesOf(
      '\nns/one\n  read,use core,apps a,b x,y\n  * url /a,/b*\ntwo aggregate-to-x aggregates aggregate-to-y\n',
    );
    expect(one?.object).toMatchObject({
      kind: 'Role',
      metadata: { namespace: 'ns', name: 'one' },
      rules: [
        {
          verbs: ['get', 'list', 'use', 'watch'],
          apiGroups: ['', 'apps'],
          resources: ['a', 'b'],
          resourceNames: ['x', 'y'],
        },
        { verbs: ['*'], nonResourceURLs: ['/a', '/b*'] },
      ],
    });
    expect(two?.object).toMatchObject({ kind: 'ClusterRole', rules: null, metadata: { name: 'two' } });
  });
});

describe('reconcilePolicy', () => {
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
  const rule = (...verbs: string[]) => ({ verbs, apiGroups: [''], resources: ['pods'] });
  const role = (rules: unknown, metadata: object = {}) => ({
    kind: 'ClusterRole',
    metadata: { name: 'r', labels: { a: '1' }, annotations, ...metadata },
    rules,
  });
  const wanted = role([rule('get', 'list')]);
  it.each<[string, KubeObject | undefined, KubeObject, object]>([
    ['missing', undefined, wanted, { verdict: 'create', reason: 'missing' }],
    ['as it should be', wanted, wanted, { verdict: 'keep', reason: 'complete' }],
    ['with more', role([rule('*')], { labels: { a: '2', b: '3' } }), wanted, { verdict: 'keep', reason: 'complete' }],
    [
      'left alone',
      role([], { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } }),
      wanted,
      { verdict: 'keep', reason: 'protected' },
    ],
    [
      'with less',
      role([rule('get')]),
      wanted,
      { verdict: 'update', reason: 'incomplete', object: role([rule('get'), rule('list')]) },
    ],
    [
      'without its label',
      role(wanted.rules, { labels: { b: '1' } }),
      wanted,
      { verdict: 'update', reason: 'incomplete', object: role(wanted.rules, { labels: { a: '1', b: '1' } }) },
    ],
    [
      'without its aggregation',
      role([rule('watch')]),
      { ...role(null), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] } },
      {
        verdict: 'update',
        reason: 'incomplete',
        object: { ...role([rule('watch')]), aggregationRule: { clusterRoleSelectors: [{ matchLabels: { x: 'y' } }] } },
      },
    ],
  ])('API-513 a role %s', (_, existing, needed, expected) => {
    expect(reconcilePolicy(existing, needed)).toEqual(expected);
  });

  const binding = (roleName: string, ...groups: string[]) => ({
    kind: 'ClusterRoleBinding',
    metadata: { name: 'b', labels: {}, annotations },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
    subjects: groups.map((name) => ({ kind: 'Group', name })),
  });
  it.each<[string, KubeObject, object]>([
    ['as it should be', binding('r', 'x', 'y'), { verdict: 'keep', reason: 'complete' }],
    ['with more', binding('r', 'y', 'z', 'x'), { verdict: 'keep', reason: 'complete' }],
    [
      'with less',
      binding('r', 'z', 'y'),
      { verdict: 'update', reason: 'incomplete', object: binding('r', 'z', 'y', 'x') },
    ],
    ['of another role', binding('s', 'x', 'y'), { verdict: 'replace', reason: 'otherRole' }],
  ])('API-513 a binding %s', (_, existing, expected) => {
    expect(reconcilePolicy(existing, binding('r', 'x', 'y'))).toEqual(expected);
  });
});

describe('ensurePolicy', () => {
  it('API-513 makes everything once, and afterwards brings back what is missing', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const environment = { store, clock, random: seededRandom(1), logger: new MemoryLogger() };
    await ensurePolicy(environment);
    expect(await store.currentRevision()).toBeGreaterThanOrEqual(policy.length);
    const first = await store.currentRevision();
    await ensurePolicy(environment);
    expect(await store.currentRevision()).toBe(first);

    const group = 'rbac.authorization.k8s.io';
    const keyOf = (resource: string, name: string) => `${resourcePrefix({ group, resource })}${name}`;
    const read = async (key: string) => new StoredObject((await store.get(key)).kv!).object();
    const write = async (key: string, change: object) => {
      const { kv } = await store.get(key);
      await store.update(key, encodeStored({ ...(await read(key)), ...change }), kv!.modRevision);
    };
    const [view, basic, discovery] = [
      keyOf('clusterroles', 'system:basic-user'),
      keyOf('clusterrolebindings', 'system:basic-user'),
      keyOf('clusterrolebindings', 'system:discovery'),
    ];
    const before = await read(basic);
    await write(view, { rules: [] });
    await write(basic, { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' } });
    await store.delete(discovery, (await store.get(discovery)).kv!.modRevision);
    await ensurePolicy(environment);
    expect((await read(view))['rules']).toHaveLength(3);
    expect((await read(basic))['roleRef']).toEqual(before['roleRef']);
    expect((await read(basic)).metadata?.uid).not.toBe(before.metadata?.uid);
    expect((await read(discovery))['subjects']).toEqual(find('ClusterRoleBinding', 'system:discovery')['subjects']);
    await store.close();
  });
});
