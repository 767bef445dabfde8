import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { newForbidden, newMethodNotSupported, newServiceUnavailable } from '../../src/api/status-error.ts';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { TransportError } from '../../src/client/http/transport.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { answer, configMaps, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';

let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

const start = (options: { deletionDelayMs?: number } = {}) =>
  cluster.run((environment) => new NamespaceController({ ...environment, ...options }));
const makeNamespace = (name: string, spec = {}) => cluster.create({ gvr: namespaces }, { metadata: { name }, spec });
const makeConfigMap = (namespace: string, metadata: { name: string; finalizers?: string[] }) =>
  cluster.create({ gvr: configMaps, namespace }, { metadata });
const deleteNamespace = (name: string) => cluster.wait(cluster.client.delete({ gvr: namespaces, name }));
const namespaceNamed = (name: string) => cluster.get({ gvr: namespaces, name });
const gone = (name: string) => async () => (await namespaceNamed(name)) === undefined;
const untilGone = (name: string) => cluster.until(gone(name));

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
function conditionsOf(namespace: KubeObject | undefined): Record<string, Condition> {
  const { conditions = [] } = (namespace?.['status'] ?? {}) as { conditions?: Condition[] };
  return Object.fromEntries(conditions.map((condition) => [condition.type, condition]));
}
interface Offered {
  readonly resource: string;
  verbs: string[];
}
/** Like a server that hangs: ends only when the caller gives up. */
const unanswered = ({ signal }: HttpRequest) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new TransportError('timeout', 'no answer')));
  });
/** A pod on a node, whose kubelet never comes: it stays for as long as its grace period and more. */
const scheduledPod = (name: string, terminationGracePeriodSeconds: number) => ({
  metadata: { name },
  spec: { nodeName: 'n', terminationGracePeriodSeconds, containers: [{ name: 'c', image: 'i' }] },
});

