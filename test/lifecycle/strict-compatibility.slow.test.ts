import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';
import { formatMicroTime } from '../../src/api/meta/time.ts';
import { selectOnDemand } from '../../src/lifecycle/assembly/on-demand-controllers.ts';
import type { Compatibility } from '../../src/lifecycle/kit/compatibility.ts';
import { OnFirstUse } from '../../src/lifecycle/kit/on-first-use.ts';
import { NamespaceController } from '../../src/lifecycle/namespace/namespace-controller.ts';
import { answer, configMaps, EmbeddedCluster, gvrOf, namespaces, pods } from './embedded-cluster.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const merge = 'application/merge-patch+json';
const signingRequests = gvrOf('certificatesigningrequests', 'certificates.k8s.io');
const leases = gvrOf('leases', 'coordination.k8s.io');
const jobs = gvrOf('jobs', 'batch');
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
});
afterEach(() => cluster.stop());

async function run(name: string, compat: Compatibility): Promise<void> {
  const controllers = selectOnDemand(new Set([name]), { compat });
  await cluster.run(
    (environment) =>
      new OnFirstUse({ ...environment, controllers, contextOf: () => environment, loading: cluster.loading }),
  );
}
const runNamespaces = (compat: Compatibility) =>
  cluster.run((environment) => new NamespaceController({ ...environment, compat }));
const deleteNamespace = async (name: string) => cluster.wait(cluster.client.delete({ gvr: namespaces, name }));
const patch = (target: Parameters<typeof cluster.client.patch>[0], body: object) =>
  cluster.wait(cluster.client.patch(target, { type: merge, body }));

