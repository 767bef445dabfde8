import { existsSync, readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** Commands that a person types, with every kubectl, against the built program. */
const shop = join(import.meta.dirname, '../fixtures/shop.yaml');
/** Other people's, and no part of this project: tried where it lies beside it. */
const boutique = join(import.meta.dirname, '../../../shared/manifests/online-boutique.yaml');

interface OwnerOptions {
  readonly block?: boolean;
  readonly finalizers?: readonly string[];
}

describe.each(kubectlPaths())('%s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    server = new KubegcProcess([
      'up',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      join(directory.path, 'data'),
      '--write-kubeconfig',
      kubeconfig,
    ]);
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    await server.ready();
  });

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  const uidOf = async (what: string): Promise<string> => kubectl.run(`get ${what} -o jsonpath={.metadata.uid}`);

  async function dependentOf(owner: string, name: string, options: OwnerOptions = {}): Promise<void> {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        finalizers: options.finalizers ?? [],
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner,
            uid: await uidOf(`configmap/${owner}`),
            blockOwnerDeletion: options.block ?? true,
          },
        ],
      },
    };
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(object) });
  }

  const exists = async (what: string): Promise<boolean> => (await kubectl.try(['get', ...what.split(' ')])).code === 0;

  it('answers version, api-versions, api-resources (API-014, API-390, API-393)', async () => {
    expect(await kubectl.run('version')).toMatch(/Server Version: v1\.36\.\d+\+kubegc/);
    expect((await kubectl.run('api-versions')).split('\n')).toEqual(
      expect.arrayContaining(['v1', 'apps/v1', 'batch/v1', 'events.k8s.io/v1']),
    );
    const resources = await kubectl.run('api-resources');
    expect(resources).toMatch(/^configmaps +cm +v1 +true +ConfigMap$/m);
    expect(resources).toMatch(/^namespaces +ns +v1 +false +Namespace$/m);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
  });

  it("shows the user and the user's rights (API-373)", async () => {
    expect(await kubectl.run('auth can-i delete pods')).toBe('yes\n');
    expect(await kubectl.run('auth whoami')).toMatch(/system:masters/);
  });

  it('creates configmaps, secrets, namespaces, service accounts by its own generators (API-029)', async () => {
    expect(await kubectl.run('create configmap made --from-literal=a=1')).toBe('configmap/made created\n');
    expect(await kubectl.run('create secret generic made --from-literal=password=x')).toBe('secret/made created\n');
    expect(await kubectl.run('create namespace made')).toBe('namespace/made created\n');
    expect(await kubectl.run('create serviceaccount made')).toBe('serviceaccount/made created\n');
    expect(await kubectl.run('get secret made -o jsonpath={.data.password}')).toBe('eA==');
    const again = await kubectl.try(['create', 'configmap', 'made']);
    expect(again.stderr).toBe('error: failed to create configmap: configmaps "made" already exists\n');
    expect(again.code).toBe(1);
  });

  it('LIFE-480 LIFE-481 a namespace has its default ServiceAccount and root certificate', async () => {
    await kubectl.run('create namespace furnished');
    await until(
      'serviceaccount and configmap',
      async () => (await exists('sa default -n furnished')) && (await exists('cm kube-root-ca.crt -n furnished')),
    );
    expect(await kubectl.run('get cm kube-root-ca.crt -n furnished -o jsonpath={.data}')).toContain(
      'BEGIN CERTIFICATE',
    );
  });

  it('prints every output form of get (API-430)', async () => {
    await kubectl.run('create configmap forms --from-literal=a=1 --from-literal=b=2');
    expect(await kubectl.run('get configmap forms')).toMatch(/^NAME +DATA +AGE\nforms +2 +\d+s\n$/);
    expect(await kubectl.run('get configmap forms -o name')).toBe('configmap/forms\n');
    expect(await kubectl.run('get configmap forms -o wide')).toMatch(/^NAME +DATA +AGE/);
    expect(await kubectl.run('get configmap forms -o jsonpath={.data.b}')).toBe('2');
    expect(await kubectl.run('get configmap forms -o custom-columns=N:.metadata.name,D:.data.a')).toMatch(
      /^N +D\nforms +1\n$/,
    );
    expect(await kubectl.run('get configmap forms -o yaml')).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "1"\n {2}b: "2"\nkind: ConfigMap\nmetadata:\n/,
    );
    expect((await kubectl.json('get configmap forms'))['kind']).toBe('ConfigMap');
    expect(await kubectl.run('get all -A')).toContain('service/kubernetes');
  });

  it('lists in all namespaces, by label, by name, in chunks (API-096, API-101, API-103)', async () => {
    await kubectl.run('create namespace many');
    const items = Array.from({ length: 25 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: `cm-${String(index).padStart(2, '0')}`,
        namespace: 'many',
        labels: { half: index < 12 ? 'one' : 'two' },
      },
    }));
    await kubectl.run(['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
    const names = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('configmap/cm-'));
    expect(names(await kubectl.run('get cm -n many -l half=one -o name'))).toHaveLength(12);
    expect(names(await kubectl.run('get cm -n many -l half!=one -o name'))).toHaveLength(13);
    expect(names(await kubectl.run('get cm -n many --field-selector metadata.name=cm-07 -o name'))).toEqual([
      'configmap/cm-07',
    ]);
    expect(names(await kubectl.run('get cm -n many --chunk-size=10 -o name'))).toHaveLength(25);
    expect(await kubectl.run('get cm -A')).toMatch(/^NAMESPACE +NAME +DATA +AGE\n/);
    expect(await kubectl.run('delete cm -n many -l half=two')).toContain('configmap "cm-24" deleted');
    expect(names(await kubectl.run('get cm -n many -o name'))).toHaveLength(12);
    await kubectl.run('delete cm -n many --all');
    expect(names(await kubectl.run('get cm -n many -o name'))).toHaveLength(0);
  });

  it('watches (API-120)', async () => {
    const watch = kubectl.start(['get', 'configmap', '-n', 'made', '-w', '-o', 'name']);
    try {
      await until('the watch has begun', () => watch.stdout.includes('configmap/kube-root-ca.crt'));
      await kubectl.run('create configmap seen -n made');
      await until('the watch shows it', () => watch.stdout.includes('configmap/seen'));
    } finally {
      await watch.stop();
    }
  });

  it('labels, annotates, patches in three ways (API-193..195)', async () => {
    await kubectl.run('create configmap changed --from-literal=a=1');
    await kubectl.run('label cm changed tier=one');
    await kubectl.run('annotate cm changed note=hello');
    await kubectl.run(['patch', 'cm', 'changed', '--type=json', '-p', '[{"op":"add","path":"/data/b","value":"2"}]']);
    await kubectl.run(['patch', 'cm', 'changed', '--type=merge', '-p', '{"data":{"a":null}}']);
    await kubectl.run(['patch', 'cm', 'changed', '-p', '{"metadata":{"finalizers":["example.com/one"]}}']);
    await kubectl.run([
      'patch',
      'cm',
      'changed',
      '-p',
      '{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/one"]}}',
    ]);
    const changed = (await kubectl.json('get cm changed')) as unknown as {
      data: unknown;
      metadata: Record<string, unknown>;
    };
    expect(changed.data).toEqual({ b: '2' });
    expect(changed.metadata['labels']).toEqual({ tier: 'one' });
    expect(changed.metadata['annotations']).toMatchObject({ note: 'hello' });
    expect(changed.metadata['finalizers']).toBeUndefined();
  });

  it('replaces and edits (API-170)', async () => {
    const object = await kubectl.json('get cm changed');
    await kubectl.run(['replace', '-f', '-'], { input: JSON.stringify({ ...object, data: { c: '3' } }) });
    expect(await kubectl.run('get cm changed -o jsonpath={.data}')).toBe('{"c":"3"}');
    const editor = join(directory.path, 'editor.sh');
    await writeFile(editor, '#!/bin/sh\nsed -i "s/c: .*/c: edited/" "$1"\n');
    await chmod(editor, 0o755);
    expect(await kubectl.run('edit cm changed', { env: { KUBE_EDITOR: editor } })).toBe('configmap/changed edited\n');
    expect(await kubectl.run('get cm changed -o jsonpath={.data.c}')).toBe('edited');
  });

  it('dry-runs on the server without a trace (API-236)', async () => {
    expect(await kubectl.run('create configmap ghost --dry-run=server')).toBe(
      'configmap/ghost created (server dry run)\n',
    );
    expect(await exists('cm ghost')).toBe(false);
    await kubectl.run('create configmap stays');
    await kubectl.run('delete configmap stays --dry-run=server');
    expect(await exists('cm stays')).toBe(true);
  });

  it('explains and describes (API-413)', async () => {
    expect(await kubectl.run('explain pod.spec.containers.image')).toMatch(/FIELD: image <string>/);
    expect(await kubectl.run('explain deployment --recursive')).toMatch(/terminationGracePeriodSeconds/);
    const described = await kubectl.run('describe configmap changed');
    expect(described).toMatch(/^Name: +changed\nNamespace: +default\n/);
    expect(described).toContain('Events:');
    await kubectl.run('describe namespace default');
    await kubectl.run('describe service kubernetes');
    expect(await kubectl.run('events -n made')).toBe('');
  });

  it('refuses unknown fields with their paths (API-231)', async () => {
    const { stderr, code } = await kubectl.try(['create', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, dta: { a: '1' } }),
    });
    expect(code).toBe(1);
    expect(stderr).toContain(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"',
    );
  });

  it('applies an application and deletes it (client side apply, three-way merge)', async () => {
    await kubectl.run('create namespace shop');
    const first = await kubectl.run(`apply -n shop -f ${shop}`);
    const count = readFileSync(shop, 'utf8')
      .split(/^---$/m)
      .filter((part) => part.includes('kind:')).length;
    expect(first.trim().split('\n')).toHaveLength(count);
    expect(first).not.toContain('unchanged');
    const second = await kubectl.run(`apply -n shop -f ${shop}`);
    expect(
      second
        .trim()
        .split('\n')
        .filter((line) => !line.endsWith(' unchanged')),
    ).toEqual([]);
    await kubectl.run(['patch', 'deployment', 'frontend', '-n', 'shop', '-p', '{"spec":{"replicas":3}}']);
    await kubectl.run(`delete -n shop -f ${shop}`);
    expect(await kubectl.run('get deployments,services,serviceaccounts -n shop -o name')).toBe(
      'serviceaccount/default\n',
    );
  });

  it.runIf(existsSync(boutique))('applies the Online Boutique and deletes it', async () => {
    await kubectl.run('create namespace boutique');
    const applied = (await kubectl.run(`apply -n boutique -f ${boutique}`)).trim().split('\n');
    const count = readFileSync(boutique, 'utf8')
      .split(/^---$/m)
      .filter((part) => /^kind:/m.test(part)).length;
    expect(applied).toHaveLength(count);
    await kubectl.run(`delete -n boutique -f ${boutique}`);
    expect(await kubectl.run('get deployments,services -n boutique -o name')).toBe('');
  });

  describe('delete', () => {
    it('background: the owner goes at once, dependents follow (API-250, COL-101)', async () => {
      await kubectl.run('create configmap owner');
      await dependentOf('owner', 'child');
      await dependentOf('child', 'grandchild');
      expect(await kubectl.run('delete configmap owner')).toMatch(/^configmap "owner" deleted/);
      await until(
        'dependents are collected',
        async () => !(await exists('cm child')) && !(await exists('cm grandchild')),
      );
    });

    it('foreground: the owner waits for its blocking dependents (COL-062, COL-102)', async () => {
      await kubectl.run('create configmap waits');
      await dependentOf('waits', 'holds', { finalizers: ['example.com/hold'] });
      await kubectl.run('delete configmap waits --cascade=foreground --wait=false');
      await until(
        'dependent is being deleted',
        async () => (await kubectl.run('get cm holds -o jsonpath={.metadata.deletionTimestamp}')) !== '',
      );
      expect(await kubectl.run('get cm waits -o jsonpath={.metadata.finalizers}')).toBe('["foregroundDeletion"]');
      await kubectl.run(['patch', 'cm', 'holds', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
      await until('both are gone', async () => !(await exists('cm holds')) && !(await exists('cm waits')));
    });

    it('orphan: dependents stay and lose the reference (COL-120, COL-122)', async () => {
      await kubectl.run('create configmap parent');
      await dependentOf('parent', 'kept');
      await kubectl.run('delete configmap parent --cascade=orphan');
      expect(await exists('cm parent')).toBe(false);
      expect(await kubectl.run('get cm kept -o jsonpath={.metadata.ownerReferences}')).toBe('');
      // A cascade that begins later is over: the collector has seen the owner and the dependent of before it.
      await kubectl.run('create configmap later');
      await dependentOf('later', 'collected');
      await kubectl.run('delete configmap later');
      await until('a later cascade is done', async () => !(await exists('cm collected')));
      expect(await exists('cm kept')).toBe(true);
    });

    it('--now, --force, --wait and wait --for=delete (API-312)', async () => {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p1' },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      };
      await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(pod) });
      await kubectl.run('delete pod p1 --wait=false');
      expect(await kubectl.run('get pod p1 -o jsonpath={.metadata.deletionGracePeriodSeconds}')).toBe('30');
      expect(await kubectl.run('get pod p1')).toMatch(/p1 +0\/1 +Terminating/);
      await kubectl.run('delete pod p1 --now --wait=false');
      expect(await kubectl.run('get pod p1 -o jsonpath={.metadata.deletionGracePeriodSeconds}')).toBe('1');
      const waiting = kubectl.run('wait --for=delete pod/p1 --timeout=60s');
      await kubectl.run('delete pod p1 --force --grace-period=0');
      await waiting;
      expect(await exists('pod p1')).toBe(false);
    });

    it('a namespace takes everything in it along (LIFE-440 ff.)', async () => {
      await kubectl.run('create namespace doomed');
      await kubectl.run('create configmap inside -n doomed');
      await kubectl.run('create secret generic inside -n doomed');
      await kubectl.run('delete namespace doomed --timeout=60s');
      expect(await exists('ns doomed')).toBe(false);
      const refused = await kubectl.try(['delete', 'namespace', 'default']);
      expect(refused.stderr).toContain('namespaces "default" is forbidden: this namespace may not be deleted');
    });

    it('COL-144 COL-147 a reference across namespaces is reported as an Event', async () => {
      await kubectl.run('create configmap elsewhere');
      const uid = await uidOf('configmap/elsewhere');
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'stranger',
          namespace: 'made',
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'elsewhere', uid }],
        },
      };
      await kubectl.run(['create', '-f', '-'], { input: JSON.stringify(object) });
      await until('the event', async () =>
        (
          await kubectl.run(
            'get events -A --field-selector=reason=OwnerRefInvalidNamespace -o jsonpath={.items[*].message}',
          )
        ).includes(
          `ownerRef [v1/ConfigMap, namespace: made, name: elsewhere, uid: ${uid}] does not exist in namespace "made"`,
        ),
      );
      await until('the dependent is collected', async () => !(await exists('cm stranger -n made')));
      expect(await exists('cm elsewhere')).toBe(true);
    });
  });

  it('COL-180 API-017 shows the debug graph and the metrics', async () => {
    await kubectl.run('create configmap root');
    await dependentOf('root', 'leaf');
    const uid = await uidOf('configmap/root');
    await until('the graph has both', async () =>
      (await kubectl.run('get --raw /debug/controllers/garbage-collector-controller/graph')).includes(`-> "${uid}";`),
    );
    expect(await kubectl.run('get --raw /debug/controllers/garbagecollector/graph')).toMatch(/^strict digraph full \{/);
    const post = async (page: string): Promise<Record<string, unknown>> =>
      JSON.parse(
        await kubectl.run(`create --raw /debug/controllers/garbage-collector-controller/${page} -f /dev/null`),
      ) as Record<string, unknown>;
    expect(await post('consistency')).toMatchObject({ differences: [] });
    expect((await post('rescan'))['listing']).toContain('/v1/configmaps (ConfigMap)');
    const metrics = await kubectl.run('get --raw /metrics');
    expect(metrics).toContain('workqueue_adds_total{name="garbage_collector_attempt_to_delete"}');
    expect(metrics).toMatch(/^apiserver_request_total\{/m);
  });
});
