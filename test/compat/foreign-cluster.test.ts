import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Two clusters of one certificate authority, as behind a balancer that may lead to either. */
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
const servers: KubegcProcess[] = [];
const clients: ApiClient[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  await start('a');
  await mkdir(join(directory.path, 'data-b'), { mode: 0o700 });
  const shared = ['ca.crt', 'ca.key', 'admin.crt', 'admin.key', 'admin.token', 'sa.key'];
  for (const file of shared) {
    await copyFile(join(directory.path, 'data-a', file), join(directory.path, 'data-b', file));
  }
  await start('b');
});

afterAll(async () => {
  for (const client of clients) client.close();
  for (const server of servers) await server.stop();
  await directory[Symbol.asyncDispose]();
});

async function start(name: string): Promise<void> {
  const config = join(directory.path, name);
  const flags = ['--write-kubeconfig', config, '--data-dir', join(directory.path, `data-${name}`)];
  const server = new KubegcProcess([
    'up',
    '--listen',
    '127.0.0.1:0',
    '--controllers',
    '*,-garbage-collector-controller',
    ...flags,
  ]);
  servers.push(server);
  await server.ready();
  clients.push(new ApiClient(config));
}

const portOf = async (name: string): Promise<number> =>
  Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(await readFile(join(directory.path, name), 'utf8'))?.[1]);

const uidOf = async (client: ApiClient | undefined): Promise<string> =>
  String(((await client!.send('GET', '/api/v1/namespaces/kube-system')).body['metadata'] as { uid: string }).uid);

describe('an address that leads to another cluster', () => {
  it.each(['collect', 'observe'])(
    'COL-116 ends the program with exit code 5, names both, and nothing is deleted (mode %s)',
    async (mode) => {
      const [a, b] = clients;
      await using proxy = await TcpProxy.start(await portOf('a'));
      const config = join(directory.path, `through-${mode}`);
      const text = await readFile(join(directory.path, 'a'), 'utf8');
      await writeFile(config, text.replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${proxy.port}`));
      const created = await a!.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: mode } });
      const { uid } = created.body['metadata'] as { uid: string };
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: mode, uid };
      const dependent = { metadata: { name: mode, ownerReferences: [reference] } };
      for (const client of clients) {
        expect((await client.send('POST', '/api/v1/namespaces/default/secrets', dependent)).status).toBe(201);
      }
      const collector = new KubegcProcess(['collect', '--kubeconfig', config, '--mode', mode]);
      await collector.ready();
      await until('it works', () => Promise.resolve(/collecting|observing/.test(collector.output)));
      proxy.leadTo(await portOf('b'));
      const { code, stderr } = await collector.ended;
      expect(code).toBe(5);
      expect(stderr).toContain(await uidOf(a));
      expect(stderr).toContain(await uidOf(b));
      for (const client of clients) {
        expect((await client.send('GET', `/api/v1/namespaces/default/secrets/${mode}`)).status).toBe(200);
      }
    },
  );
});
