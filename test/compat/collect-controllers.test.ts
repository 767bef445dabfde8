import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/** Controllers outside the process of the API server (designs/0024-controllers-on-any-cluster.md). */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let kubeconfig: string;
let client: ApiClient;
let started: KubegcProcess[];

beforeEach(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  started = [];
});
afterEach(async () => {
  client.close();
  for (const each of started.toReversed()) await each.stop();
  await directory[Symbol.asyncDispose]();
});

async function serverWith(controllers: string): Promise<void> {
  const args = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
  const server = new KubegcProcess([...args, '--controllers', controllers], { cwd: directory.path });
  started.push(server);
  await server.ready();
  client = new ApiClient(kubeconfig);
}

function collect(...args: readonly string[]): KubegcProcess {
  const process = new KubegcProcess(['collect', '--kubeconfig', kubeconfig, ...args], { cwd: directory.path });
  started.push(process);
  return process;
}

const deployments = '/apis/apps/v1/namespaces/default/deployments';
const labels = { app: 'web' };
const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] },
    },
  },
};
const count = async (path: string): Promise<number> =>
  ((await client.send('GET', path)).body['items'] as unknown[]).length;
const pods = () => count('/api/v1/namespaces/default/pods');

describe('kubegc collect --controllers', () => {
  it('LIFE-016 runs controllers against a server that has none, and the collector with them', async () => {
    await serverWith('serviceaccount-controller');
    const names = 'garbage-collector-controller,deployment-controller,replicaset-controller';
    await collect('--mode', 'collect', '--controllers', names).ready();
    expect((await client.send('POST', deployments, deployment)).status).toBe(201);
    await until('two pods', async () => (await pods()) === 2);
    await client.send('DELETE', `${deployments}/web`);
    await until('no pods', async () => (await pods()) === 0);
    expect(await count('/apis/apps/v1/namespaces/default/replicasets')).toBe(0);
  });

  it('LIFE-016 runs controllers beside a collector that another process runs, under a lease of their own', async () => {
    await serverWith('garbage-collector-controller,serviceaccount-controller');
    await collect('--mode', 'collect', '--controllers', 'deployment-controller,replicaset-controller').ready();
    await client.send('POST', deployments, deployment);
    await until('two pods', async () => (await pods()) === 2);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    expect((await client.send('GET', `${leases}/kubegc-collect-controllers`)).status).toBe(200);
    expect((await client.send('GET', `${leases}/kubegc-collector`)).status).toBe(404);
    await client.send('DELETE', `${deployments}/web`);
    await until('no pods', async () => (await pods()) === 0);
  });

  it('LIFE-016 refuses a controller that the server runs itself, and names it', async () => {
    await serverWith('*,-garbage-collector-controller');
    const { code, stderr } = await collect('--mode', 'collect', '--controllers', 'job-controller,replicaset-controller')
      .ended;
    expect(code).toBe(1);
    expect(stderr).toContain('runs job-controller, replicaset-controller itself');
    expect(stderr).toContain("--controllers '*,-job-controller,-replicaset-controller'");
    expect((await client.send('GET', '/debug/controllers/running')).body['controllers']).toContain('job-controller');
  });

  it('LIFE-016 refuses to observe with a controller that cannot', async () => {
    await serverWith('serviceaccount-controller');
    const { code, stderr } = await collect('--controllers', 'job-controller').ended;
    expect(code).toBe(1);
    expect(stderr).toContain('--controllers does nothing with --mode observe');
  });
});
