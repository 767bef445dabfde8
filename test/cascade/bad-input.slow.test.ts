import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { startCluster, type TestCluster } from '../../src/testing/testing.ts';

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };
/** Deployments of another group: the same kind, plural and name. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'deployments.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Deployment', plural: 'deployments', singular: 'deployment' },
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

describe('bad input', () => {
  let cluster: TestCluster;
  let folder: string;
  let stopFault: (() => void) | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubegc-bad-input-'));
    cluster = await startCluster({ clock: 'real', listen: true, crds: [definition] });
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig);
    await cluster.client.create({ ...configMap, metadata: { name: 'root', namespace: 'default' } });
  });
  afterEach(() => {
    stopFault?.();
    stopFault = undefined;
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  });

  const cascade = async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
    const said = { out: '', err: '' };
    const code = await run(
      [
        'cascade',
        ...args,
        '--kubeconfig',
        join(folder, 'kubeconfig'),
        ...(args[0] === 'delete' && !args.includes('--record-dir') ? ['--record-dir', join(folder, 'records')] : []),
      ],
      {
        stdout: (text) => void (said.out += text),
        stderr: (text) => void (said.err += text),
        columns: 100,
      },
    );
    return { code, ...said };
  };
  const isThere = async (): Promise<boolean> =>
    (await cluster.client.find({ ...configMap, name: 'root', namespace: 'default' })) !== undefined;

  it('without a cluster there is an error that names its address, and what to choose', async () => {
    const { code, err } = await cascade('preview', 'configmap/root', '--server', 'https://127.0.0.1:1');
    expect(code).toBe(1);
    expect(err).toMatch(
      /^error: cannot reach https:\/\/127\.0\.0\.1:1: .*\nIs the cluster of .* running and reachable/,
    );
  });

  it('a token that is not valid any more is an error that says to sign in again', async () => {
    const { code, err } = await cascade('preview', 'configmap/root', '--token', 'expired');
    expect(code).toBe(1);
    expect(err).toMatch(/^error: from server \(Unauthorized\): Unauthorized\nThe credentials of .* have expired/);
  });

  it('CAS-002 kinds that may not be listed are named in a warning, and the rest is previewed', async () => {
    const match = { verb: 'list', resource: 'secrets' } as const;
    stopFault = cluster.faults.add({ match, answer: { status: 403, reason: 'Forbidden' } });
    const { code, out, err } = await cascade('preview', 'configmap/root');
    expect(err).toBe(
      'Warning: secrets could not be read, and what is in there is missing here: you have no right to list it\n',
    );
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('removes 1 object') as string });
  });

  it('CAS-002 a kind that does not answer is named in a warning, and the rest is previewed', async () => {
    const match = { verb: 'list', resource: 'secrets' } as const;
    stopFault = cluster.faults.add({ match, delay: 3_600_000, answer: { status: 500 } });
    const { code, out, err } = await cascade('preview', 'configmap/root', '--request-timeout', '5s');
    expect(err).toMatch(/^Warning: secrets could not be read, .*: request .*\n$/);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('removes 1 object') as string });
  });

  it('an object that is not there is an error in kubectl’s words', async () => {
    const { code, err } = await cascade('delete', 'configmap/missing', '--yes');
    expect(code).toBe(1);
    expect(err).toContain('error: from server (NotFound): configmaps "missing" not found\n');
    expect(err).toContain('Is it in another namespace (-n) or context (--context)?');
  });

  it('a name that two kinds have means the kind that kubectl takes, and the other kind with its group', async () => {
    await cluster.client.create({
      apiVersion: 'example.com/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
    });
    const plain = await cascade('preview', 'deployment/web');
    expect(plain).toMatchObject({
      code: 1,
      err: expect.stringContaining('from server (NotFound): deployments.apps "web" not found') as string,
    });
    const { out } = await cascade('preview', 'deployments.example.com/web', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ roots: [{ ref: { apiVersion: 'example.com/v1', name: 'web' } }] });
  });

  it('CAS-051 a plan of a later version deletes nothing', async () => {
    const file = join(folder, 'plan.json');
    expect(await cascade('preview', 'configmap/root', '--save', file)).toMatchObject({ code: 0 });
    const plan = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...plan, apiVersion: 'kubegc.io/v9' }));
    expect(await cascade('delete', '--plan', file)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'is CascadePlan in kubegc.io/v9, not a CascadePlan in kubegc.io/v1alpha1\nUse the version of kubegc that wrote it',
      ) as string,
    });
    expect(await isThere()).toBe(true);
  });

  it('CAS-061 a record that cannot be written deletes nothing', async () => {
    const inFile = join(folder, 'kubeconfig', 'records');
    const { code, err } = await cascade('delete', 'configmap/root', '--yes', '--record-dir', inFile);
    expect(code).toBe(1);
    expect(err).toContain(`cannot write a record in ${inFile}: a part of the path is not a directory\n`);
    expect(err).toContain('Nothing was deleted. Free space there, or choose another folder with --record-dir.');
    expect(await isThere()).toBe(true);
  });
});
