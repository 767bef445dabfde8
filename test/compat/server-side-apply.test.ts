import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../../src/api/meta/object-meta.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import type { CommandResult } from '../program/run-command.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

/** `kubectl apply --server-side`, with every kubectl, against the built program. */
const shop = join(import.meta.dirname, '../fixtures/shop.yaml');

interface Applied {
  readonly metadata: {
    readonly managedFields?: readonly ManagedFieldsEntry[];
    readonly annotations?: Record<string, string>;
  };
  readonly data?: Record<string, string>;
  readonly spec?: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

describe.each(kubectlPaths())('%s', (path) => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kubectl: Kubectl;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess(command, { cwd: directory.path });
    kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    await server.ready();
  });

  afterAll(async () => {
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  const configMap = (name: string, data: object): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });
  const deployment = (name: string, spec: object, containers: readonly object[]): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      ...spec,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers } },
    },
  });

  const tryApply = (object: object, ...args: readonly string[]): Promise<CommandResult> =>
    kubectl.try(['apply', '--server-side', '-f', '-', ...args], { input: JSON.stringify(object) });
  const apply = (object: object, ...args: readonly string[]): Promise<string> =>
    kubectl.run(['apply', '--server-side', '-f', '-', ...args], { input: JSON.stringify(object) });
  const get = async (what: string): Promise<Applied> =>
    (await kubectl.json(`get ${what} --show-managed-fields`)) as unknown as Applied;
  const managers = ({ metadata }: Applied): string[] =>
    (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`).sort();

  it('API-210 API-220 creates, says the same again, changes', async () => {
    expect(await apply(configMap('plain', { a: '1' }))).toBe('configmap/plain serverside-applied\n');
    const version = await kubectl.run('get cm plain -o jsonpath={.metadata.resourceVersion}');
    expect(await apply(configMap('plain', { a: '1' }))).toBe('configmap/plain serverside-applied\n');
    expect(await kubectl.run('get cm plain -o jsonpath={.metadata.resourceVersion}')).toBe(version);
    await apply(configMap('plain', { a: '2' }));
    const object = await get('cm plain');
    expect([object.data, managers(object)]).toEqual([{ a: '2' }, ['kubectl Apply']]);
    expect(object.metadata.managedFields?.[0]?.fieldsV1).toEqual({ 'f:data': { 'f:a': {} } });
    expect(object.metadata.annotations).toBeUndefined();
  });

  it('API-213 API-216 a conflict with an edit is reported, and --force-conflicts ends it', async () => {
    await apply(configMap('contested', { a: '1', b: '1' }));
    await kubectl.run(['patch', 'cm', 'contested', '--type=merge', '-p', '{"data":{"a":"edited"}}']);
    const refused = await tryApply(configMap('contested', { a: '2', b: '1' }));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'Apply failed with 1 conflict: conflict with "kubectl-patch" using v1: .data.a\n' +
        'Please review the fields above--they currently have other managers.',
    );
    expect((await get('cm contested')).data).toEqual({ a: 'edited', b: '1' });
    await apply(configMap('contested', { a: '2', b: '1' }), '--force-conflicts');
    const object = await get('cm contested');
    expect([object.data, managers(object)]).toEqual([{ a: '2', b: '1' }, ['kubectl Apply']]);
  });

  it('API-214 removes what is applied no more, and leaves what others set', async () => {
    await apply(configMap('shared', { a: '1', b: '1' }));
    await apply(configMap('shared', { c: '1' }), '--field-manager=other');
    await kubectl.run(['patch', 'cm', 'shared', '--type=merge', '-p', '{"data":{"d":"1"}}']);
    await apply(configMap('shared', { a: '1' }));
    const object = await get('cm shared');
    expect(object.data).toEqual({ a: '1', c: '1', d: '1' });
    expect(managers(object)).toEqual(['kubectl Apply', 'kubectl-patch Update', 'other Apply']);
  });

  it('API-222 merges containers and their environment by name', async () => {
    const web = { name: 'web', image: 'nginx:1', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] };
    await apply(deployment('lists', { replicas: 2 }, [web]));
    const more = [
      { name: 'web', env: [{ name: 'B', value: '2' }] },
      { name: 'side', image: 'busybox:1' },
    ];
    await apply(deployment('lists', {}, more), '--field-manager=injector', '--validate=false');
    const containers = async (): Promise<readonly Container[]> =>
      (await get('deployment lists')).spec?.template.spec.containers ?? [];
    expect((await containers()).map(({ name, image, env }) => [name, image, env?.map((one) => one.name)])).toEqual([
      ['web', 'nginx:1', ['A', 'B']],
      ['side', 'busybox:1', undefined],
    ]);
    await apply(deployment('lists', {}, [{ name: 'web', image: 'nginx:2' }]));
    expect((await containers()).map(({ name, image, env }) => [name, image, env?.map((one) => one.name)])).toEqual([
      ['web', 'nginx:2', ['B']],
      ['side', 'busybox:1', undefined],
    ]);
    expect((await get('deployment lists')).spec?.replicas).toBe(1);
  });

  it('API-331 kubectl scale takes the replicas, and an apply that still names them meets a conflict', async () => {
    const container = { name: 'c', image: 'i' };
    await apply(deployment('scaled', { replicas: 2 }, [container]));
    await kubectl.run('scale deployment scaled --replicas=5');
    const refused = await tryApply(deployment('scaled', { replicas: 2 }, [container]));
    expect(refused.stderr).toMatch(/conflict with "kubectl" with subresource "scale" using apps\/v1: \.spec\.replicas/);
    await apply(deployment('scaled', {}, [container]));
    expect((await get('deployment scaled')).spec?.replicas).toBe(5);
  });

  it('API-221 from client-side to server-side apply and on, without a conflict', async () => {
    const clientSide = (data: object): Promise<string> =>
      kubectl.run(['apply', '-f', '-'], { input: JSON.stringify(configMap('moved', data)) });
    await clientSide({ a: '1', b: '1' });
    expect(managers(await get('cm moved'))).toEqual(['kubectl-client-side-apply Update']);
    await apply(configMap('moved', { a: '2' }));
    const moved = await get('cm moved');
    // kubectl has its annotation in a manager of its own.
    expect([moved.data, managers(moved)]).toEqual([{ a: '2' }, ['kubectl Apply', 'kubectl-last-applied Apply']]);
    await apply(configMap('moved', { c: '3' }));
    expect((await get('cm moved')).data).toEqual({ c: '3' });
  });

  it('API-223 API-231 refuses what the schema does not know', async () => {
    const refused = await tryApply({ ...configMap('wrong', {}), dta: {} }, '--validate=false');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'failed to create typed patch object (default/wrong; /v1, Kind=ConfigMap): .dta: field not declared in schema',
    );
  });

  it('API-236 tries on the server, and shows the difference', async () => {
    expect(await apply(configMap('ghost', { a: '1' }), '--dry-run=server')).toBe(
      'configmap/ghost serverside-applied (server dry run)\n',
    );
    expect((await kubectl.try(['get', 'cm', 'ghost'])).code).toBe(1);
    await apply(configMap('seen', { a: '1' }));
    const difference = await kubectl.try(['diff', '--server-side', '-f', '-'], {
      input: JSON.stringify(configMap('seen', { a: '2' })),
    });
    expect([difference.code, difference.stdout]).toEqual([1, expect.stringMatching(/^- {2}a: "1"\n\+ {2}a: "2"$/m)]);
  });

  it('applies an application twice, and deletes it', async () => {
    await kubectl.run('create namespace shop');
    const first = await kubectl.run(`apply --server-side -n shop -f ${shop}`);
    const versions = await kubectl.run('get all -n shop -o jsonpath={.items[*].metadata.resourceVersion}');
    expect(await kubectl.run(`apply --server-side -n shop -f ${shop}`)).toBe(first);
    expect(await kubectl.run('get all -n shop -o jsonpath={.items[*].metadata.resourceVersion}')).toBe(versions);
    await kubectl.run(`delete -n shop -f ${shop}`);
  });
});
