import { request } from 'node:https';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownControllers } from '../../src/assembly/controller-names.ts';
import { kubernetesVersion } from '../../src/cli/process/version.ts';
import {
  controllerNames,
  type FaultRequest,
  type KubeObject,
  NotSettledError,
  SeedError,
  startCluster,
  UnknownKindError,
} from '../../src/testing/testing.ts';
import { KUBERNETES_VERSION } from '../../src/testing/server-version.ts';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { dependent, owner, tree } from './tree.ts';

const configMap = (name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...rest },
});

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const otherOfItsKind = {
  ...crd,
  metadata: { name: 'gadgets.example.com' },
  spec: { ...crd.spec, names: { plural: 'gadgets', kind: 'Widget' } },
};
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } };

describe('startCluster', () => {
  it('starts with the objects given as YAML, collects what they own, and says why', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const { metadata } = await cluster.client.get(dependent);
    const { uid } = (await cluster.client.get(owner)).metadata ?? {};
    expect(metadata?.ownerReferences).toMatchObject([{ name: 'owner', uid }]);
    await cluster.client.delete(owner);
    expect(await cluster.settled()).toEqual({ waiting: [] });
    expect(await cluster.client.find(dependent)).toBeUndefined();
    const removal = cluster.trace().about(dependent).entries.at(-1);
    expect(removal).toMatchObject({
      kind: 'write',
      who: 'garbage-collector-controller',
      what: 'removed',
      why: 'None of its owners exists.',
    });
  });

  it.each(['fake', 'real'] as const)(
    'COL-101 COL-103 a foreground deletion waits for a finalizer below, the clock is %s',
    async (clock) => {
      await using cluster = await startCluster({ clock, objects: tree(['example.com/cleanup']) });
      await cluster.client.delete(owner, { propagationPolicy: 'Foreground' });
      await cluster.settled();
      expect((await cluster.client.get(owner)).metadata?.finalizers).toEqual(['foregroundDeletion']);
      expect((await cluster.client.get(dependent)).metadata?.deletionTimestamp).toBeTruthy();
      await cluster.client.removeFinalizer(dependent, 'example.com/cleanup');
      await cluster.settled();
      expect(await cluster.client.find(dependent)).toBeUndefined();
      expect(await cluster.client.find(owner)).toBeUndefined();
    },
  );

  it('COL-120 explains the writes of an orphaning by the decision about the owner', async () => {
    await using cluster = await startCluster({ objects: tree() });
    await cluster.client.delete(owner, { propagationPolicy: 'Orphan' });
    await cluster.settled();
    expect(cluster.trace().about(dependent).entries.at(-1)).toMatchObject({
      what: 'released by owner ConfigMap/owner',
      why: 'No dependent refers to the object, so the orphan finalizer is removed.',
    });
    expect((await cluster.client.get(dependent)).metadata?.ownerReferences).toBeUndefined();
  });

  it('empties a namespace that is deleted', async () => {
    await using cluster = await startCluster({
      objects: [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
        configMap('inside', { namespace: 'team' }),
      ],
    });
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'team' });
    await cluster.settled({ advanceMs: 60_000 });
    expect(await cluster.client.find({ apiVersion: 'v1', kind: 'Namespace', name: 'team' })).toBeUndefined();
    expect(cluster.trace().about({ kind: 'ConfigMap', name: 'inside' }).entries.at(-1)?.who).toBe(
      'namespace-controller',
    );
  });

  it('LIFE-151 keeps a claim as long as a pod uses it', async () => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'default' } };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'user', namespace: 'default' } };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const containers = [{ name: 'c', image: 'i' }];
    await using cluster = await startCluster({
      objects: [
        { ...claim, spec },
        { ...pod, spec: { nodeName: 'n', containers, volumes } },
      ],
    });
    await cluster.client.delete(claim);
    await cluster.settled();
    expect((await cluster.client.get(claim)).metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    await cluster.client.delete(pod, { gracePeriodSeconds: 0 });
    await cluster.settled();
    expect(await cluster.client.find(claim)).toBeUndefined();
  });

  it('maps uids that objects were written down with to those of the server', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'written' }];
    await using cluster = await startCluster({
      objects: [configMap('a', { uid: 'written' }), configMap('b', { ownerReferences })],
    });
    await cluster.settled();
    const a = await cluster.client.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a' });
    const b = await cluster.client.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'b' });
    expect(b.metadata?.ownerReferences?.[0]?.uid).toBe(a.metadata?.uid);
  });

  it.each([
    {
      name: 'an owner that is not there',
      objects: tree().split('---')[1] ?? '',
      message: /cannot create Secret default\/dependent: its owner ConfigMap\/owner has no uid/,
    },
    {
      name: 'what the server refuses',
      objects: [configMap('Upper')],
      message: /cannot create ConfigMap Upper: .*RFC 1123/,
    },
    {
      name: 'a namespace that is not there',
      objects: [configMap('x', { namespace: 'nowhere' })],
      message: /cannot create ConfigMap nowhere\/x: namespaces "nowhere" not found/,
    },
    {
      name: 'a kind that is not served',
      objects: [{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }],
      message: /no resource of kind "Widget".*startCluster\(\{ crds \}\)/,
    },
    { name: 'what is no object', objects: ['- 1'], message: /it is not an object/ },
    {
      name: 'the path of a file that is not there',
      objects: 'config/crd/bases/widgets.yaml',
      message: /^cannot create objects from "config\/crd\/bases\/widgets\.yaml": ENOENT: no such file/,
    },
    { name: 'what is no YAML', objects: 'a: [b', message: /^cannot create objects from a text: error converting YAML/ },
  ])('refuses $name, and leaves nothing behind', async ({ objects, message }) => {
    const error = await startCluster({ objects }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SeedError);
    expect((error as Error).message).toMatch(message);
  });

  it.each([
    [{ objets: [] }, 'startCluster has no "objets"; there are: seed, clock, crds, objects, controllers, listen'],
    [{ clock: 'fast' }, 'the clock is fake or real, not fast'],
    [{ seed: 1.5 }, 'the seed is not an integer: 1.5'],
    [
      { crds: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } }] },
      'crds takes CustomResourceDefinitions, not ConfigMap b/a; give that to objects',
    ],
    [
      { crds: [crd, otherOfItsKind] },
      'cannot create CustomResourceDefinition gadgets.example.com: its names are not accepted: "WidgetList" is already in use',
    ],
    [{ crds: [crd, crd] }, 'customresourcedefinitions.apiextensions.k8s.io "widgets.example.com" already exists'],
    [{ controllers: '*' }, "controllers is a list of names, not '*'; all run when it is left out"],
    [{ controllers: ['gc'] }, 'unknown controller "gc"; there are: garbage-collector-controller, '],
  ])('refuses %j', async (options, message) => {
    await expect(startCluster(options as object)).rejects.toThrow(message);
  });

  it('answers with what was sent and what the server added, for the types as well', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const sent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
    const created = await cluster.client.create(sent);
    expect(created.metadata.uid).toEqual(expect.any(String));
    const updated = await cluster.client.update({ ...created, data: { a: created.data.a.toUpperCase() } });
    expect(updated.data.a).toBe('B');
    expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
  });

  it('names the version in which a kind is served', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const asked = cluster.client.find({ apiVersion: 'v1', kind: 'Deployment', name: 'x' });
    await expect(asked).rejects.toThrow(UnknownKindError);
    await expect(asked).rejects.toThrow('it is served in apps/v1');
  });

  it.each([
    ['configmap', 'v1', 'did you mean ConfigMap, in version "v1"?'],
    ['Secrets', 'v1', 'did you mean Secret, in version "v1"?'],
    ['deploy', 'apps/v1', 'did you mean Deployment, in version "apps/v1"?'],
    ['Wigdet', 'v1', 'give its CustomResourceDefinition to startCluster({ crds })'],
  ])('says what is near a kind that is none: %s', async (kind, apiVersion, hint) => {
    await using cluster = await startCluster({ controllers: [] });
    await expect(cluster.client.find({ apiVersion, kind, name: 'x' })).rejects.toThrow(hint);
  });

  it('runs only the controllers that are asked for', async () => {
    await using cluster = await startCluster({ objects: tree(), controllers: ['namespace-controller'] });
    await cluster.client.delete(owner);
    await cluster.settled();
    expect(await cluster.client.find(dependent)).toBeDefined();
  });

  it('serves custom resources from the start', async () => {
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w' }];
    await using cluster = await startCluster({
      crds: [crd],
      objects: [widget, configMap('owned', { ownerReferences })],
    });
    await cluster.client.delete(widget);
    await cluster.settled();
    expect(await cluster.client.find({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owned' })).toBeUndefined();
  });

  it('learns of a kind that is defined later when a second has passed', async () => {
    await using cluster = await startCluster({ objects: [configMap('owner')] });
    await cluster.client.create(crd);
    await cluster.settled();
    await cluster.clock.advance(1000);
    await cluster.settled();
    const owning = await cluster.client.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owning.metadata?.uid ?? '' }];
    await cluster.client.create({ ...widget, metadata: { ...widget.metadata, ownerReferences } });
    await cluster.client.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' });
    await cluster.settled();
    expect(await cluster.client.find(widget)).toBeUndefined();
  });

  it('runs fifty clusters in one process, each on its own', async () => {
    const clusters = await Promise.all(
      Array.from({ length: 50 }, (_, seed) => startCluster({ seed, objects: tree() })),
    );
    await Promise.all(clusters.filter((_, index) => index % 2 === 0).map(({ client }) => client.delete(owner)));
    await Promise.all(clusters.map((cluster) => cluster.settled({ timeoutMs: 120_000 })));
    const left = await Promise.all(clusters.map(({ client }) => client.find(dependent)));
    expect(left.map((object, index) => (object === undefined) === (index % 2 === 0))).not.toContain(false);
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  });

  it('has the controllers and the version of kubegc up', () => {
    const without = new Set([
      'serviceaccount-token-controller',
      'podcertificaterequest-cleaner-controller',
      'storageversion-garbage-collector-controller',
    ]);
    const offered = Object.keys(knownControllers).filter((name) => !without.has(name));
    expect([...controllerNames].toSorted()).toEqual(offered.toSorted());
    expect(KUBERNETES_VERSION).toBe(kubernetesVersion);
  });
});