describe('NamespaceController on the embedded API server', () => {
  it('LIFE-440 empties a deleted namespace and lets it go', async () => {
    await start();
    await makeNamespace('n');
    await makeNamespace('other');
    for (const namespace of ['n', 'other']) for (const name of ['a', 'b']) await makeConfigMap(namespace, { name });
    await deleteNamespace('n');
    expect(await untilGone('n')).toBe(0);
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    expect(await cluster.names({ gvr: configMaps, namespace: 'other' })).toEqual(['a', 'b']);
  });

  it('LIFE-440 does nothing at all about namespaces that live', async () => {
    await makeNamespace('n');
    await start();
    cluster.requests.length = 0;
    await makeNamespace('m');
    await cluster.clock.advanceAsync(600_000);
    expect(cluster.requests).toEqual([]);
  });

  it('LIFE-019 counts what it deleted', async () => {
    await start();
    await makeNamespace('n');
    for (const name of ['a', 'b', 'c']) await makeConfigMap('n', { name });
    await deleteNamespace('n');
    await untilGone('n');
    const labels = { controller: 'namespace-controller', resource: 'configmaps', reason: 'namespace-deleted' };
    expect(cluster.metrics.value('kubegc_lifecycle_deletions_total', { ...labels, result: 'ok' })).toBe(3);
  });

  it('finishes a namespace whose deletion began before it was started', async () => {
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await start();
    expect(await untilGone('n')).toBe(0);
  });

  it('LIFE-449 waits for the configured delay before it begins', async () => {
    await start({ deletionDelayMs: 5000 });
    await makeNamespace('n');
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(4900);
    expect(await namespaceNamed('n')).toBeDefined();
    expect(await untilGone('n')).toBeLessThanOrEqual(200);
  });

  it('LIFE-441 LIFE-446 deletes pods first and reports them truly, the rest when they are gone', async () => {
    await start();
    await makeNamespace('n');
    await cluster.create({ gvr: pods, namespace: 'n' }, scheduledPod('p', 30));
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(29_000);
    expect((await cluster.get({ gvr: pods, namespace: 'n', name: 'p' }))?.metadata?.deletionTimestamp).toBeDefined();
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual(['a']);
    expect(conditionsOf(await namespaceNamed('n'))).toMatchObject({
      NamespaceContentRemaining: {
        status: 'True',
        message: 'Some resources are remaining: pods. has 1 resource instances',
      },
      NamespaceDeletionContentFailure: { status: 'False' },
    });
    const kubelet = { gracePeriodSeconds: 0 };
    await cluster.wait(cluster.client.delete({ gvr: pods, namespace: 'n', name: 'p' }, kubelet));
    await cluster.until(gone('n'), { withinMs: 16_000 });
  });

  it('LIFE-444 reports pods that outlive their grace period', async () => {
    await start();
    await makeNamespace('n');
    await cluster.create({ gvr: pods, namespace: 'n' }, scheduledPod('p', 1));
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(5000);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionContentFailure']).toMatchObject({
      status: 'True',
      message:
        'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n for gvr: /v1, Resource=pods',
    });
  });

  it('LIFE-444 LIFE-445 API-307 waits for finalizers, with all five conditions, and writes only what changes', async () => {
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'held', finalizers: ['example.com/hold'] });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    const namespace = await namespaceNamed('n');
    const statuses = Object.values(conditionsOf(namespace)).map(({ type, status }) => [type, status]);
    expect(statuses).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False'],
      ['NamespaceDeletionContentFailure', 'False'],
      ['NamespaceContentRemaining', 'True'],
      ['NamespaceFinalizersRemaining', 'True'],
    ]);
    expect(conditionsOf(namespace)['NamespaceFinalizersRemaining']?.message).toBe(
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    );
    await cluster.clock.advanceAsync(60_000);
    expect((await namespaceNamed('n'))?.metadata?.resourceVersion).toBe(namespace?.metadata?.resourceVersion);
    const held = { gvr: configMaps, namespace: 'n', name: 'held' };
    const patch = { type: 'application/merge-patch+json', body: { metadata: { finalizers: [] } } } as const;
    await cluster.wait(cluster.client.patch(held, patch));
    await cluster.until(gone('n'), { withinMs: 8000 });
  });

  it('LIFE-445 a finalizer of a custom resource may be called like a method of every object', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await cluster.create(
      { gvr: gvrOf('customresourcedefinitions', 'apiextensions.k8s.io') },
      {
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'widgets', kind: 'Widget' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      },
    );
    await makeNamespace('n');
    const widgets = { gvr: gvrOf('widgets', 'example.com'), namespace: 'n' };
    const metadata = { name: 'held', finalizers: ['constructor'] };
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata };
    await cluster.until(() => cluster.client.create(widgets, widget).then(Boolean, () => false));
    await start();
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceFinalizersRemaining']?.message).toBe(
      'Some content in the namespace has finalizers remaining: constructor in 1 resource instances',
    );
  });

  it('LIFE-442 keeps the namespace while a group cannot be discovered, and deletes what it knows', async () => {
    let broken = true;
    cluster.fault = async (request, next) => {
      const response = await next(request);
      if (!broken || request.target !== '/apis') return response;
      const document = JSON.parse(Buffer.from(response.body as Uint8Array).toString()) as { items: unknown[] };
      const stale = { metadata: { name: 'x.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] };
      const body = Buffer.from(JSON.stringify({ ...document, items: [...document.items, stale] }));
      return { ...response, body };
    };
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(5000);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionDiscoveryFailure']).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/^Discovery failed for some groups, 1 failing: .*x\.io\/v1: stale/),
    });
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    broken = false;
    await untilGone('n');
  });

  it('LIFE-442 API-606 waits while an APIService assigns a group to another server, which does not answer', async () => {
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    const gvr = gvrOf('apiservices', 'apiregistration.k8s.io');
    const spec = {
      group: 'x.io',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: 'kube-system', name: 'x' },
      insecureSkipTLSVerify: true,
    };
    await cluster.create({ gvr }, { metadata: { name: 'v1.x.io' }, spec });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(5000);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionDiscoveryFailure']?.status).toBe('True');
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    await cluster.wait(cluster.client.delete({ gvr, name: 'v1.x.io' }));
    await untilGone('n');
  });

  it('LIFE-442 deletes the pods even when discovery fails as a whole', async () => {
    let broken = true;
    cluster.fault = (request, next) =>
      broken && request.target === '/apis'
        ? Promise.resolve(answer(503, newServiceUnavailable('not now').status))
        : next(request);
    await start();
    await makeNamespace('n');
    await cluster.create({ gvr: pods, namespace: 'n' }, { ...scheduledPod('p', 0) });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    expect(await cluster.names({ gvr: pods, namespace: 'n' })).toEqual([]);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionDiscoveryFailure']?.message).toBe('not now');
    broken = false;
    await untilGone('n');
  });

  it('LIFE-443 goes on with the others when one resource fails, and reports all that failed', async () => {
    let broken = true;
    const refused = (resource: string) => answer(403, newForbidden(gvrOf(resource), '', 'policy').status);
    cluster.fault = (request, next) => {
      const resource = /namespaces\/n\/(secrets|services)\b/.exec(request.target)?.[1];
      return broken && resource !== undefined ? Promise.resolve(refused(resource)) : next(request);
    };
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionContentFailure']?.message).toBe(
      'Failed to delete all resource types, 2 remaining: secrets is forbidden: policy, services is forbidden: policy',
    );
    broken = false;
    await untilGone('n');
  });

  it('LIFE-441 LIFE-443 touches nothing else while it is unknown whether pods remain', async () => {
    let broken = true;
    cluster.fault = (request, next) =>
      broken && request.target.includes('/pods')
        ? Promise.resolve(answer(503, newServiceUnavailable('not now').status))
        : next(request);
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual(['a']);
    broken = false;
    await untilGone('n');
  });

  it.each([404, 405])(
    'LIFE-013 deletes one by one, with the uid, where DELETECOLLECTION answers %i',
    async (status) => {
      const bodies: unknown[] = [];
      cluster.fault = (request, next) => {
        if (request.method === 'DELETE' && request.target.endsWith('/configmaps')) {
          return Promise.resolve(answer(status, { ...newMethodNotSupported().status, code: status }));
        }
        if (request.method === 'DELETE' && request.target.includes('/configmaps/')) {
          bodies.push(JSON.parse(Buffer.from(request.body ?? []).toString()));
        }
        return next(request);
      };
      await start();
      await makeNamespace('n');
      const { metadata } = await makeConfigMap('n', { name: 'a' });
      await makeConfigMap('n', { name: 'b' });
      await deleteNamespace('n');
      expect(await untilGone('n')).toBe(0);
      expect(bodies).toHaveLength(2);
      expect(bodies).toContainEqual(
        expect.objectContaining({ propagationPolicy: 'Background', preconditions: { uid: metadata?.uid } }),
      );
    },
  );

  it.each([
    { without: 'deletecollection', sent: ['GET', 'GET', 'DELETE', 'GET'] },
    { without: 'list', sent: ['DELETE'] },
  ])('LIFE-440 does without $without where discovery does not offer it', async ({ without, sent }) => {
    cluster.fault = async (request, next) => {
      const response = await next(request);
      if (request.target !== '/api') return response;
      const text = Buffer.from(response.body as Uint8Array).toString();
      const document = JSON.parse(text) as { items: { versions: { resources: Offered[] }[] }[] };
      const offered = document.items[0]?.versions[0]?.resources.find(({ resource }) => resource === 'configmaps');
      if (offered !== undefined) offered.verbs = offered.verbs.filter((verb) => verb !== without);
      return { ...response, body: Buffer.from(JSON.stringify(document)) };
    };
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    cluster.requests.length = 0;
    await deleteNamespace('n');
    await untilGone('n');
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    const methods = cluster.requests.filter((line) => line.includes('/configmaps')).map((line) => line.split(' ')[0]);
    expect(methods).toEqual(sent);
  });

  it.each(['by the collection', 'one by one'])('LIFE-444 counts more than a page, deleted %s', async (way) => {
    cluster.fault = (request, next) =>
      way === 'one by one' && request.method === 'DELETE' && request.target.endsWith('/configmaps')
        ? Promise.resolve(answer(405, newMethodNotSupported().status))
        : next(request);
    await start();
    await makeNamespace('n');
    const finalizers = ['example.com/hold'];
    for (let n = 0; n < 501; n++) await makeConfigMap('n', { name: `c${n}`, ...(n % 2 === 0 ? { finalizers } : {}) });
    await deleteNamespace('n');
    await cluster.clock.settle();
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceFinalizersRemaining']?.message).toMatch(
      /example\.com\/hold in 251 resource instances$/,
    );
  });

  it('LIFE-443 a resource whose server does not answer costs the others nothing, and is given up after a minute', async () => {
    cluster.fault = (request, next) => (request.target.includes('/secrets') ? unanswered(request) : next(request));
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    await cluster.clock.settle();
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual([]);
    await cluster.clock.advanceAsync(60_000);
    expect(conditionsOf(await namespaceNamed('n'))['NamespaceDeletionContentFailure']).toMatchObject({
      status: 'True',
      message: 'Failed to delete all resource types, 1 remaining: no answer',
    });
  });

  it('stops in the middle of a pass', async () => {
    cluster.fault = (request, next) => (request.target.includes('/pods') ? unanswered(request) : next(request));
    await start();
    await makeNamespace('n');
    await deleteNamespace('n');
    await cluster.clock.settle();
    cluster.requests.length = 0;
    await cluster.stop();
    await cluster.clock.advanceAsync(600_000);
    expect(cluster.requests).toEqual([]);
    expect(cluster.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('lists terminating content again, every five minutes', async () => {
    await start();
    await makeNamespace('n', { finalizers: ['example.com/mine'] });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(300_000);
    expect(cluster.requests.filter((line) => line === 'GET /api/v1/namespaces/n')).toHaveLength(1);
  });

  it('LIFE-450 is content when somebody else was faster', async () => {
    cluster.fault = async (request, next) => {
      if (request.method === 'DELETE' && request.target.endsWith('/configmaps')) {
        await cluster.client.delete({ gvr: configMaps, namespace: 'n', name: 'a' });
        return answer(405, newMethodNotSupported().status);
      }
      return next(request);
    };
    await start();
    await makeNamespace('n');
    await makeConfigMap('n', { name: 'a' });
    await deleteNamespace('n');
    expect(await untilGone('n')).toBe(0);
  });

  it('LIFE-447 keeps foreign finalizers of the namespace', async () => {
    await start();
    await makeNamespace('n', { finalizers: ['example.com/mine'] });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    const namespace = await namespaceNamed('n');
    expect(namespace?.['spec']).toEqual({ finalizers: ['example.com/mine'] });
    expect(conditionsOf(namespace)['NamespaceContentRemaining']).toMatchObject({ status: 'False' });
    const mine = { gvr: namespaces, name: 'n', subresource: 'finalize' };
    await cluster.wait(cluster.client.update(mine, { ...namespace, spec: {} }));
    expect(await namespaceNamed('n')).toBeUndefined();
  });

  it('LIFE-447 a finalizer in the metadata holds the namespace too', async () => {
    await start();
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n', finalizers: ['example.com/mine'] } });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    const namespace = await namespaceNamed('n');
    expect(namespace?.['spec']).toEqual({});
    const patch = { type: 'application/merge-patch+json', body: { metadata: { finalizers: [] } } } as const;
    await cluster.wait(cluster.client.patch({ gvr: namespaces, name: 'n' }, patch));
    expect(await namespaceNamed('n')).toBeUndefined();
  });

  it.each(['status', 'finalize'])('LIFE-448 takes a fresh object after a conflict on /%s', async (subresource) => {
    let disturbances = 0;
    cluster.fault = async (request, next) => {
      if (request.method === 'PUT' && request.target.endsWith(`/${subresource}`) && disturbances < 3) {
        disturbances++;
        const body = { metadata: { labels: { disturbed: String(disturbances) } } };
        await cluster.client.patch({ gvr: namespaces, name: 'n' }, { type: 'application/merge-patch+json', body });
      }
      return next(request);
    };
    await start();
    await makeNamespace('n');
    await deleteNamespace('n');
    expect(await untilGone('n')).toBe(0);
    expect(disturbances).toBe(3);
  });

  it('LIFE-448 leaves a namespace of the same name alone that came in between', async () => {
    let replaced = false;
    cluster.fault = async (request, next) => {
      if (request.method === 'PUT' && request.target.endsWith('/finalize') && !replaced) {
        replaced = true;
        const old = await cluster.client.get({ gvr: namespaces, name: 'n' });
        await cluster.client.update({ gvr: namespaces, name: 'n', subresource: 'finalize' }, { ...old, spec: {} });
        await cluster.client.create({ gvr: namespaces }, { metadata: { name: 'n' } });
      }
      return next(request);
    };
    await start();
    await makeNamespace('n');
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(1000);
    expect(replaced).toBe(true);
    const namespace = await namespaceNamed('n');
    expect(namespace).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
    expect(conditionsOf(namespace)).toEqual({});
  });

  it('LIFE-451 100 namespaces, each with a Deployment, a ReplicaSet and pods, all vanish at once', async () => {
    await start();
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    for (const namespace of names) {
      await makeNamespace(namespace);
      for (const resource of ['deployments', 'replicasets']) {
        await cluster.create({ gvr: gvrOf(resource, 'apps'), namespace }, { metadata: { name: 'd' }, spec });
      }
      for (const name of ['p', 'q']) {
        await cluster.create({ gvr: pods, namespace }, { metadata: { name }, spec: template.spec });
      }
    }
    cluster.requests.length = 0;
    await cluster.wait(Promise.all(names.map((name) => cluster.client.delete({ gvr: namespaces, name }))));
    const left = async () => (await cluster.names({ gvr: namespaces })).filter((name) => names.includes(name));
    await cluster.until(async () => (await left()).length === 0, { withinMs: 1000 });
    // Discovery is shared, and each kind that is not there costs one LIST.
    const discoveries = cluster.requests.filter((line) => line === 'GET /apis').length;
    expect(discoveries).toBeLessThan(names.length);
    expect(cluster.requests.length).toBeLessThan(names.length * 60);
  });
});