describe.each<[Compatibility, { readonly isStrict: boolean }]>([
  ['improved', { isStrict: false }],
  ['strict', { isStrict: true }],
])('compat %s', (compat, { isStrict }) => {
  it('LIFE-101 a signing request goes when it is due, and strictly in the next hourly pass', async () => {
    await run('certificatesigningrequest-cleaner-controller', compat);
    const create = (name: string) =>
      cluster.create(
        { gvr: signingRequests },
        { metadata: { name }, spec: { request: REQUEST, signerName: 'example.com/none', usages: ['client auth'] } },
      );
    const exists = async (name: string) => (await cluster.get({ gvr: signingRequests, name })) !== undefined;
    await create('first');
    // The controller is loaded in the meantime.
    const started = cluster.clock.now();
    await cluster.until(async () => cluster.clock.now() - started >= 10 * MINUTE, {
      withinMs: HOUR,
      stepMs: 30 * SECOND,
    });
    await create('late');
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: 'denied' }];
    await patch({ gvr: signingRequests, name: 'late', subresource: 'approval' }, { status: { conditions } });
    await cluster.clock.advanceAsync(HOUR + 5 * MINUTE);
    expect(await exists('late')).toBe(isStrict);
    await cluster.clock.advanceAsync(HOUR);
    expect([await exists('late'), await exists('first')]).toEqual([false, true]);
  });

  it('LIFE-202 a lease of a node that is gone is deleted, and strictly stays for ever', async () => {
    await run('node-lease-cleaner-controller', compat);
    const spec = { holderIdentity: 'n', leaseDurationSeconds: 40, renewTime: formatMicroTime(cluster.clock.now()) };
    await cluster.create({ gvr: leases, namespace: 'kube-node-lease' }, { metadata: { name: 'n' }, spec });
    for (let hours = 0; hours < 5; hours++) await cluster.clock.advanceAsync(HOUR);
    expect(await cluster.names({ gvr: leases, namespace: 'kube-node-lease' })).toEqual(isStrict ? ['n'] : []);
  });

  it('LIFE-362 a pod that only the tracking finalizer holds is freed after minutes, and strictly is not', async () => {
    await run('job-controller', compat);
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    await cluster.create({ gvr: jobs, namespace: 'default' }, { metadata: { name: 'j' }, spec: { template } });
    const names = () => cluster.names({ gvr: pods, namespace: 'default' });
    await cluster.until(async () => (await names()).length === 1);
    const [name] = await names();
    const pod = (await cluster.get({ gvr: pods, namespace: 'default', name: name! }))!;
    // The server says that it has removed the finalizer, and has not.
    let lies = 2;
    cluster.fault = async (request, next) =>
      request.method === 'PATCH' && request.target.includes('/pods/') && lies-- > 0 ? answer(200, pod) : next(request);
    await cluster.wait(
      cluster.client.delete({ gvr: jobs, namespace: 'default', name: 'j' }, { propagationPolicy: 'Background' }),
    );
    await cluster.wait(cluster.client.delete({ gvr: pods, namespace: 'default', name: name! }));
    await cluster.clock.advanceAsync(20 * MINUTE);
    expect(await names()).toEqual(isStrict ? [name] : []);
  });

  it('LIFE-446 LIFE-441 the conditions name the pods that remain, and strictly say that nothing does', async () => {
    await runNamespaces(compat);
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
    await cluster.create({ gvr: pods, namespace: 'n' }, { metadata: { name: 'p', finalizers: ['a.io/b'] }, spec });
    await cluster.create({ gvr: configMaps, namespace: 'n' }, { metadata: { name: 'c' } });
    await deleteNamespace('n');
    await cluster.clock.advanceAsync(20 * SECOND);
    const namespace = await cluster.get({ gvr: namespaces, name: 'n' });
    const { conditions } = namespace!['status'] as { conditions: { type: string; status: string; message: string }[] };
    const shown = Object.fromEntries(conditions.map(({ type, status, message }) => [type, [status, message]]));
    expect(shown).toMatchObject({
      NamespaceContentRemaining: isStrict
        ? ['False', 'All content successfully removed']
        : ['True', 'Some resources are remaining: pods. has 1 resource instances'],
      NamespaceFinalizersRemaining: isStrict
        ? ['False', 'All content-preserving finalizers finished']
        : ['True', 'Some content in the namespace has finalizers remaining: a.io/b in 1 resource instances'],
    });
    expect(await cluster.names({ gvr: configMaps, namespace: 'n' })).toEqual(['c']);
  });

  it('LIFE-449 a deleted namespace is emptied at once, and strictly after 5 s', async () => {
    await runNamespaces(compat);
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    await deleteNamespace('n');
    const waited = await cluster.until(async () => (await cluster.get({ gvr: namespaces, name: 'n' })) === undefined);
    expect(waited >= 5 * SECOND).toBe(isStrict);
  });

  it('LIFE-451 the resources of a namespace are read side by side, and strictly one after the other', async () => {
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    let inFlight = 0;
    let most = 0;
    cluster.fault = async (request, next) => {
      if (!request.target.includes('/namespaces/n/')) return next(request);
      most = Math.max(most, ++inFlight);
      await Promise.resolve();
      const response = await next(request);
      inFlight--;
      return response;
    };
    await runNamespaces(compat);
    await deleteNamespace('n');
    await cluster.until(async () => (await cluster.get({ gvr: namespaces, name: 'n' })) === undefined);
    expect(most).toBe(isStrict ? 1 : 8);
  });

  it('LIFE-444 what a finalizer holds is read again within a second, and strictly after half the estimate', async () => {
    await runNamespaces(compat);
    await cluster.create({ gvr: namespaces }, { metadata: { name: 'n' } });
    const held = { gvr: configMaps, namespace: 'n', name: 'held' };
    await cluster.create({ gvr: configMaps, namespace: 'n' }, { metadata: { name: 'held', finalizers: ['a.io/b'] } });
    await deleteNamespace('n');
    const isHeld = async () => Boolean((await cluster.get(held))?.metadata?.deletionTimestamp);
    await cluster.until(isHeld);
    await patch(held, { metadata: { finalizers: null } });
    const waited = await cluster.until(async () => (await cluster.get({ gvr: namespaces, name: 'n' })) === undefined);
    expect(waited > 7 * SECOND).toBe(isStrict);
  });

  it('is an option of kubegc/testing', async () => {
    await using test = await startCluster({
      compat,
      objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }],
    });
    await test.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: 'n' });
    await test.clock.advance(4 * SECOND);
    const found = () => test.client.find({ apiVersion: 'v1', kind: 'Namespace', name: 'n' });
    expect((await found()) !== undefined).toBe(isStrict);
    await test.clock.advance(2 * SECOND);
    expect(await found()).toBeUndefined();
  });
});

it('compat takes no other value', async () => {
  await expect(startCluster({ compat: 'loose' as never })).rejects.toThrow("compat is 'improved' or 'strict'");
});

/** A request for the subject CN=x, in base64. */
const REQUEST =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTVZZNy9GVWZUcFJ6b2thdTNwWVpYQ051S1paZFlMS2JoUmhkem9EOEQ4cVA2UVZKYk4vZ0x1Q3JVWlJ5SC9RCjI1eFo3ZDZyWE1vbVkwNzVaRVFDeXJ1Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUFwdjl0Z1VFL3hsSmkKckppUG1PdEFyWHpHcUxGajhqR09qOGN1SkttN1BUQUNJUUMyTzBOL3kzaEV2UlRzTVVTQ1JUVTAwcVBFRFMvaApFYkw2NG9rVzR3TDFEZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
