import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { until } from '../program/until.ts';

/** `kubegc collect` as the ServiceAccount of docs/manifests/collect-rbac.yaml, on a server that grants it nothing else. */
const manifest = fileURLToPath(new URL('../../docs/manifests/collect-rbac.yaml', import.meta.url));
const account = '/api/v1/namespaces/kube-system/serviceaccounts/kubegc-collector';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: KubegcProcess;
let admin: ApiClient;
let collector: KubegcProcess;
/** Of the account. */
let kubeconfig: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const administrator = join(directory.path, 'admin.kubeconfig');
  kubeconfig = join(directory.path, 'collector.kubeconfig');
  server = new KubegcProcess([
    'up',
    ...['--authorization-mode', 'RBAC', '--controllers', '*,-garbage-collector-controller'],
    ...['--listen', '127.0.0.1:0', '--write-kubeconfig', administrator, '--data-dir', join(directory.path, 'data')],
    ...['-f', manifest],
  ]);
  await server.ready();
  admin = new ApiClient(administrator);
  await until('the account is there', async () => (await admin.send('GET', account)).status === 200);
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { body } = await admin.send('POST', `${account}/token`, request);
  const config = parse(readFileSync(administrator, 'utf8')) as { users: { name: string; user: object }[] };
  const users = config.users.map(({ name }) => ({
    name,
    user: { token: (body['status'] as { token: string }).token },
  }));
  await writeFile(kubeconfig, stringify({ ...config, users }), { mode: 0o600 });
  collector = new KubegcProcess(['collect', '--kubeconfig', kubeconfig, '--bind-address', '127.0.0.1:0']);
  await collector.ready();
  await until('it leads', async () => collector.output.includes('took the lease'));
});

afterAll(async () => {
  admin.close();
  await collector.stop();
  await server.stop();
  await directory[Symbol.asyncDispose]();
});

const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';

async function family(): Promise<{ readonly uid: string }> {
  const { body } = await admin.send('POST', configMaps, { metadata: { name: 'owner' } });
  const { uid } = body['metadata'] as { uid: string };
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true };
  for (let index = 0; index < 3; index++) {
    await admin.send('POST', secrets, { metadata: { name: `d${index}`, ownerReferences: [reference] } });
  }
  return { uid };
}

interface Item {
  readonly metadata: { readonly name: string; readonly ownerReferences?: readonly unknown[] };
}

async function dependents(): Promise<Item[]> {
  const items = (await admin.send('GET', secrets)).body['items'] as Item[];
  return items.filter(({ metadata }) => /^d\d$/.test(metadata.name));
}
const ownerIsGone = async (): Promise<boolean> => (await admin.send('GET', `${configMaps}/owner`)).status === 404;

describe('COL-220 under exactly the rights of the manifest', () => {
  it.each(['Background', 'Foreground', 'Orphan'])('COL-220 collects in %s', async (propagationPolicy) => {
    await family();
    await admin.send('DELETE', `${configMaps}/owner`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy });
    await until('the owner is gone', ownerIsGone);
    if (propagationPolicy !== 'Orphan') {
      await until('the dependents are gone', async () => (await dependents()).length === 0);
      return;
    }
    const left = await dependents();
    expect(left.map(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([[], [], []]);
    for (const { metadata } of left) await admin.send('DELETE', `${secrets}/${metadata.name}`);
  });

  it('COL-220 writes its Event, and is refused nothing', async () => {
    const { uid } = await family();
    const astray = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    const elsewhere = '/api/v1/namespaces/kube-public/secrets';
    await admin.send('POST', elsewhere, { metadata: { name: 'astray', ownerReferences: [astray] } });
    await until('the Event is there', async () => {
      const { body } = await admin.send('GET', '/api/v1/namespaces/kube-public/events');
      return (body['items'] as { reason: string }[]).some(({ reason }) => reason === 'OwnerRefInvalidNamespace');
    });
    const url = /debug graph: (\S+)/.exec(collector.output)?.[1] ?? '';
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^rest_client_requests_total\{code="200"/m);
    expect(metrics).not.toMatch(/^rest_client_requests_total\{code="40[13]"/m);
    expect(collector.output).not.toMatch(/forbidden/i);
  });

  it('COL-220 may nothing beyond: it creates no object, and reads no subresource of a node', async () => {
    const itself = new ApiClient(kubeconfig);
    const refused = await itself.send('POST', configMaps, { metadata: { name: 'mine' } });
    const replaced = await itself.send('PUT', `${configMaps}/owner`, { metadata: { name: 'owner' } });
    itself.close();
    expect([refused.status, replaced.status]).toEqual([403, 403]);
  });
});
