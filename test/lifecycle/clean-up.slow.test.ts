import { afterEach, describe, expect, it } from 'vitest';
import { type SeedObject, startCluster, type TestCluster } from '../../src/testing/testing.ts';

let cluster: TestCluster;
afterEach(() => cluster.stop());

const pod = (name: string, over: { metadata?: object; spec?: object } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...over.metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...over.spec },
});
const podRef = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name });
const names = async (query: { apiVersion: string; kind: string }) =>
  (await cluster.client.list(query)).map(({ metadata }) => metadata?.name);
/** A request for the subject CN=x, in base64. */
const CSR =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCTVZZNy9GVWZUcFJ6b2thdTNwWVpYQ051S1paZFlMS2JoUmhkem9EOEQ4cVA2UVZKYk4vZ0x1Q3JVWlJ5SC9RCjI1eFo3ZDZyWE1vbVkwNzVaRVFDeXJ1Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUFwdjl0Z1VFL3hsSmkKckppUG1PdEFyWHpHcUxGajhqR09qOGN1SkttN1BUQUNJUUMyTzBOL3kzaEV2UlRzTVVTQ1JUVTAwcVBFRFMvaApFYkw2NG9rVzR3TDFEZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
const PODS = { apiVersion: 'v1', kind: 'Pod' };

describe('pod-garbage-collector-controller', () => {
  it('LIFE-057 LIFE-058 LIFE-061 deletes the pods of a node that is gone, after the quarantine', async () => {
    cluster = await startCluster({
      simulate: { nodes: 1 },
      objects: [
        pod('held', { metadata: { finalizers: ['example.com/x'] }, spec: { nodeName: 'kubegc-0' } }),
        pod('p', { spec: { nodeName: 'kubegc-0' } }),
      ],
    });
    await cluster.client.delete({ apiVersion: 'v1', kind: 'Node', name: 'kubegc-0' });
    await cluster.clock.advance(39_000);
    expect(await names(PODS)).toEqual(['held', 'p']);
    await cluster.clock.advance(42_000);
    expect(await names(PODS)).toEqual(['held']);
    // LIFE-062: what has finalizers keeps existing, and is deleted again.
    expect(await cluster.client.get(podRef('held'))).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 0 },
      status: { phase: 'Failed', conditions: [{ type: 'DisruptionTarget', reason: 'DeletionByPodGC' }] },
    });
  });

  it('LIFE-057 leaves the pods alone when the node is back in time', async () => {
    cluster = await startCluster({ objects: [pod('p', { spec: { nodeName: 'late' } })] });
    await cluster.clock.advance(30_000);
    await cluster.client.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'late' } });
    await cluster.clock.advance(600_000);
    expect(await names(PODS)).toEqual(['p']);
  });

  it('LIFE-053 LIFE-054 makes no request about pods that may stay', async () => {
    cluster = await startCluster({ objects: [pod('p')] });
    const before = cluster.trace().entries.length;
    await cluster.clock.advance(600_000);
    expect(cluster.trace().entries.length).toBe(before);
  });
});

const job = (name: string, spec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: 'default' },
  spec: {
    suspend: true,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});
const jobRef = (name: string) => ({ apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name });

async function finish(name: string): Promise<void> {
  const at = new Date(cluster.clock.now()).toISOString().replace('.000', '');
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: at, lastProbeTime: at });
  await cluster.client.patch(
    jobRef(name),
    {
      status: {
        startTime: at,
        completionTime: at,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
      },
    },
    undefined,
    { subresource: 'status' },
  );
}
const exists = async (name: string) => (await names({ apiVersion: 'batch/v1', kind: 'Job' })).includes(name);

describe('ttl-after-finished-controller', () => {
  it('LIFE-081 LIFE-082 LIFE-086 deletes a finished Job when its time is over, and not before', async () => {
    cluster = await startCluster({
      controllers: ['garbage-collector-controller', 'ttl-after-finished-controller'],
      objects: [job('j', { ttlSecondsAfterFinished: 100 }), job('kept')],
    });
    await finish('j');
    await finish('kept');
    await cluster.clock.advance(99_000);
    expect(await exists('j')).toBe(true);
    await cluster.clock.advance(1000);
    expect(await exists('j')).toBe(false);
    expect(await exists('kept')).toBe(true);
  });

  it('LIFE-084 deletes at once when the time is lowered or given late', async () => {
    cluster = await startCluster({
      controllers: ['garbage-collector-controller', 'ttl-after-finished-controller'],
      objects: [job('j', { ttlSecondsAfterFinished: 100_000 })],
    });
    await finish('j');
    await cluster.clock.advance(60_000);
    await cluster.client.patch(jobRef('j'), { spec: { ttlSecondsAfterFinished: 30 } });
    await cluster.settled();
    expect(await exists('j')).toBe(false);
  });

  it('LIFE-085 waits for blocking dependents and other finalizers', async () => {
    cluster = await startCluster({
      controllers: ['garbage-collector-controller', 'ttl-after-finished-controller'],
      objects: [job('j', { ttlSecondsAfterFinished: 0 })],
    });
    await cluster.client.patch(jobRef('j'), { metadata: { finalizers: ['example.com/x'] } });
    await finish('j');
    await cluster.clock.advance(1000);
    expect(await cluster.client.get(jobRef('j'))).toMatchObject({ metadata: { finalizers: ['example.com/x'] } });
    await cluster.client.patch(jobRef('j'), { metadata: { finalizers: [] } });
    await cluster.settled();
    expect(await exists('j')).toBe(false);
  });
});