describe('a cluster', () => {
  it('ends once, however often it is stopped, and answers no more', async () => {
    const cluster = await startCluster();
    await Promise.all([cluster.stop(), cluster.stop()]);
    await cluster.stop();
    await expect(cluster.client.create(configMap('late'))).rejects.toThrow();
  });

  it('has no kubeconfig without a port, and says how to get one', async () => {
    await using cluster = await startCluster({ controllers: [] });
    expect(() => cluster.kubeconfig).toThrow('startCluster({ listen: true })');
    expect(() => cluster.url).toThrow('startCluster({ listen: true })');
  });

  it('API-370 serves HTTPS when asked to, to the bearer of its own token', async () => {
    await using directory = await temporaryDirectory();
    await using cluster = await startCluster({ listen: true });
    await using other = await startCluster({ listen: true, controllers: [] });
    const path = join(directory.path, 'kubeconfig');
    await cluster.writeKubeconfig(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(cluster.kubeconfig);
    const field = (name: string, text: string): string => new RegExp(`${name}: "?([^"\\n]+)`).exec(text)?.[1] ?? '';
    const ca = Buffer.from(field('certificate-authority-data', cluster.kubeconfig), 'base64');
    const ask = (token: string): Promise<number> =>
      new Promise((settle, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'user-agent': 'curl/8' };
        request(
          `${cluster.url}/api/v1/namespaces/default/configmaps/none`,
          { ca, headers, agent: false, method: 'DELETE' },
          (answer) => {
            answer.resume();
            settle(answer.statusCode ?? 0);
          },
        )
          .on('error', reject)
          .end();
      });
    expect(await ask(field('token', cluster.kubeconfig))).toBe(404);
    expect(cluster.trace().entries.at(-1)).toMatchObject({
      kind: 'refused',
      who: 'curl',
      why: 'configmaps "none" not found',
    });
    expect(await ask(field('token', other.kubeconfig))).toBe(401);
  });

  it('API-370 writes its kubeconfig for this user alone also where a file was that everybody could read', async () => {
    await using directory = await temporaryDirectory();
    await using cluster = await startCluster({ listen: true, controllers: [] });
    const path = join(directory.path, 'kubeconfig');
    await writeFile(path, 'of an earlier run');
    await chmod(path, 0o644);
    await cluster.writeKubeconfig(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(cluster.kubeconfig);
    expect(await readdir(directory.path)).toEqual(['kubeconfig']);
  });

  it('names a controller that it does not know, and those there are', async () => {
    const controllers = ['garbagecolector' as 'namespace-controller'];
    await expect(startCluster({ controllers })).rejects.toThrow(
      /^unknown controller "garbagecolector"; there are: garbage-collector-controller, namespace-controller, .*persistentvolume-protection-controller\b/,
    );
  });

  it('does not settle while the operator under test is busy, and says what is pending', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const error = await cluster.settled({ timeoutMs: 20, idle: () => false }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotSettledError);
    expect((error as Error).message).toMatch(
      /did not settle within 20 ms; still pending:\n[^]*idle\(\)[^]*Secret default\/dependent created/,
    );
  });

  it('does not settle while two operators undo what the other does, and shows them', async () => {
    await using cluster = await startCluster({ objects: [configMap('fought-over')] });
    const fought = { apiVersion: 'v1', kind: 'ConfigMap', name: 'fought-over' };
    const maps = await cluster.informer({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' });
    const operator = (name: string, mine: string, stop: AbortSignal): void => {
      const client = cluster.clientAs(name);
      const insist = (object: KubeObject): void => {
        if (object.metadata?.name !== 'fought-over' || stop.aborted) return;
        if (object.metadata.labels?.['by'] !== mine)
          void client.patch(fought, { metadata: { labels: { by: mine } } }).catch(() => undefined);
      };
      maps.addHandler({ added: insist, updated: (_, object) => insist(object) });
    };
    const peace = new AbortController();
    operator('operator-a', 'a', peace.signal);
    operator('operator-b', 'b', peace.signal);
    const error = await cluster.settled({ timeoutMs: 50 }).catch((reason: unknown) => reason);
    peace.abort();
    expect(error).toBeInstanceOf(NotSettledError);
    expect((error as Error).message).toMatch(/operator-[ab] .*fought-over updated \(metadata\.labels\)/);
    await cluster.settled();
  });

  it('hands an operator a cache with handlers', async () => {
    await using cluster = await startCluster({ objects: tree() });
    const secrets = await cluster.informer({ apiVersion: 'v1', kind: 'Secret' });
    const gone: string[] = [];
    secrets.addHandler({ deleted: ({ metadata }) => void gone.push(metadata?.name ?? '') });
    expect(secrets.get('default/dependent')).toBeDefined();
    await cluster.client.delete(owner);
    await cluster.settled();
    expect(gone).toEqual(['dependent']);
  });

  it('lists, updates and patches by kind', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    await cluster.load([configMap('a', { labels: { app: 'x' } }), configMap('b')]);
    const [a] = await client.list({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'default',
      labelSelector: 'app=x',
    });
    expect(a?.metadata?.name).toBe('a');
    const updated = await client.update({ ...a, data: { k: 'v' } });
    expect((await client.patch(updated, { data: { l: 'w' } }))['data']).toEqual({ k: 'v', l: 'w' });
    await client.addFinalizer(updated, 'example.com/x');
    await client.addFinalizer(updated, 'example.com/x');
    expect((await client.get(updated)).metadata?.finalizers).toEqual(['example.com/x']);
    const node = await client.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    expect(await client.updateStatus({ ...node, status: { phase: 'Running' } })).toMatchObject({
      status: { phase: 'Running' },
    });
    await client.removeFinalizer(
      { ...updated, metadata: { ...updated.metadata, name: 'never-there' } },
      'example.com/x',
    );
  });

  it.each([
    [{ labels: 'app=x' }, 'no "labels"; there are: apiVersion, kind, namespace, labelSelector, fieldSelector'],
    [{ ns: 'default' }, 'no "ns"; there are: apiVersion, '],
  ])('refuses to list, or keep, objects by %j', async (options, message) => {
    await using cluster = await startCluster({ controllers: [] });
    const query = { apiVersion: 'v1', kind: 'ConfigMap', ...options };
    await expect(cluster.client.list(query)).rejects.toThrow(`list has ${message}`);
    await expect(cluster.informer(query)).rejects.toThrow(`informer has ${message}`);
  });

  it('shows the history of an object by its name, or by the object itself', async () => {
    await using cluster = await startCluster({ objects: tree(), controllers: [] });
    const object = await cluster.client.get(dependent);
    const typed: { apiVersion?: string; kind?: string; metadata?: { name?: string; uid?: string } } = object;
    const [created, ...rest] = cluster.trace().about(object).entries;
    expect(created?.what).toMatch(/^created/);
    expect(rest).toEqual([]);
    expect(cluster.trace().about(typed).entries).toHaveLength(1);
    expect(cluster.trace().about({ kind: 'Secret', name: 'dependent' }).entries).toHaveLength(1);
    const another = { ...object, metadata: { ...object.metadata, uid: 'another' } };
    expect(cluster.trace().about(another).entries).toEqual([]);
    expect(() => cluster.trace().about({ kind: 'Secret' })).toThrow('needs kind and name to be found in the trace');
  });

  it('changes the finalizers of the object with the uid, not of another that has taken its name', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const mine = configMap('a', { finalizers: ['example.com/x'] });
    const old = await client.create(mine);
    await client.delete(old);
    await client.removeFinalizer(old, 'example.com/x');
    const other = await client.create(mine);
    await client.removeFinalizer(old, 'example.com/x');
    expect((await client.get(other)).metadata?.finalizers).toEqual(['example.com/x']);
    await expect(client.addFinalizer(old, 'example.com/y')).rejects.toMatchObject({
      status: { code: 404, reason: 'NotFound', message: 'configmaps "a" not found', details: { name: 'a' } },
    });
    await expect(client.addFinalizer(old, 'example.com/x')).rejects.toThrow('configmaps "a" not found');
    await client.removeFinalizer({ apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }, 'example.com/x');
    expect((await client.get(other)).metadata?.finalizers).toBeUndefined();
  });

  it('takes no finalizer off an object that takes the name while the change is on its way', async () => {
    await using cluster = await startCluster();
    const { client } = cluster;
    const mine = configMap('a', { finalizers: ['example.com/x'] });
    const old = await client.create(mine);
    const sent = new Promise<unknown>((resolve) => {
      const match = ({ who, verb, body }: FaultRequest): boolean => {
        if (who !== 'operator' || verb !== 'patch') return false;
        resolve(body);
        return true;
      };
      cluster.faults.add({ match, times: 1, delay: 100 });
    });
    const removed = cluster.clientAs('operator').removeFinalizer(old, 'example.com/x');
    expect(await sent).toMatchObject({ metadata: { uid: old.metadata?.uid } });
    await client.delete(old);
    await client.removeFinalizer(old, 'example.com/x');
    const other = await client.create(mine);
    await cluster.clock.advance(100);
    await removed;
    expect((await client.get(other)).metadata?.finalizers).toEqual(['example.com/x']);
  });
});
