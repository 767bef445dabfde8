import { beforeEach, describe, expect, it } from 'vitest';
import { findResource } from '../../../src/api/kinds/builtin-resources.ts';
import type { KubeObject } from '../../../src/api/meta/object-meta.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../../src/apiserver/test/test-server.ts';
import { FakeClock } from '../../../src/base/time/fake-clock.ts';
import { type Sample, samples } from '../samples.ts';

/** Section 5 through the handler. */

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ clock: new FakeClock(Date.parse('2026-11-21T12:00:00.999Z')) });
});

const builtin = samples.filter(({ kind }) => kind !== 'Widget');
const infoOf = ({ apiVersion, collection }: Sample) => {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const info = findResource(group, version, collection.split('/').at(-1) ?? '');
  if (info === undefined) throw new Error(`no resource for ${collection}`);
  return info;
};

const later = (sample: Sample): string => `${sample.collection}/${sample.object.metadata?.name ?? ''}`;

describe('what the server decides', () => {
  it.each(builtin.map((sample) => [sample.kind, sample] as const))('API-060 on a new %s', async (_kind, sample) => {
    const { status, json } = await server.post(sample.collection, {
      ...sample.object,
      metadata: {
        ...sample.object.metadata,
        uid: 'x',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        selfLink: '/x',
        resourceVersion: '0',
      },
    });
    expect(status).toBe(201);
    const { metadata = {} } = json;
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(metadata.creationTimestamp).toBe('2026-11-21T12:00:00Z');
    expect(metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
      expect(metadata).not.toHaveProperty(field);
    }
  });

  it('API-076 one counter for all resources, and deletions move it too', async () => {
    const seen: number[] = [];
    const note = (object: KubeObject): void => void seen.push(Number(object.metadata?.resourceVersion));
    note((await server.post(configMaps, configMap('a'))).json);
    note((await server.post('/api/v1/namespaces', { metadata: { name: 'x' } })).json);
    note((await server.patch(`${configMaps}/a`, { data: { k: 'v' } })).json);
    await server.delete(`${configMaps}/a`);
    note((await server.post(configMaps, configMap('a'))).json);
    note((await server.get(configMaps)).json);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(new Set(seen.slice(0, 4)).size).toBe(4);
    expect(seen[3]! - seen[2]!).toBe(2);
  });

  it('API-061 a long base is cut to leave room', async () => {
    const generateName = `${'a'.repeat(100)}-`;
    const { json } = await server.post(configMaps, { metadata: { generateName } });
    expect(json.metadata?.name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(json.metadata?.generateName).toBe(generateName);
    const both = await server.post(configMaps, { metadata: { generateName, name: 'given' } });
    expect(both.json.metadata?.name).toBe('given');
  });

  it('API-063 a label may begin with a digit, a service too', async () => {
    expect((await server.post('/api/v1/namespaces', { metadata: { name: '1a' } })).status).toBe(201);
    const service = { metadata: { name: '2b' }, spec: { ports: [{ port: 1 }] } };
    expect((await server.post('/api/v1/namespaces/default/services', service)).status).toBe(201);
    const role = { metadata: { name: 'system:Ä x' } };
    expect((await server.post('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', role)).status).toBe(201);
  });
});

describe('API-074 API-075 generation', () => {
  const changes: Readonly<Record<string, object>> = {
    Pod: { spec: { containers: [{ name: 'c', image: 'other' }] } },
    ReplicationController: { spec: { replicas: 5 } },
    Deployment: { spec: { replicas: 5 } },
    ReplicaSet: { spec: { replicas: 5 } },
    StatefulSet: { spec: { replicas: 5 } },
    DaemonSet: { spec: { minReadySeconds: 5 } },
    Job: { spec: { suspend: true } },
    CronJob: { spec: { suspend: true } },
    Ingress: { spec: { ingressClassName: 'x' } },
    EndpointSlice: { ports: [{ port: 5 }] },
    PodDisruptionBudget: { spec: { minAvailable: 2 } },
    PriorityClass: { description: 'x' },
    CustomResourceDefinition: { spec: { names: { shortNames: ['wi'] } } },
    ConfigMap: { data: { k: 'other' } },
    Secret: { data: { other: '' } },
    Service: { spec: { sessionAffinity: 'ClientIP' } },
    Lease: { spec: { holderIdentity: 'other' } },
    Role: { rules: [] },
    ServiceAccount: { automountServiceAccountToken: false },
    LimitRange: { spec: { limits: [] } },
    ResourceQuota: { spec: { hard: { pods: '5' } } },
    Node: { spec: { unschedulable: false } },
    Namespace: {},
  };

  /** Readers find slices by their labels, so Kubernetes counts these as part of the specification. */
  const LABELS_COUNT: ReadonlySet<string> = new Set(['EndpointSlice']);

  it.each(builtin.filter(({ kind }) => kind in changes).map((sample) => [sample.kind, sample] as const))(
    'rises or stays for a %s',
    async (kind, sample) => {
      const { generation: rule } = infoOf(sample);
      const counted = rule === 'spec';
      const first = counted || rule === 'fixed' ? 1 : 7;
      const created = await server.post(sample.collection, {
        ...sample.object,
        metadata: { ...sample.object.metadata, generation: 7 },
      });
      expect([created.status, created.json.metadata?.generation]).toEqual([201, first]);
      const labelled = await server.patch(later(sample), { metadata: { labels: { x: 'y' }, generation: 3 } });
      const afterLabel = LABELS_COUNT.has(kind) ? first + 1 : first;
      expect([labelled.status, labelled.json.metadata?.generation]).toEqual([200, afterLabel]);
      const changed = await server.patch(later(sample), changes[kind], 'strategic');
      expect([changed.status, changed.json.metadata?.generation]).toEqual([200, counted ? afterLabel + 1 : first]);
      const smaller = await server.patch(later(sample), { metadata: { generation: 1 } });
      expect(smaller.json.metadata?.generation).toBe(changed.json.metadata?.generation);

      // A definition has no objects that would keep it until it is deleted again.
      if (kind === 'CustomResourceDefinition') {
        await server.patch(later(sample), { metadata: { finalizers: ['example.com/hold'] } });
      }
      const kept = await server.delete(later(sample), { propagationPolicy: 'Foreground' });
      // These two begin their deletion in a way of their own.
      const bump = kind === 'Namespace' || kind === 'CustomResourceDefinition' ? 0 : 1;
      expect(kept.json.metadata).toMatchObject({
        deletionTimestamp: expect.any(String),
        generation: (smaller.json.metadata?.generation ?? 0) + bump,
      });
      const again = await server.delete(later(sample), { propagationPolicy: 'Orphan' });
      expect(again.json.metadata?.generation).toBe(kept.json.metadata?.generation);
    },
  );

  it('absent where nobody counts and nobody sent one, also when a deletion begins', async () => {
    const finalizers = ['example.com/f'];
    const created = await server.post(configMaps, configMap('a', { metadata: { finalizers } }));
    expect(created.json.metadata).not.toHaveProperty('generation');
    expect((await server.delete(`${configMaps}/a`)).json.metadata).not.toHaveProperty('generation');
  });
});

describe('API-072 finalizers of what is being deleted', () => {
  it('may become fewer and change places; a new one is named once in the message and twice in the causes', async () => {
    const finalizers = ['example.com/a', 'example.com/b'];
    await server.post(configMaps, configMap('a', { metadata: { finalizers } }));
    await server.delete(`${configMaps}/a`);
    const added = await server.patch(`${configMaps}/a`, { metadata: { finalizers: [...finalizers, 'example.com/c'] } });
    const finding =
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/c"}';
    expect([added.status, added.json.message]).toEqual([422, `ConfigMap "a" is invalid: ${finding}`]);
    expect(added.json.details?.causes?.map(({ field }) => field)).toEqual([
      'metadata.finalizers',
      'metadata.finalizers',
    ]);
    const turned = await server.patch(`${configMaps}/a`, { metadata: { finalizers: finalizers.toReversed() } });
    expect([turned.status, turned.json.metadata?.finalizers]).toEqual([200, finalizers.toReversed()]);
    expect((await server.patch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/b'] } })).status).toBe(200);
  });
});

describe('API-080 nulls and unknown fields', () => {
  const strict = `${configMaps}?fieldValidation=Strict`;
  it('a null is as if it were not there, or empty inside a map', async () => {
    const { status, json } = await server.post(strict, {
      ...configMap('a'),
      metadata: {
        name: 'a',
        labels: null,
        annotations: { a: null },
        finalizers: null,
        ownerReferences: null,
        uid: null,
      },
      data: null,
    });
    expect(status).toBe(201);
    expect(json.metadata).toMatchObject({ annotations: { a: '' }, uid: expect.any(String) });
    for (const field of ['labels', 'finalizers', 'ownerReferences']) expect(json.metadata).not.toHaveProperty(field);
    expect(json).not.toHaveProperty('data');
  });

  it('an unknown field of metadata is refused, reported, or passed over', async () => {
    const body = {
      metadata: {
        name: 'b',
        labls: {},
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', x: 1 }],
      },
    };
    const refused = await server.post(strict, body);
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "metadata.labls", unknown field "metadata.ownerReferences[0].x"',
    ]);
    const told = await server.post(`${configMaps}?dryRun=All`, body);
    expect([told.status, told.headers['warning']]).toEqual([
      201,
      [
        String.raw`299 - "unknown field \"metadata.labls\""`,
        String.raw`299 - "unknown field \"metadata.ownerReferences[0].x\""`,
      ],
    ]);
    const ignored = await server.post(`${configMaps}?fieldValidation=Ignore`, body);
    expect([ignored.status, ignored.headers['warning'], ignored.json.metadata]).toEqual([
      201,
      undefined,
      expect.not.objectContaining({ labls: {} }),
    ]);
  });
});
