import { beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type Answer, configMap, configMaps, startTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const deployment = (name: string, replicas = 1): KubeObject => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { a: name } },
    template: { metadata: { labels: { a: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});
const lease = (name: string, resourceVersion?: string): KubeObject => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  spec: { holderIdentity: 'me' },
});
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

describe('update', () => {
  it('API-170 replaces; names must agree', async () => {
    await server.post(configMaps, configMap('a', { data: { k: '1' } }));
    const { status, json } = await server.put(`${configMaps}/a`, configMap('a', { data: { l: '2' } }));
    expect(status).toBe(200);
    expect(json['data']).toEqual({ l: '2' });
    const other = await server.put(`${configMaps}/a`, configMap('b'));
    expect(other.status).toBe(400);
    expect(other.json.message).toBe('the name of the object (b) does not match the name on the URL (a)');
    expect((await server.put(`${configMaps}/a`, configMap(''))).status).toBe(400);
  });

  it('API-171 a resourceVersion that is not the stored one is 409', async () => {
    const { json } = await server.post(configMaps, configMap('a'));
    await server.patch(`${configMaps}/a`, { data: { k: 'v' } });
    const stale = await server.put(`${configMaps}/a`, json);
    expect(stale.status).toBe(409);
    expect(stale.json).toMatchObject({
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  it('API-172 leases are not overwritten without one', async () => {
    await server.post(leases, lease('a'));
    const { status, json } = await server.put(`${leases}/a`, lease('a'));
    expect(status).toBe(422);
    expect(json.message).toBe(
      'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    );
  });

  it('API-173 PUT creates where the type allows it, else 404', async () => {
    const created = await server.put(`${leases}/b`, lease('b'));
    expect(created.status).toBe(201);
    expect(created.json.metadata?.uid).toBeTruthy();
    const stale = await server.put(`${leases}/c`, lease('c', '7'));
    expect(stale.status).toBe(201);
    const { spec } = lease('d');
    const other = await server.put(`${leases}/d`, { spec, metadata: { name: 'd', uid: 'gone' } });
    expect([other.status, other.json.reason]).toEqual([409, 'Conflict']);
    const missing = await server.put(`${configMaps}/b`, configMap('b'));
    expect(missing.status).toBe(404);
    const gone = await server.put(`${configMaps}/b`, configMap('b', { metadata: { uid: 'gone' } }));
    expect([gone.status, gone.json.message]).toEqual([404, 'configmaps "b" not found']);
    expect((await server.put('/apis/coordination.k8s.io/v1/namespaces/none/leases/b', lease('b'))).status).toBe(404);
  });

  it('API-170 API-173 of two PUTs that find nothing one creates, and the other updates what that one made', async () => {
    const path = '/api/v1/namespaces/default/endpoints/x';
    const put = (ip: string) =>
      server.put(path, { metadata: { name: 'x' }, subsets: [{ addresses: [{ ip }], ports: [{ port: 1 }] }] });
    const answers = await Promise.all([put('10.0.0.1'), put('10.0.0.2')]);
    const [updated, created] = answers.toSorted((a, b) => a.status - b.status);
    expect([updated?.status, created?.status]).toEqual([200, 201]);
    expect(updated?.json.metadata?.uid).toBe(created?.json.metadata?.uid);
    expect((await server.get(path)).json).toEqual(updated?.json);
  });

  it.each([
    ['without a resourceVersion', undefined, 422],
    ['with one of something else', '7', 409],
  ])('API-171 API-173 %s the other one is refused', async (_how, version, status) => {
    const put = () => server.put(`${leases}/b`, lease('b', version));
    const answers = await Promise.all([put(), put()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, status]);
    expect(answers.map(({ json }) => json.reason)).not.toContain('AlreadyExists');
  });

  it('API-174 LIFE-503 another uid is 409 in a PUT and 422 in a PATCH', async () => {
    const { json } = await server.post(configMaps, configMap('a'));
    const put = await server.put(`${configMaps}/a`, configMap('a', { metadata: { uid: 'other' } }));
    expect(put.status).toBe(409);
    expect(put.json.message).toContain(
      `Precondition failed: UID in precondition: other, UID in object meta: ${json.metadata?.uid}`,
    );
    const patch = await server.patch(`${configMaps}/a`, { metadata: { uid: 'other' } });
    expect(patch.status).toBe(422);
    expect(patch.json.message).toContain('metadata.uid: Invalid value: "other": field is immutable');
  });

  it('API-073 what the server decides is put back, and cannot be changed', async () => {
    const { json: created } = await server.post(
      configMaps,
      configMap('a', { metadata: { finalizers: ['example.com/a'] } }),
    );
    const { json: deleted } = await server.delete(`${configMaps}/a`);
    const put = await server.put(
      `${configMaps}/a`,
      configMap('a', {
        data: { k: 'v' },
        metadata: { finalizers: ['example.com/a'], creationTimestamp: '2001-01-01T00:00:00Z' },
      }),
    );
    expect(put.status).toBe(200);
    expect(put.json.metadata).toMatchObject({
      uid: created.metadata?.uid,
      creationTimestamp: created.metadata?.creationTimestamp,
      deletionTimestamp: deleted.metadata?.deletionTimestamp,
      deletionGracePeriodSeconds: 0,
    });
    const undelete = await server.patch(`${configMaps}/a`, { metadata: { deletionTimestamp: null } });
    expect(undelete.json.metadata?.deletionTimestamp).toBe(deleted.metadata?.deletionTimestamp);
  });

  describe('API-073 nobody sets a deletion by writing it', () => {
    const timestamp = { deletionTimestamp: '2030-01-01T00:00:00Z' };
    const writes: Record<string, (metadata: object) => Promise<Answer>> = {
      'a merge patch': (metadata) => server.patch(`${configMaps}/a`, { metadata }),
      'a strategic merge patch': (metadata) => server.patch(`${configMaps}/a`, { metadata }, 'strategic'),
      'a replacement': (metadata) => server.put(`${configMaps}/a`, configMap('a', { metadata })),
      'an applied configuration': (metadata) =>
        server.request('PATCH', `${configMaps}/a?fieldManager=m`, {
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: JSON.stringify(configMap('a', { metadata })),
        }),
    };

    it.each(Object.keys(writes))('%s', async (name) => {
      const { json: created } = await server.post(configMaps, configMap('a'));
      const refused = await writes[name]?.(timestamp);
      expect([refused?.status, refused?.json.message]).toEqual([
        422,
        'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2030-01-01T00:00:00Z": field is immutable',
      ]);
      const period = await writes[name]?.({ deletionGracePeriodSeconds: 5 });
      expect([period?.status, period?.json.message]).toEqual([
        422,
        'ConfigMap "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
      ]);
      expect((await server.get(`${configMaps}/a`)).json).toEqual(created);
    });

    it('nor another grace period of one that began, but what it is may be said again', async () => {
      await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/a'] } }));
      const { json: deleted } = await server.delete(`${configMaps}/a`);
      const refused = await server.patch(`${configMaps}/a`, { metadata: { deletionGracePeriodSeconds: 77 } });
      expect([refused.status, refused.json.message]).toEqual([
        422,
        'ConfigMap "a" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 77: field is immutable',
      ]);
      const again = await server.patch(`${configMaps}/a`, {
        metadata: { ...timestamp, deletionGracePeriodSeconds: 0 },
      });
      expect([again.status, again.json.metadata]).toEqual([200, deleted.metadata]);
    });
  });

  it('API-072 COL-233 LIFE-504 no finalizer is added while terminating; removing and reordering is allowed', async () => {
    await server.post(configMaps, configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }));
    await server.delete(`${configMaps}/a`);
    const added = await server.patch(`${configMaps}/a`, {
      metadata: { finalizers: ['example.com/a', 'example.com/c'] },
    });
    expect(added.status).toBe(422);
    expect(added.json.message).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}',
    );
    expect(
      (await server.patch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/b', 'example.com/a'] } })).status,
    ).toBe(200);
    expect((await server.patch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/b'] } })).status).toBe(200);
  });

  it('API-074 generation counts changes of the spec, whatever the client sends', async () => {
    await server.post(deployments, deployment('d'));
    const label = await server.patch(`${deployments}/d`, { metadata: { labels: { x: 'y' }, generation: 9 } });
    expect(label.json.metadata?.generation).toBe(1);
    const scaled = await server.patch(`${deployments}/d`, { spec: { replicas: 3 } });
    expect(scaled.json.metadata?.generation).toBe(2);
    const status = await server.patch(`${deployments}/d/status`, { status: { replicas: 3 } });
    expect(status.json.metadata?.generation).toBe(2);
  });

  it('API-077 what changes nothing is not written', async () => {
    const { json } = await server.post(configMaps, configMap('a', { data: { k: '1', l: '2' } }));
    const watch = await server.watch(`${configMaps}?watch=1&resourceVersion=${json.metadata?.resourceVersion}`);
    const reordered = await server.put(`${configMaps}/a`, { data: { l: '2', k: '1' }, ...configMap('a') });
    expect(reordered.status).toBe(200);
    expect(reordered.json.metadata?.resourceVersion).toBe(json.metadata?.resourceVersion);
    const older = await server.put(`${configMaps}/a`, {
      ...json,
      metadata: { ...json.metadata, creationTimestamp: '2001-01-01T00:00:00Z' },
    });
    expect(older.json).toEqual(json);
    await server.patch(`${configMaps}/a`, { data: { k: '3' } });
    expect(await watch.summary(1)).toEqual(['MODIFIED a']);
    watch.close();
  });

  it('API-175 API-330 LIFE-506 the main resource leaves status, /status leaves the spec; metadata goes through both', async () => {
    await server.post(deployments, deployment('d'));
    const metadata = {
      labels: { via: 'status' },
      annotations: { via: 'status' },
      finalizers: ['example.com/status'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' }],
    };
    const status = await server.patch(`${deployments}/d/status`, {
      metadata,
      spec: { replicas: 9 },
      status: { replicas: 2, readyReplicas: 2 },
    });
    expect(status.status).toBe(200);
    expect(status.json).toMatchObject({
      metadata,
      spec: { replicas: 1 },
      status: { replicas: 2, readyReplicas: 2 },
    });
    const main = await server.put(`${deployments}/d`, { ...deployment('d', 5), status: { readyReplicas: 7 } });
    expect(main.json).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 2, readyReplicas: 2 } });
    const { json: current } = await server.get(`${deployments}/d/status`);
    const put = await server.put(`${deployments}/d/status`, {
      ...current,
      spec: deployment('d', 1)['spec'],
      status: { replicas: 3, readyReplicas: 3 },
    });
    expect(put.json).toMatchObject({ spec: { replicas: 5 }, status: { readyReplicas: 3 } });
  });

  it.each([
    ['deployments', { replicas: -1 }, 'status.replicas: Invalid value: -1: must be greater than or equal to 0'],
    [
      'deployments',
      { replicas: 1, readyReplicas: 2 },
      'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas',
    ],
    [
      'deployments',
      { replicas: 2, availableReplicas: 1 },
      'status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas',
    ],
    ['deployments', { collisionCount: 1 }, 'status.collisionCount: Invalid value: 1: cannot be decremented'],
    ['replicasets', { replicas: 1, fullyLabeledReplicas: 2 }, 'cannot be greater than status.replicas'],
    ['statefulsets', { currentReplicas: 3 }, 'status.currentReplicas: Invalid value: 3: cannot be greater than'],
    ['daemonsets', { numberUnavailable: -4 }, 'status.numberUnavailable: Invalid value: -4: must be greater'],
  ])('API-502 a status of %s that cannot be is refused: %j', async (resource, status, message) => {
    const target = `/apis/apps/v1/namespaces/default/${resource}`;
    const { kind } = {
      deployments: { kind: 'Deployment' },
      replicasets: { kind: 'ReplicaSet' },
      statefulsets: { kind: 'StatefulSet' },
      daemonsets: { kind: 'DaemonSet' },
    }[resource] ?? { kind: '' };
    const { replicas: _, ...spec } = (deployment('d', 1)['spec'] ?? {}) as Record<string, unknown>;
    const made = await server.post(target, { ...deployment('d', 1), kind, spec: { ...spec, serviceName: undefined } });
    expect([made.json.message, made.status]).toEqual([undefined, 201]);
    const known = await server.patch(`${target}/d/status`, { status: { collisionCount: 2 } });
    expect(known.status).toBe(200);
    const refused = await server.patch(`${target}/d/status`, { status });
    expect([refused.status, refused.json.reason]).toEqual([422, 'Invalid']);
    expect(refused.json.message).toContain(message);
    expect((await server.get(`${target}/d`)).json.metadata?.resourceVersion).toBe(known.json.metadata?.resourceVersion);
  });

  it('API-314 LIFE-506 a pod’s /status leaves its owners', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' };
    await server.post(pods, {
      metadata: { name: 'p', ownerReferences: [owner] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const { json } = await server.patch(`${pods}/p/status`, {
      metadata: { ownerReferences: null },
      status: { phase: 'Running' },
    });
    expect(json).toMatchObject({ metadata: { ownerReferences: [owner] }, status: { phase: 'Running' } });
    await server.patch(`${pods}/p/status`, { status: { observedGeneration: 1 } });
    const { json: current } = await server.get(`${pods}/p`);
    const without = await server.put(`${pods}/p/status`, { ...current, status: { phase: 'Failed' } });
    expect(without.json['status']).toMatchObject({ phase: 'Failed', observedGeneration: 1 });
  });

  it('API-315 the spec of a pod is immutable, its images are not', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await server.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const image = await server.patch(`${pods}/p`, { spec: { containers: [{ name: 'c', image: 'j' }] } }, 'strategic');
    expect(image.status).toBe(200);
    const host = await server.patch(`${pods}/p`, { spec: { hostNetwork: true } });
    expect(host.status).toBe(422);
    expect(host.json.message).toContain('spec: Forbidden: pod updates may not change fields other than');
    const tolerated = await server.patch(`${pods}/p`, { spec: { tolerations: [{ key: 'k', operator: 'Exists' }] } });
    expect(tolerated.status).toBe(200);
  });

  describe('API-315 what else may change in the spec of a pod', () => {
    const pods = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'c', image: 'i:1' }];
    const key = { key: 'k', operator: 'Exists', effect: 'NoExecute' };
    const gated = { schedulingGates: [{ name: 'g' }], nodeSelector: { a: 'b' } };

    it.each<[string, object, object, string | 200]>([
      ['a deadline comes', {}, { activeDeadlineSeconds: 60 }, 200],
      ['a deadline shrinks', { activeDeadlineSeconds: 60 }, { activeDeadlineSeconds: 30 }, 200],
      [
        'a deadline does not grow',
        { activeDeadlineSeconds: 60 },
        { activeDeadlineSeconds: 61 },
        'spec.activeDeadlineSeconds: Invalid value: 61: must be less than or equal to previous value',
      ],
      [
        'a deadline does not go',
        { activeDeadlineSeconds: 60 },
        { activeDeadlineSeconds: null },
        'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
      ],
      ['the seconds of a toleration', { tolerations: [key] }, { tolerations: [{ ...key, tolerationSeconds: 5 }] }, 200],
      [
        'a toleration itself',
        { tolerations: [key] },
        { tolerations: [{ ...key, key: 'l' }] },
        'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
      ],
      [
        'a container more',
        {},
        { containers: [...containers, { name: 'd', image: 'i' }] },
        'spec.containers: Forbidden: pod updates may not add or remove containers',
      ],
      [
        'an image with spaces',
        {},
        { containers: [{ name: 'c', image: ' i:1' }] },
        'spec.containers[0].image: Invalid value: " i:1": must not have leading or trailing whitespace',
      ],
      ['a gate goes', gated, { schedulingGates: null }, 200],
      [
        'a gate comes',
        {},
        { schedulingGates: [{ name: 'g' }] },
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
      ],
      ['a gated pod goes to fewer nodes', gated, { nodeSelector: { c: 'd' } }, 200],
      [
        'a gated pod does not go to other nodes',
        gated,
        { nodeSelector: { a: 'c' } },
        'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ],
    ])('%s', async (_, before, patch, expected) => {
      const { status: created } = await server.post(pods, { metadata: { name: 'p' }, spec: { containers, ...before } });
      expect(created).toBe(201);
      const { status, json } = await server.patch(`${pods}/p`, { spec: patch });
      if (expected === 200) expect([status, json.message]).toEqual([200, undefined]);
      else expect([status, json.message]).toEqual([422, `Pod "p" is invalid: ${expected}`]);
    });
  });

  it.each([
    ['ClusterIP', ['clusterIP', 'clusterIPs']],
    ['ExternalName', []],
  ])('API-502 a service that becomes %s loses what only its old type had', async (type, kept) => {
    const services = '/api/v1/namespaces/default/services';
    const spec = { type: 'LoadBalancer', loadBalancerClass: 'example.com/x', ports: [{ port: 80 }] };
    await server.post(services, { metadata: { name: 's' }, spec });
    const { status, json } = await server.patch(`${services}/s`, { spec: { type, externalName: 'example.com' } });
    expect([status, json.message]).toEqual([200, undefined]);
    const after = json['spec'] as Record<string, unknown>;
    const typed = [
      'clusterIP',
      'clusterIPs',
      'externalTrafficPolicy',
      'allocateLoadBalancerNodePorts',
      'loadBalancerClass',
    ];
    expect(typed.filter((field) => after[field] !== undefined)).toEqual(kept);
    expect((after['ports'] as { nodePort?: number }[])[0]?.nodePort).toBeUndefined();
  });

  it('API-236 a dry run of an update or patch stores nothing', async () => {
    const { json } = await server.post(configMaps, configMap('a'));
    const put = await server.put(`${configMaps}/a?dryRun=All`, configMap('a', { data: { k: 'v' } }));
    expect(put.json).toMatchObject({ data: { k: 'v' }, metadata: { resourceVersion: json.metadata?.resourceVersion } });
    await server.patch(`${configMaps}/a?dryRun=All`, { data: { k: 'v' } });
    expect((await server.get(`${configMaps}/a`)).json).toEqual(json);
  });

  it('API-070 an update merges equal references too', async () => {
    await server.post(configMaps, configMap('a'));
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' };
    const { json, headers } = await server.put(
      `${configMaps}/a`,
      configMap('a', { metadata: { ownerReferences: [owner, owner] } }),
    );
    expect(json.metadata?.ownerReferences).toEqual([owner]);
    expect(headers['warning']).toHaveLength(1);
  });
});

describe('patch', () => {
  it('API-190 unknown types are 415, parameters of known ones are cut off', async () => {
    await server.post(configMaps, configMap('a'));
    const unknown = await server.request('PATCH', `${configMaps}/a`, {
      body: '{}',
      headers: { 'content-type': 'text/plain' },
    });
    expect([unknown.status, unknown.json.message]).toEqual([415, '415: Unsupported Media Type']);
    const charset = await server.request('PATCH', `${configMaps}/a`, {
      body: '{"data":{"k":"v"}}',
      headers: { 'content-type': 'application/merge-patch+json; charset=utf-8' },
    });
    expect(charset.status).toBe(200);
  });

  it('API-191 many at once all win, without a conflict', async () => {
    await server.post(configMaps, configMap('a'));
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => server.patch(`${configMaps}/a`, { data: { [`k${i}`]: 'v' } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(Object.keys((await server.get(`${configMaps}/a`)).json['data'] as object)).toHaveLength(60);
  });

  it('API-191 with a resourceVersion in the patch a mismatch is 409', async () => {
    const { json } = await server.post(configMaps, configMap('a'));
    const { resourceVersion } = json.metadata ?? {};
    expect((await server.patch(`${configMaps}/a`, { metadata: { resourceVersion }, data: { k: 'v' } })).status).toBe(
      200,
    );
    expect((await server.patch(`${configMaps}/a`, { metadata: { resourceVersion }, data: { k: 'w' } })).status).toBe(
      409,
    );
  });

  it('API-192 a missing object is 404', async () => {
    expect((await server.patch(`${configMaps}/a`, {})).status).toBe(404);
  });

  it.each(['{', '[]', '3', ''])('API-193 the merge patch %s is 400', async (body) => {
    await server.post(configMaps, configMap('a'));
    const { status } = await server.request('PATCH', `${configMaps}/a`, {
      body,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(status).toBe(400);
  });

  it('API-194 JSON patch: applied, refused, too long', async () => {
    await server.post(configMaps, configMap('a', { data: { k: 'v' } }));
    const good = await server.patch(
      `${configMaps}/a`,
      [
        { op: 'test', path: '/data/k', value: 'v' },
        { op: 'replace', path: '/data/k', value: 'w' },
      ],
      'json',
    );
    expect(good.json['data']).toEqual({ k: 'w' });
    const failed = await server.patch(`${configMaps}/a`, [{ op: 'test', path: '/data/k', value: 'x' }], 'json');
    expect(failed.status).toBe(422);
    expect(failed.json).toMatchObject({
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    });
    const long = await server.patch(
      `${configMaps}/a`,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/k', value: 'w' })),
      'json',
    );
    expect(long.status).toBe(413);
  });

  it('API-197 what the collector sends', async () => {
    const owners = ['u1', 'u2'].map((uid) => ({ apiVersion: 'v1', kind: 'Pod', name: uid, uid }));
    const { json } = await server.post(
      configMaps,
      configMap('a', { metadata: { ownerReferences: owners, finalizers: ['orphan'] } }),
    );
    const { uid, resourceVersion } = json.metadata ?? {};
    const dropped = await server.patch(
      `${configMaps}/a`,
      { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'u1' }], uid } },
      'strategic',
    );
    expect(dropped.json.metadata?.ownerReferences).toEqual([owners[1]]);
    const unblocked = await server.patch(
      `${configMaps}/a`,
      { metadata: { ownerReferences: [{ uid: 'u2', blockOwnerDeletion: false }], uid } },
      'strategic',
    );
    expect(unblocked.json.metadata?.ownerReferences).toEqual([{ ...owners[1], blockOwnerDeletion: false }]);
    const stale = await server.patch(`${configMaps}/a`, { metadata: { finalizers: [], uid, resourceVersion } });
    expect(stale.status).toBe(409);
    const fresh = await server.patch(`${configMaps}/a`, {
      metadata: { finalizers: [], uid, resourceVersion: unblocked.json.metadata?.resourceVersion },
    });
    expect(fresh.json.metadata?.finalizers ?? []).toEqual([]);
    expect((await server.patch(`${configMaps}/a`, { metadata: { ownerReferences: [], uid: 'other' } })).status).toBe(
      422,
    );
  });

  it('API-198 API-199 force and unknown fields', async () => {
    await server.post(configMaps, configMap('a'));
    expect((await server.patch(`${configMaps}/a?force=true`, {})).status).toBe(422);
    const strict = await server.patch(`${configMaps}/a?fieldValidation=Strict`, { nope: 1 });
    expect(strict.status).toBe(422);
    expect(strict.json.message).toContain('"" is invalid: patch: Invalid value: ');
    expect(strict.json.message).toContain('strict decoding error: unknown field "nope"');
    expect((await server.patch(`${configMaps}/a`, { nope: 1 })).headers['warning']).toEqual([
      '299 - "unknown field \\"nope\\""',
    ]);
  });

  it('API-331 API-332 scale', async () => {
    await server.post(deployments, deployment('d', 2));
    const { json } = await server.get(`${deployments}/d/scale`);
    expect(json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'd' },
      spec: { replicas: 2 },
      status: { selector: 'a=d' },
    });
    const patched = await server.patch(`${deployments}/d/scale`, { spec: { replicas: 5 } });
    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    expect((await server.get(`${deployments}/d`)).json).toMatchObject({
      spec: { replicas: 5 },
      metadata: { generation: 2 },
    });
    const stale = await server.put(`${deployments}/d/scale`, { ...json, spec: { replicas: 7 } });
    expect(stale.status).toBe(409);
    const put = await server.put(`${deployments}/d/scale`, { ...patched.json, spec: { replicas: 0 } });
    expect(put.json['spec']).toEqual({});
    expect((await server.get(`${deployments}/d`)).json['spec']).toMatchObject({ replicas: 0 });
    expect((await server.patch(`${deployments}/d/scale`, { spec: { replicas: -1 } })).status).toBe(422);
  });
});
