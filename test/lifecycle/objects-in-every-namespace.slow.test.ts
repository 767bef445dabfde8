import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DefaultServiceAccountController } from '../../src/lifecycle/serviceaccount/default-service-account-controller.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { RootCaController } from '../../src/lifecycle/root-ca/root-ca-controller.ts';
import { configMaps, EmbeddedCluster, gvrOf, namespaces } from './embedded-cluster.ts';

const serviceAccounts = gvrOf('serviceaccounts');
const rootCaPem = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';
const account = (namespace: string) => ({ gvr: serviceAccounts, namespace, name: 'default' });
const rootCa = (namespace: string) => ({ gvr: configMaps, namespace, name: 'kube-root-ca.crt' });

let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.run((environment) => new DefaultServiceAccountController(environment));
  await cluster.run((environment) => new RootCaController({ ...environment, rootCaPem }));
});
afterEach(() => cluster.stop());

const bothThere = (namespace: string) => async () =>
  (await cluster.get(account(namespace))) !== undefined && (await cluster.get(rootCa(namespace))) !== undefined;

describe('objects that every namespace has', () => {
  it('LIFE-480 LIFE-481 are in the namespaces that were there', async () => {
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      await cluster.until(bothThere(namespace));
    }
    expect(await cluster.get(rootCa('default'))).toMatchObject({
      metadata: { annotations: { 'kubernetes.io/description': expect.any(String) } },
      data: { 'ca.crt': rootCaPem },
    });
  });

  it('LIFE-482 are in a new namespace at once', async () => {
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    expect(await cluster.until(bothThere('n'), { withinMs: 1000 })).toBe(0);
  });

  it('LIFE-480 LIFE-481 come back when deleted', async () => {
    await cluster.until(bothThere('default'));
    const uids = new Set([
      (await cluster.get(account('default')))?.metadata?.uid,
      (await cluster.get(rootCa('default')))?.metadata?.uid,
    ]);
    await cluster.wait(cluster.client.delete(account('default')));
    await cluster.wait(cluster.client.delete(rootCa('default')));
    await cluster.until(bothThere('default'));
    for (const ref of [account('default'), rootCa('default')]) {
      expect(uids.has((await cluster.get(ref))?.metadata?.uid)).toBe(false);
    }
  });

  it('LIFE-481 is restored when changed, and keeps what is not about the certificate', async () => {
    await cluster.until(bothThere('default'));
    const body = {
      metadata: { labels: { mine: 'kept' }, annotations: { 'kubernetes.io/description': null } },
      data: { 'ca.crt': 'evil', more: 'x' },
    };
    await cluster.wait(cluster.client.patch(rootCa('default'), { type: 'application/merge-patch+json', body }));
    await cluster.until(async () => {
      const { data } = ((await cluster.get(rootCa('default'))) ?? {}) as { data?: Record<string, string> };
      return data?.['ca.crt'] === rootCaPem;
    });
    const restored = await cluster.get(rootCa('default'));
    expect(restored?.['data']).toEqual({ 'ca.crt': rootCaPem });
    expect(restored?.metadata?.labels).toEqual({ mine: 'kept' });
    expect(restored?.metadata?.annotations?.['kubernetes.io/description']).toEqual(expect.any(String));
  });

  it('LIFE-481 one written by another client before us is corrected', async () => {
    await cluster.until(bothThere('default'));
    cluster.fault = async (request, next) => {
      if (request.method === 'POST' && request.target === '/api/v1/namespaces/n/configmaps') {
        await cluster.client.create({ gvr: configMaps, namespace: 'n' }, { metadata: { name: 'kube-root-ca.crt' } });
      }
      return next(request);
    };
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    await cluster.until(async () => {
      const found = await cluster.get(rootCa('n'));
      return (found?.['data'] as Record<string, string> | undefined)?.['ca.crt'] === rootCaPem;
    });
  });

  it('LIFE-481 a conflict is decided again on the newer object', async () => {
    await cluster.until(bothThere('default'));
    let disturbances = 0;
    cluster.fault = async (request, next) => {
      if (request.method === 'PUT' && disturbances < 2) {
        disturbances++;
        const body = { metadata: { labels: { disturbed: String(disturbances) } } };
        await cluster.client.patch(rootCa('default'), { type: 'application/merge-patch+json', body });
      }
      return next(request);
    };
    const body = { data: { 'ca.crt': 'evil' } };
    await cluster.wait(cluster.client.patch(rootCa('default'), { type: 'application/merge-patch+json', body }));
    await cluster.until(async () => {
      const found = await cluster.get(rootCa('default'));
      return (found?.['data'] as Record<string, string> | undefined)?.['ca.crt'] === rootCaPem;
    });
    expect(disturbances).toBe(2);
    expect((await cluster.get(rootCa('default')))?.metadata?.labels).toEqual({ disturbed: '2' });
  });

  it('LIFE-011 are not written into a terminating namespace, which then goes', async () => {
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    await cluster.until(bothThere('n'));
    await cluster.wait(cluster.client.delete({ gvr: namespaces, name: 'n' }));
    cluster.requests.length = 0;
    await cluster.run((environment) => new NamespaceController(environment));
    await cluster.until(async () => (await cluster.get({ gvr: namespaces, name: 'n' })) === undefined);
    expect(cluster.requests.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(cluster.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('cost no request while all is as it should be', async () => {
    await cluster.until(bothThere('kube-node-lease'));
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(3_600_000);
    expect(cluster.requests).toEqual([]);
  });
});