describe('certificatesigningrequest-cleaner-controller', () => {
  it('LIFE-100 LIFE-101 LIFE-105 deletes a denied request when its hour is over, and not before', async () => {
    const ref = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', name: 'r' };
    cluster = await startCluster();
    await cluster.client.create({
      apiVersion: ref.apiVersion,
      kind: ref.kind,
      metadata: { name: 'r' },
      spec: { request: CSR, signerName: 'example.com/s', usages: ['client auth'] },
    });
    const denied = { type: 'Denied', status: 'True', reason: 'Unknown' };
    await cluster.client.patch(ref, { status: { conditions: [denied] } }, undefined, { subresource: 'approval' });
    const requests = { apiVersion: ref.apiVersion, kind: ref.kind };
    await cluster.clock.advance(3_600_000);
    expect(await names(requests)).toEqual(['r']);
    await cluster.clock.advance(1);
    expect(await names(requests)).toEqual([]);
  });
});

describe('node-lease-cleaner-controller', () => {
  it('LIFE-202 LIFE-203 deletes a lease without owner and node, and no lease of another namespace', async () => {
    const lease = (namespace: string, name: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: 40,
        renewTime: new Date(cluster.clock.now()).toISOString().replace('Z', '000Z'),
      },
    });
    cluster = await startCluster();
    await cluster.client.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'there' } });
    await cluster.client.create(lease('kube-node-lease', 'lost'));
    await cluster.client.create(lease('kube-node-lease', 'there'));
    await cluster.client.create(lease('kube-system', 'election'));
    const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    await cluster.clock.advance(3_600_000);
    expect(await names(leases)).toEqual(['lost', 'there', 'election']);
    await cluster.clock.advance(1000);
    expect(await names(leases)).toEqual(['there', 'election']);
  });
});

describe('after the deletion of a node', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } };
  const nodeRef = { apiVersion: 'v1', kind: 'Node', name: 'n' };
  const leases = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  /** The lease as the kubelet of the present node makes it. */
  const makeLease = async () => {
    const { uid } = (await cluster.client.get(nodeRef)).metadata ?? {};
    await cluster.client.create({
      ...leases,
      metadata: {
        namespace: 'kube-node-lease',
        name: 'n',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: uid ?? '' }],
      },
      spec: { holderIdentity: 'n', leaseDurationSeconds: 40 },
    });
  };

  it('LIFE-178 LIFE-200 its lease and its pods go, and its attachments of volumes stay', async () => {
    const attachments = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment' };
    cluster = await startCluster({ objects: [node, pod('p', { spec: { nodeName: 'n' } })] });
    await makeLease();
    await cluster.client.create({
      ...attachments,
      metadata: { name: 'a' },
      spec: { attacher: 'example.com/a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
    });
    const before = await cluster.client.get({ ...attachments, name: 'a' });
    await cluster.client.delete(nodeRef);
    await cluster.settled();
    expect(await names(leases)).toEqual([]);
    expect(await names(PODS)).toEqual(['p']);
    await cluster.clock.advance(3_600_000);
    expect(await names(PODS)).toEqual([]);
    expect(await cluster.client.get({ ...attachments, name: 'a' })).toEqual(before);
  });

  it('LIFE-201 its lease goes also when a node of the same name is there at once, whose lease stays', async () => {
    cluster = await startCluster({ objects: [node] });
    await makeLease();
    await cluster.client.delete(nodeRef);
    await cluster.client.create(node);
    await cluster.settled();
    expect(await names(leases)).toEqual([]);
    await makeLease();
    await cluster.settled();
    await cluster.clock.advance(3_600_000);
    expect(await names(leases)).toEqual(['n']);
  });
});

describe('an object without owner references', () => {
  it('LIFE-020 stays, whatever its kind, when no rule of a controller is about it', async () => {
    const metadata = (name: string) => ({ name, namespace: 'default' });
    const kept: SeedObject[] = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('kept'), data: { a: 'b' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: metadata('kept') },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('kept') },
      { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: metadata('kept') },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'kept' }, rules: [] },
      pod('kept'),
      job('kept'),
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: metadata('kept'),
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ];
    const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', uid: 'b1b1b1b1-0000-4000-8000-000000000000' };
    const collected = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata('collected'), ownerReferences: [absent] },
    };
    // Its owner's kind may still come, so that the collector decides again and again until the reference is taken away.
    const freed = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata('freed'), ownerReferences: [{ ...absent, apiVersion: 'example.com/v1', kind: 'Odd' }] },
    };
    cluster = await startCluster({ objects: [...kept, collected, freed] });
    const freedRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'freed', namespace: 'default' };
    await cluster.client.patch(freedRef, { metadata: { ownerReferences: null } });
    await cluster.clock.advance(3_700_000);
    const configMaps = await names({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(configMaps).not.toContain('collected');
    expect(configMaps).toContain('freed');
    for (const { apiVersion = '', kind = '' } of kept) expect(await names({ apiVersion, kind })).toContain('kept');
  });
});
