import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../base/time/fake-clock.ts';
import { openMemoryStore } from '../../storage/embedded/memory-store.ts';
import { type Answer, type Json, startTestServer, type TestServer } from '../../test/test-server.ts';
import type { ImplementedPlugin } from '../plugin-selection.ts';
import type { PodSpec } from './pod-object.ts';

const core = '/api/v1/namespaces/default';
const servers: TestServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map(({ server }) => server.stop())));

async function serverWith(...plugins: ImplementedPlugin[]): Promise<TestServer> {
  const server = await startTestServer({
    admissionPlugins: new Set<ImplementedPlugin>(['NamespaceLifecycle', ...plugins]),
  });
  servers.push(server);
  return server;
}

const container = (more: object = {}) => ({ name: 'c', image: 'i', ...more });
const pod = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [container()], ...spec },
});
const specOf = (json: Json): PodSpec => json['spec'] as unknown as PodSpec;
const told = ({ status, json }: Answer) => [status, json.message];

describe('DefaultTolerationSeconds', () => {
  const notReady = {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable' };
  it.each([
    ['none', [], [notReady, unreachable]],
    ['another one', [{ key: 'x', operator: 'Exists' }], [{ key: 'x', operator: 'Exists' }, notReady, unreachable]],
    ['one of them', [{ ...unreachable, tolerationSeconds: 5 }], [{ ...unreachable, tolerationSeconds: 5 }, notReady]],
    [
      'one of them, whatever the effect',
      [{ key: notReady.key, operator: 'Exists' }],
      [{ key: notReady.key, operator: 'Exists' }, unreachable],
    ],
    [
      'one of them, for another effect',
      [{ ...notReady, effect: 'NoSchedule', tolerationSeconds: undefined }],
      [{ key: notReady.key, operator: 'Exists', effect: 'NoSchedule' }, notReady, unreachable],
    ],
    ['all', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  ])('API-341 a pod that tolerates %s', async (_, tolerations, expected) => {
    const server = await serverWith('DefaultTolerationSeconds');
    const { json } = await server.post(`${core}/pods`, pod({ tolerations }));
    expect(specOf(json).tolerations).toEqual(expected);
  });
});

describe('Priority', () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  it('API-341 API-512 gives the priority of the class, and none where there is none', async () => {
    const server = await serverWith('Priority');
    const create = async (name: string, spec: object) => server.post(`${core}/pods`, pod(spec, { name }));
    expect(specOf((await create('a', {})).json)).toMatchObject({
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    expect(specOf((await create('b', { priorityClassName: 'system-node-critical' })).json).priority).toBe(
      2_000_001_000,
    );
    await server.post(classes, {
      metadata: { name: 'low' },
      value: -5,
      globalDefault: true,
      preemptionPolicy: 'Never',
    });
    expect(specOf((await create('c', {})).json)).toMatchObject({
      priorityClassName: 'low',
      priority: -5,
      preemptionPolicy: 'Never',
    });
    expect(told(await create('d', { priorityClassName: 'no' }))).toEqual([
      403,
      'pods "d" is forbidden: no PriorityClass with name no was found',
    ]);
    expect(told(await create('e', { priority: 7 }))).toEqual([
      403,
      'pods "e" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed -5 from the given PriorityClass name',
    ]);
    expect(told(await create('f', { preemptionPolicy: 'PreemptLowerPriority' }))).toEqual([
      403,
      'pods "f" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    ]);
  });

  it('API-341 a client that does not know the fields takes them not away', async () => {
    const server = await serverWith('Priority');
    const { json } = await server.post(`${core}/pods`, pod());
    const { priority: _, preemptionPolicy: __, ...spec } = specOf(json);
    const updated = await server.put(`${core}/pods/p`, { ...json, spec });
    expect([updated.status, specOf(updated.json).priority, specOf(updated.json).preemptionPolicy]).toEqual([
      200,
      0,
      'PreemptLowerPriority',
    ]);
  });

  it('API-341 there is one default class', async () => {
    const server = await serverWith('Priority');
    const one = (name: string) => server.post(classes, { metadata: { name }, value: 1, globalDefault: true });
    expect((await one('a')).status).toBe(201);
    expect(told(await one('b'))).toEqual([
      403,
      'priorityclasses.scheduling.k8s.io "b" is forbidden: PriorityClass a is already marked as default. Only one default can exist',
    ]);
    expect((await server.patch(`${classes}/a`, { description: 'x' })).status).toBe(200);
    expect((await server.patch(`${classes}/system-node-critical`, { globalDefault: true })).status).not.toBe(200);
  });
});

describe('ServiceAccount', () => {
  const volume = (name: string) => ({
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    },
  });
  const mount = (name: string) => ({
    name,
    readOnly: true,
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  });

  async function withAccount(account: object = {}): Promise<TestServer> {
    const server = await serverWith('ServiceAccount');
    await server.post(`${core}/serviceaccounts`, { metadata: { name: 'default' }, ...account });
    return server;
  }

  it('API-341 a pod runs as the default account, with its token in every container', async () => {
    const server = await withAccount({ imagePullSecrets: [{ name: 'pull' }] });
    const { status, json } = await server.post(
      `${core}/pods`,
      pod({ initContainers: [{ name: 'first', image: 'i' }] }),
    );
    const spec = specOf(json);
    const name = spec.volumes?.[0]?.name ?? '';
    expect(status).toBe(201);
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      imagePullSecrets: [{ name: 'pull' }],
    });
    expect(spec.volumes).toEqual([volume(name)]);
    expect(spec.containers?.[0]?.volumeMounts).toEqual([mount(name)]);
    expect(spec.initContainers?.[0]?.volumeMounts).toEqual([mount(name)]);
  });

  it.each([
    ['the pod does not want it', {}, { automountServiceAccountToken: false }, 0],
    ['the account does not want it', { automountServiceAccountToken: false }, {}, 0],
    [
      'the pod wants it, the account does not',
      { automountServiceAccountToken: false },
      { automountServiceAccountToken: true },
      1,
    ],
    [
      'the only container has something there',
      {},
      {
        containers: [container({ volumeMounts: [{ ...mount('own'), readOnly: undefined }] })],
        volumes: [{ name: 'own', emptyDir: {} }],
      },
      1,
    ],
  ])('API-341 mounts the token unless %s', async (_, account, spec, volumes) => {
    const server = await withAccount(account);
    const { status, json } = await server.post(`${core}/pods`, pod(spec));
    expect([status, specOf(json).volumes?.length ?? 0]).toEqual([201, volumes]);
  });

  it('API-341 uses the token volume that is there already', async () => {
    const server = await withAccount();
    const given = volume('kube-api-access-mine');
    const { json } = await server.post(`${core}/pods`, pod({ volumes: [given] }));
    expect(specOf(json).volumes).toEqual([given]);
    expect(specOf(json).containers?.[0]?.volumeMounts).toEqual([mount('kube-api-access-mine')]);
  });

  it('API-341 an account that does not exist is refused', async () => {
    const server = await withAccount();
    expect(told(await server.post(`${core}/pods`, pod({ serviceAccountName: 'robot' })))).toEqual([
      403,
      'pods "p" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    ]);
    expect((await server.get(`${core}/pods/p`)).status).toBe(404);
  });

  it('API-341 the default account of a new namespace is waited for, no longer than until it is there, and not for ever', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const admissionPlugins = new Set<ImplementedPlugin>(['ServiceAccount']);
    const server = await startTestServer({ clock, store, admissionPlugins });
    servers.push(server);
    const creating = [server.post(`${core}/pods`, pod()), server.post(`${core}/pods`, pod({}, { name: 'q' }))];
    await clock.advanceAsync(250);
    await server.post(`${core}/serviceaccounts`, { metadata: { name: 'default' } });
    expect((await Promise.all(creating)).map(({ status }) => status)).toEqual([201, 201]);
    const elsewhere = server.post('/api/v1/namespaces/kube-public/pods', pod());
    await clock.advanceAsync(2500);
    expect(told(await elsewhere)).toEqual([
      403,
      'pods "p" is forbidden: error looking up service account kube-public/default: serviceaccount "default" not found',
    ]);
  });

  it.each([
    [
      'a volume',
      { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
      'volume with secret.secretName="other" is not allowed because service account default does not reference that secret',
    ],
    [
      'a variable',
      { containers: [container({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }] })] },
      'container c with envVar E referencing secret.secretName="other" is not allowed because service account default does not reference that secret',
    ],
    [
      'all variables',
      { initContainers: [{ name: 'first', image: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] },
      'init container first with envFrom referencing secret.secretName="other" is not allowed because service account default does not reference that secret',
    ],
    [
      'pulling',
      { imagePullSecrets: [{ name: 'other' }] },
      'imagePullSecrets[0].name="other" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])('API-341 an account may say which secrets its pods use, for %s', async (_, spec, why) => {
    const metadata = { name: 'default', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } };
    const server = await withAccount({ metadata, secrets: [{ name: 'mine' }] });
    expect(told(await server.post(`${core}/pods`, pod(spec)))).toEqual([403, `pods "p" is forbidden: ${why}`]);
    expect(
      (await server.post(`${core}/pods`, pod({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }] }))).status,
    ).toBe(201);
  });

  it.each([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [volume('v')] }, 'a mirror pod may not use ServiceAccountToken volume projections'],
  ])('API-341 what a kubelet runs by itself gets at nothing: %j', async (spec, why) => {
    const server = await withAccount();
    const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
    expect(told(await server.post(`${core}/pods`, pod(spec, mirror)))).toEqual([403, `pods "p" is forbidden: ${why}`]);
    const { status, json } = await server.post(`${core}/pods`, pod({}, mirror));
    expect([status, specOf(json).serviceAccountName, specOf(json).volumes]).toEqual([201, undefined, undefined]);
  });
});

describe('storage', () => {
  const claim = (name: string, more: object = {}, metadata: object = {}) => ({
    metadata: { name, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
  });

  it('API-341 DefaultStorageClass: a claim without a class gets the newest default one', async () => {
    const clock = new FakeClock();
    const admissionPlugins = new Set<ImplementedPlugin>(['DefaultStorageClass']);
    const server = await startTestServer({ clock, store: openMemoryStore({ clock }), admissionPlugins });
    servers.push(server);
    const classOf = async (name: string, more: object = {}, metadata: object = {}) =>
      (
        (await server.post(`${core}/persistentvolumeclaims`, claim(name, more, metadata))).json['spec'] as {
          storageClassName?: string;
        }
      ).storageClassName;
    const storageClass = (name: string, isDefault: string) =>
      server.post('/apis/storage.k8s.io/v1/storageclasses', {
        metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': isDefault } },
        provisioner: 'example.com/p',
      });
    await storageClass('other', 'false');
    expect(await classOf('a')).toBeUndefined();
    await storageClass('old', 'true');
    clock.advance(1000);
    await storageClass('new', 'true');
    expect(await classOf('b')).toBe('new');
    expect(await classOf('c', { storageClassName: '' })).toBe('');
    expect(await classOf('d', { storageClassName: 'other' })).toBe('other');
    expect(await classOf('e', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } })).toBeUndefined();
  });

  it('API-341 StorageObjectInUseProtection: what may be in use has a finalizer from the start', async () => {
    const server = await serverWith('StorageObjectInUseProtection');
    const created = await server.post(
      `${core}/persistentvolumeclaims`,
      claim('a', {}, { finalizers: ['example.com/f'] }),
    );
    expect(created.json.metadata?.finalizers).toEqual(['example.com/f', 'kubernetes.io/pvc-protection']);
    const again = await server.post(
      `${core}/persistentvolumeclaims`,
      claim('b', {}, { finalizers: ['kubernetes.io/pvc-protection'] }),
    );
    expect(again.json.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    const volume = await server.post('/api/v1/persistentvolumes', {
      metadata: { name: 'v' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    });
    expect(volume.json.metadata?.finalizers).toEqual(['kubernetes.io/pv-protection']);
    expect(
      (await server.patch('/api/v1/persistentvolumes/v', { metadata: { finalizers: null } })).json.metadata?.finalizers,
    ).toBeUndefined();
  });
});

describe('PersistentVolumeClaimResize', () => {
  it('lets claims grow that are bound and of a class that can', async () => {
    const server = await serverWith('PersistentVolumeClaimResize');
    const classes = '/apis/storage.k8s.io/v1/storageclasses';
    await server.post(classes, { metadata: { name: 'fixed' }, provisioner: 'example.com/p' });
    await server.post(classes, {
      metadata: { name: 'elastic' },
      provisioner: 'example.com/p',
      allowVolumeExpansion: true,
    });
    const claims = `${core}/persistentvolumeclaims`;
    const grow = (name: string) =>
      server.patch(`${claims}/${name}`, { spec: { resources: { requests: { storage: '2Gi' } } } });
    const bind = (name: string) => server.patch(`${claims}/${name}/status`, { status: { phase: 'Bound' } });
    for (const storageClassName of ['fixed', 'elastic']) {
      const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } };
      await server.post(claims, { metadata: { name: storageClassName }, spec });
    }
    // The object's own rules are checked before the plug-ins.
    expect((await grow('elastic')).status).toBe(422);
    await bind('fixed');
    await bind('elastic');
    expect((await grow('elastic')).status).toBe(200);
    expect(told(await grow('fixed'))).toEqual([
      403,
      'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    ]);
    expect((await server.patch(`${claims}/fixed`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  });
});

describe('RuntimeClass', () => {
  async function withClass(): Promise<TestServer> {
    const server = await serverWith('RuntimeClass');
    const scheduling = { nodeSelector: { sandbox: 'yes' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] };
    const overhead = { podFixed: { cpu: '250m' } };
    await server.post('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'sandboxed' },
      handler: 'h',
      overhead,
      scheduling,
    });
    await server.post('/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'plain' }, handler: 'h' });
    return server;
  }

  it('gives pods its overhead and its nodes', async () => {
    const server = await withClass();
    const own = { key: 'own', operator: 'Exists' };
    const { json } = await server.post(
      `${core}/pods`,
      pod({ runtimeClassName: 'sandboxed', nodeSelector: { a: 'b' }, tolerations: [own] }),
    );
    expect(specOf(json)).toMatchObject({
      overhead: { cpu: '250m' },
      nodeSelector: { a: 'b', sandbox: 'yes' },
      tolerations: [own, { key: 'sandbox', operator: 'Exists' }],
    });
    expect((await server.post(`${core}/pods`, pod({ runtimeClassName: 'plain' }, { name: 'q' }))).status).toBe(201);
  });

  it('its label of nodes may be called like a method of every object', async () => {
    const server = await withClass();
    const scheduling = { nodeSelector: { constructor: 'yes' } };
    const named = { metadata: { name: 'named' }, handler: 'h', scheduling };
    await server.post('/apis/node.k8s.io/v1/runtimeclasses', named);
    const { json } = await server.post(`${core}/pods`, pod({ runtimeClassName: 'named', nodeSelector: { a: 'b' } }));
    expect(specOf(json)).toMatchObject({ nodeSelector: { a: 'b', constructor: 'yes' } });
  });

  it.each([
    [{ runtimeClassName: 'no' }, 'pod rejected: RuntimeClass "no" not found'],
    [
      { runtimeClassName: 'sandboxed', overhead: { cpu: '1' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [{ overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    [
      { runtimeClassName: 'plain', overhead: { cpu: '1' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      { runtimeClassName: 'sandboxed', nodeSelector: { sandbox: 'no' } },
      'conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; pod.spec.nodeSelector[sandbox] = no',
    ],
  ])('refuses %j', async (spec, why) => {
    const server = await withClass();
    expect(told(await server.post(`${core}/pods`, pod(spec)))).toEqual([403, `pods "p" is forbidden: ${why}`]);
  });
});

describe('DefaultIngressClass', () => {
  it('gives an Ingress without a class the default one', async () => {
    const server = await serverWith('DefaultIngressClass');
    const networking = '/apis/networking.k8s.io/v1';
    const classOf = async (name: string, spec: object = {}, annotations: object = {}) => {
      const backend = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
      const body = { metadata: { name, annotations }, spec: { ...backend, ...spec } };
      const { json } = await server.post(`${networking}/namespaces/default/ingresses`, body);
      return (json['spec'] as { ingressClassName?: string }).ingressClassName;
    };
    expect(await classOf('a')).toBeUndefined();
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
    await server.post(`${networking}/ingressclasses`, {
      metadata: { name: 'front', annotations },
      spec: { controller: 'example.com/c' },
    });
    expect(await classOf('b')).toBe('front');
    expect(await classOf('c', { ingressClassName: 'other' })).toBe('other');
    expect(await classOf('d', {}, { 'kubernetes.io/ingress.class': 'old' })).toBeUndefined();
  });
});
